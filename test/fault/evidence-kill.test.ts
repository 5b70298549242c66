/** The proof that uploads survive kill -9 of control: continued, whole, and not sent twice. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../base/log.ts';
import type { EvidenceRecord } from '../../engine/contract/evidence.ts';
import { EvidenceUploads } from '../../engine/link/evidence-uploads.ts';
import { LogService } from '../../proto/gen/waf/v1/log_pb.ts';
import { startBreakingRelay } from '../support/breaking-relay.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild } from '../support/product.ts';
import { seededRandom } from '../support/random.ts';

const build = new URL('../../.build/', import.meta.url).href;
const script = join(import.meta.dirname, 'control-alone.mjs');

if (missingBuild !== null) console.log(missingBuild);

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waf-upload-kill-'));
  mkdirSync(join(folder, 'crs', 'rules'), { recursive: true });
  const rule = `SecRule ARGS "@contains x" "id:942999,phase:2,deny,ver:'OWASP_CRS/4.9.1'"\n`;
  writeFileSync(join(folder, 'crs', 'rules', 'REQUEST-942.conf'), rule);
  return folder;
}

async function startAlone(folder: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script, folder, build], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

function record(body: Uint8Array): EvidenceRecord {
  const now = Date.now();
  return {
    id: `ev-${String(now).padStart(14, '0')}-aa`,
    ...{ requestId: 'r1', siteId: '', clientIp: '192.0.2.1', httpVersion: 'HTTP/1.1' },
    ...{ receivedAtMs: now, completedAtMs: now, reason: 'security', method: 'POST' },
    ...{ host: 'a.example', target: '/', lack: '', headerBytes: 0, headers: new Uint8Array() },
    ...{ bodyBytes: body.length, body },
    answer: { status: 200, headers: new Uint8Array(), truncated: false },
  };
}

let folder = '';
let child: ChildProcess | null = null;

afterEach(async () => {
  if (child !== null) await kill(child);
  if (folder !== '') rmSync(folder, { recursive: true });
});

describe.skipIf(missingBuild !== null)('uploads of evidence', () => {
  test('continue after control was killed, again and again', async () => {
    folder = makeFolder();
    const socket = join(folder, 'admin.sock');
    const relay = await startBreakingRelay(socket, []);
    const transport = (path: string) =>
      createConnectTransport({
        baseUrl: 'http://control',
        httpVersion: '2',
        nodeOptions: { createConnection: () => connect(path) },
      });
    const random = seededRandom(7);
    const body = Uint8Array.from({ length: 8_000_000 }, () => Math.floor(random() * 256));
    child = await startAlone(folder);
    const uploads = new EvidenceUploads({
      agentId: 'local',
      transport: () => transport(relay.path),
      logger: silentLogger,
    });
    const one = record(body);
    uploads.add([one], 0);
    let kills = 0;
    for (const after of [500_000, 2_500_000, 5_500_000]) {
      await eventually(() => relay.sent() >= after);
      if (uploads.stats().waiting === 0) break;
      await kill(child);
      kills++;
      child = await startAlone(folder);
    }
    await eventually(() => uploads.stats().waiting === 0);
    const parts: Uint8Array[] = [];
    const asked = { evidenceId: one.id, offset: 0n, limit: 0n };
    const client = createClient(LogService, transport(socket));
    for await (const { data } of client.downloadRequestEvidenceBody(asked)) parts.push(data);
    console.log(`${kills} kills: ${relay.sent()} bytes were sent for a body of ${body.length}`);
    expect(kills).toBeGreaterThan(0);
    expect(Buffer.concat(parts).equals(body)).toBe(true);
    expect(relay.sent()).toBeLessThan(2 * body.length);
    await uploads.close();
    relay.close();
  });
});
