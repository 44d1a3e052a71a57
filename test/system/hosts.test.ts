import { afterAll, afterEach, test } from 'vitest';
import { dataDirectory, type ServiceProcess, startProcess } from '../support/process.js';

/** That the started service keeps to HOST and ALLOWED_HOSTS; `test/api/hosts.test.ts` has the names one by one. */

const directory = dataDirectory();
let service: ServiceProcess;
afterEach(() => service.stop());
afterAll(() => directory.remove());

test.each([
  ['by default', {}, 421, 421],
  ['told a name', { ALLOWED_HOSTS: 'loci.example' }, 200, 421],
  ['on every address', { HOST: '0.0.0.0' }, 200, 200],
  ['on every address and told a name', { HOST: '0.0.0.0', ALLOWED_HOSTS: 'loci.example' }, 200, 421],
])('a service %s answers under the names that are meant for it', async (_name, settings, named, foreign) => {
  service = await startProcess(directory.path, settings);
  const { port } = new URL(service.address);
  await service.http.get('/health/ready').set('host', `localhost:${port}`).expect(200);
  await service.http.get('/health/ready').set('host', `loci.example:${port}`).expect(named);
  await service.http.get('/health/ready').set('host', `rebound.example:${port}`).expect(foreign);
});
