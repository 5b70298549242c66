/**
 * Runs control without an engine in a folder, says `ready`, and waits to be killed. The third
 * argument holds more options, as JSON.
 */

import { join } from 'node:path';

const [folder, build, more = '{}'] = process.argv.slice(2);
const { startControl } = await import(new URL('control/start.js', build).href);
const none = () => undefined;
await startControl({
  dataFolder: folder,
  management: { host: '127.0.0.1', port: 0 },
  ...{ managementTls: 'off', adminSocket: join(folder, 'admin.sock') },
  ...{ engineSocket: join(folder, 'engine.sock'), demoOrigin: null },
  rulesetFolder: join(folder, 'crs'),
  logger: { debug: none, info: none, warn: none, error: none },
  ...JSON.parse(more),
});
process.stdout.write('ready\n');
