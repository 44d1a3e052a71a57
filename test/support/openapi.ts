import { startService } from './service.js';

/** The description as the running service gives it. */
export async function describeApi(): Promise<Record<string, unknown>> {
  const service = await startService();
  try {
    return (await service.http.get('/openapi.json').expect(200)).body;
  } finally {
    await service.stop();
  }
}
