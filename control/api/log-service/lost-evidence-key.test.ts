/** Evidence that cannot be decrypted: every reading names the reason, and so does `waf doctor`. */

import { rmSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import type { EvidenceRecord } from '../../../engine/contract/evidence.ts';
import { EvidenceUploads } from '../../../engine/link/evidence-uploads.ts';
import { EvidenceKeyService } from '../../../proto/gen/waf/evidence/v1/evidence_key_pb.ts';
import { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { judgeKeys } from '../../cli/process/doctor/evidence.ts';
import { evidenceKeysFile, evidenceStore } from '../../store/data-files.ts';
import { openLmdbKv } from '../../store/lmdb-kv.ts';

const startMs = Date.now();
const text = (value: string): Uint8Array => new Uint8Array(Buffer.from(value));
const record = (at: number): EvidenceRecord => ({
  ...{ id: `ev-${String(startMs + at).padStart(14, '0')}-aa`, requestId: `r${at}`, siteId: 's' },
  ...{ clientIp: '192.0.2.7', httpVersion: 'HTTP/1.1', receivedAtMs: startMs + at },
  ...{ completedAtMs: startMs + at, reason: 'security', method: 'POST', host: 'a', target: '/' },
  ...{ headerBytes: 7, headers: text('Host: a'), bodyBytes: 4, body: text('a=b;'), lack: '' },
  answer: { status: 200, headers: text(''), truncated: false },
});
const [lost, damaged, whole] = [record(0), record(1), record(2)];

let waf: TestControl;
const transport = () =>
  createConnectTransport({
    baseUrl: 'http://control',
    httpVersion: '2',
    nodeOptions: { createConnection: () => connectSocket(waf.socket) },
  });

async function keep(one: EvidenceRecord): Promise<void> {
  const sender = new EvidenceUploads({ agentId: 'local', transport, logger: silentLogger });
  sender.add([one], 0);
  await eventually(() => sender.stats().waiting === 0);
  await sender.close();
}

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const { folder } = waf;
  await keep(lost);
  await waf.control.close();
  rmSync(join(folder, evidenceKeysFile));
  waf = await startTestControl({ demoOrigin: null, dataFolder: folder });
  await keep(damaged);
  await keep(whole);
  await waf.control.close();
  const kv = openLmdbKv({ folder: join(folder, evidenceStore), durable: true });
  await kv.write((writer) => {
    const at = `m\u0000${damaged.id}`;
    const value = Buffer.from(writer.get(at)!);
    value[value.length - 1]! ^= 1;
    writer.put(at, value);
  });
  await kv.close();
  waf = await startTestControl({ demoOrigin: null, dataFolder: folder });
});
afterAll(() => waf?.control.close());

async function readAll(pieces: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of pieces) continue;
}

test.each([
  ['whose key is lost', lost, 'key_missing'],
  ['that is damaged', damaged, 'damaged'],
])('evidence %s is refused with the reason, fields and body alike', async (_what, one, reason) => {
  const ask = { evidenceId: one.id };
  const known = await waf.call('LogService/GetRequestEvidenceMetadata', ask);
  expect(known.body['evidence']).toMatchObject({ unavailableReason: reason });
  const headers = await waf.call('LogService/GetRequestEvidenceHeaders', ask);
  expect(headers.body).toMatchObject({ code: 'failed_precondition' });
  expect(headers.text).toContain(`(${reason})`);
  const logs = createClient(LogService, transport());
  await expect(readAll(logs.streamRequestEvidenceBody(ask))).rejects.toThrow(`(${reason})`);
  await expect(readAll(logs.downloadRequestEvidenceBody(ask))).rejects.toThrow(`(${reason})`);
});

test('what the new key encrypted is read', async () => {
  const { body } = await waf.call('LogService/GetRequestEvidenceHeaders', { evidenceId: whole.id });
  expect(body['headers']).toEqual([{ name: 'Host', values: ['a'] }]);
});

test('the list of keys and doctor say before when evidence is unreadable', async () => {
  const answer = await createClient(EvidenceKeyService, transport()).listEvidenceKeys({});
  expect(timestampMs(answer.unreadableBefore!)).toBe(lost.receivedAtMs + 1);
  expect(judgeKeys(answer)).toMatchObject({ severity: 'warning', check: 'evidence' });
  expect(judgeKeys(answer).finding).toContain('the key that encrypted it is missing');
  const { items } = answer;
  expect(judgeKeys({ items, unreadableBefore: undefined }).severity).toBe('ok');
});
