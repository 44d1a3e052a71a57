import { writeFileSync } from 'node:fs';
import { describeApi } from '../test/support/openapi.js';

/** Writes the committed description anew; a test holds it against the service. */
writeFileSync(new URL('openapi.json', import.meta.url), `${JSON.stringify(await describeApi(), null, 2)}\n`);
