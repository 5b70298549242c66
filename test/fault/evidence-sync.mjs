/**
 * Uploads evidence to a control of its own and prints, for each, how many syncs of the evidence
 * store had ended when its acknowledgement came: one line of JSON. Run by evidence-sync.test.ts.
 */

import { statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

const [folder, log, build] = process.argv.slice(2);
const load = (path) => import(new URL(path, build).href);
const { createConnectTransport } = await import('@connectrpc/connect-node');
const { EvidenceUploads } = await load('engine/link/evidence-uploads.js');
const { startControl } = await load('control/start.js');

const none = () => undefined;
const logger = { debug: none, info: none, warn: none, error: none };
const adminSocket = join(folder, 'admin.sock');
const control = await startControl({
  dataFolder: folder,
  management: { host: '127.0.0.1', port: 0 },
  ...{ managementTls: 'off', adminSocket, engineSocket: join(folder, 'engine.sock') },
  ...{ demoOrigin: null, rulesetFolder: join(folder, 'crs'), logger },
});
const transport = () =>
  createConnectTransport({
    baseUrl: 'http://control',
    httpVersion: '2',
    nodeOptions: { createConnection: () => connect(adminSocket) },
  });
const uploads = new EvidenceUploads({ agentId: 'local', transport, logger });
const syncs = () => statSync(log, { throwIfNoEntry: false })?.size ?? 0;
const counts = [];
for (const [at, length] of [0, 10, 200_000, 1_000_000].entries()) {
  const now = Date.now();
  const before = syncs();
  const record = {
    id: `ev-${String(now).padStart(14, '0')}-${String(at).padStart(4, '0')}`,
    ...{ requestId: `r${at}`, siteId: '', clientIp: '192.0.2.1', httpVersion: 'HTTP/1.1' },
    ...{ receivedAtMs: now, completedAtMs: now, reason: 'security', method: 'GET' },
    ...{ host: 'a.example', target: '/', lack: '', headerBytes: 0, headers: new Uint8Array() },
    ...{ bodyBytes: length, body: Buffer.alloc(length, 'x') },
    answer: { status: 200, headers: new Uint8Array(), truncated: false },
  };
  uploads.add([record], 0);
  while (uploads.stats().waiting > 0) await new Promise((resolve) => setImmediate(resolve));
  counts.push(syncs() - before);
}
await uploads.close();
await control.close();
process.stdout.write(`${JSON.stringify(counts)}\n`);
