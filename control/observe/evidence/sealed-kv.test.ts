/** Evidence at rest: nothing of it in clear, bound to its place, a lost key named, keys renewed. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { EvidenceWriter, readEvidence, type ReadEvidence } from '../../../base/evidence-layout.ts';
import { crc32c } from '../../../base/crc32c.ts';
import { createLogger } from '../../../base/log.ts';
import { evidenceKeyLimits } from '../../limits/observation-limits.ts';
import type { Kv } from '../../store/kv.ts';
import { openLmdbKv } from '../../store/lmdb-kv.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import {
  memoryEvidenceKeys,
  openEvidenceKeys,
  readEvidenceKeys,
  type EvidenceKeys,
} from './evidence-keyring.ts';
import { openEvidenceStore, type EvidenceStore } from './evidence-store.ts';
import { evidenceOfEvent } from './evidence-summary.ts';
import type { NewEvidence } from './evidence-uploads.ts';
import { sealEarlier } from './seal-earlier.ts';
import { sealedKv } from './sealed-kv.ts';

let nowMs = 1_000;
const modeOf = () => 'REQUEST_EVIDENCE_MODE_SECURITY_ONLY' as const;
const clock = { nowMs: () => nowMs, monotonicUs: () => 0 };
const logger = createLogger('test', 'error');
const folders: string[] = [];
afterEach(() => {
  nowMs = 1_000;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
function makeFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sealed-'));
  folders.push(folder);
  return folder;
}

const owner = { agentId: 'a', tenantId: 't' };
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
const idOf = (at: number): string => `ev-${String(at).padStart(14, '0')}-aa`;
const secrets = ['Bearer-7f1e', 'session=c00k1e', 'pass=hunter2', 'answered-token', '/reset/t0ken'];

function record(at: number): ReadEvidence {
  const writer = new EvidenceWriter();
  const headers = bytesOf(`Authorization: ${secrets[0]}\r\nCookie: ${secrets[1]}\r\n`);
  writer.add({
    ...{ id: idOf(at), requestId: `r${at}`, siteId: 's', receivedAtMs: at, completedAtMs: at + 5 },
    ...{ clientIp: '192.0.2.7', httpVersion: 'HTTP/1.1', reason: 'security', method: 'POST' },
    ...{ host: 'a', target: secrets[4]!, lack: '', headerBytes: headers.length, headers },
    ...{ bodyBytes: 12, body: bytesOf(secrets[2]!) },
    answer: { status: 403, headers: bytesOf(`X-A: ${secrets[3]}\r\n`), truncated: false },
    answerBody: { bytes: bytesOf(secrets[3]!), lack: 'cut' },
  });
  return readEvidence(writer.take())!;
}

function upload(at: number, body: Uint8Array): NewEvidence {
  const metadata = {
    ...{ evidenceId: idOf(at), requestId: `r${at}`, agentId: 'a', tenantId: 't', siteId: 's' },
    ...{ available: true, requestTarget: secrets[4]!, startedAt: new Date(at).toISOString() },
    bodyCapturedBytes: String(body.length),
  };
  return {
    ...{ evidenceId: idOf(at), agentId: 'a', digest: 'd', metadata },
    headers: [{ name: 'Authorization', values: [secrets[0]!] }],
    answer: { status: 403, headers: [{ name: 'X-A', values: [secrets[3]!] }], truncated: false },
    answerBody: bytesOf(secrets[3]!),
    ...{ bodySize: body.length, bodyCrc32c: crc32c(body) },
  };
}

const longBody = bytesOf(secrets[2]!.repeat(20_000));

async function fill(store: EvidenceStore): Promise<void> {
  await store.putRecords(owner, [record(5), record(6)]);
  await store.put(upload(7, longBody), longBody);
}

function checkReadable(store: EvidenceStore): void {
  expect(store.metadata(idOf(5))).toMatchObject({ available: true, requestTarget: secrets[4] });
  expect(store.headers(idOf(6))[0]).toEqual({ name: 'Authorization', values: [secrets[0]] });
  expect(Buffer.from(store.readBody(idOf(5), 0)).toString()).toBe(secrets[2]);
  expect(Buffer.from(store.answerBody(idOf(5))).toString()).toBe(secrets[3]);
  expect(store.headers(idOf(7))).toEqual([{ name: 'Authorization', values: [secrets[0]] }]);
  expect(store.answer(idOf(7))).toMatchObject({ status: 403 });
  const body: Uint8Array[] = [];
  for (let at = 0; at < longBody.length; at += body.at(-1)!.length) {
    body.push(store.readBody(idOf(7), at));
  }
  expect(Buffer.concat(body).equals(longBody)).toBe(true);
  expect([...store.between(0, 100)].map(({ requestId }) => requestId)).toEqual(['r7', 'r6', 'r5']);
}

/** All values of a storage, as somebody reads them who has its files alone. */
function rawText(kv: Kv): string {
  return [...kv.range({ start: '', end: '\uffff' })]
    .map(({ key, value }) => key + Buffer.from(value).toString('latin1'))
    .join('\n');
}

test('the files of a folder show nothing of header fields, bodies, targets and answers', async () => {
  const data = makeFolder();
  const folder = path.join(data, 'evidence');
  const file = path.join(data, 'evidence-keys.json');
  const kv = openLmdbKv({ folder, durable: true });
  const store = openEvidenceStore(sealedKv(kv, openEvidenceKeys(file, clock, logger)), clock);
  await fill(store);
  checkReadable(store);
  await store.close();
  const files = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'latin1'));
  for (const secret of secrets) {
    expect([secret, files.some((text) => text.includes(secret))]).toEqual([secret, false]);
  }
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).not.toContain('evidence-keys.json');
  const again = openLmdbKv({ folder, durable: true });
  const reopened = openEvidenceStore(sealedKv(again, openEvidenceKeys(file, clock, logger)), clock);
  checkReadable(reopened);
  await reopened.close();
});

test.each([
  ['whose key is lost', 'key_missing'],
  ['that was changed', 'damaged'],
  ['that was moved to another place', 'damaged'],
])('evidence %s is named, not shown as garbage', async (how, reason) => {
  const kv = openMemoryKv();
  const keys = memoryEvidenceKeys(clock);
  await fill(openEvidenceStore(sealedKv(kv, keys), clock));
  const used = openEvidenceStore(sealedKv(kv, keys), clock).use().storedBytes;
  const at = `m\u0000${idOf(5)}`;
  await kv.write((writer) => {
    const value = Buffer.from(writer.get(at)!);
    if (how.endsWith('changed')) value[value.length - 1]! ^= 1;
    writer.put(at, how.endsWith('place') ? writer.get(`m\u0000${idOf(6)}`)! : value);
  });
  const store = openEvidenceStore(
    sealedKv(kv, reason === 'key_missing' ? memoryEvidenceKeys(clock) : keys),
    clock,
  );
  expect(store.metadata(idOf(5))).toMatchObject({
    ...{ evidenceId: idOf(5), agentId: 'a', tenantId: 't', siteId: 's' },
    ...{ available: false, unavailableReason: reason },
  });
  expect(store.headers(idOf(5))).toEqual([]);
  expect(store.answer(idOf(5))).toBeNull();
  expect(store.readBody(idOf(5), 0)).toHaveLength(0);
  const event = {
    requestId: 'r5',
    siteId: 's',
    tenantId: 't',
    occurredAt: new Date(5).toISOString(),
  };
  if (!how.endsWith('place')) {
    const around = { evidence: store, nowMs, retentionDays: 3, modeOf };
    expect(evidenceOfEvent(event, 'security', around)).toMatchObject({ unavailableReason: reason });
  }
  // What a node sends again does not overwrite what a key that is found again can still read.
  const before = rawText(kv);
  expect(await store.putRecords(owner, [record(5)])).toMatchObject({ refused: 0 });
  expect(rawText(kv) === before).toBe(true);
  expect(store.use().storedBytes).toBe(used);
  await store.forget(1_000);
  expect(store.use().storedBytes).toBe(0);
});

test('evidence that an earlier release kept in clear is read, and encrypted', async () => {
  const kv = openMemoryKv();
  await fill(openEvidenceStore(kv, clock));
  expect(rawText(kv)).toContain(secrets[0]);
  const sealed = sealedKv(kv, memoryEvidenceKeys(clock));
  const store = openEvidenceStore(sealed, clock);
  checkReadable(store);
  const go = new AbortController().signal;
  expect(await sealEarlier(kv, sealed, AbortSignal.abort())).toBe(0);
  expect(await sealEarlier(kv, sealed, go)).toBeGreaterThanOrEqual(5);
  for (const secret of secrets) expect(rawText(kv)).not.toContain(secret);
  checkReadable(store);
  expect(await sealEarlier(kv, sealed, go)).toBe(0);
});

test('a new key is taken in time; earlier ones stay as long as evidence may', async () => {
  const file = path.join(makeFolder(), 'keys.json');
  const kv = openMemoryKv();
  const keys = openEvidenceKeys(file, clock, logger);
  const first = keys.current().id;
  await openEvidenceStore(sealedKv(kv, keys), clock).putRecords(owner, [record(5)]);
  keys.rotate();
  expect(keys.current().id).toBe(first);
  nowMs += evidenceKeyLimits.rotateAfterMs;
  keys.rotate();
  expect(keys.current().id).not.toBe(first);
  const reopened: EvidenceKeys = openEvidenceKeys(file, clock, logger);
  expect(reopened.current().id).toBe(keys.current().id);
  const store = openEvidenceStore(sealedKv(kv, reopened), clock);
  expect(store.metadata(idOf(5))).toMatchObject({ available: true });
  const [oldest, newest] = reopened.list();
  expect([oldest!.id, oldest!.keptUntilMs]).toEqual([first, nowMs + evidenceKeyLimits.keptAfterMs]);
  expect(newest!.keptUntilMs).toBeNull();
  nowMs += evidenceKeyLimits.keptAfterMs;
  reopened.rotate();
  expect(reopened.find(first)).toBeNull();
});

test('a damaged file of keys is set aside; the option takes absolute paths only', () => {
  const folder = makeFolder();
  const file = path.join(folder, 'keys.json');
  writeFileSync(file, '{"keys":[{"id":"x"}]}');
  const silent = createLogger('test', 'silent' as never);
  expect(openEvidenceKeys(file, clock, silent).current().id).toMatch(/^[0-9a-f]{8}$/);
  expect(readdirSync(folder)).toContain('keys.json.damaged');
  expect(readEvidenceKeys('')).toEqual({});
  expect(readEvidenceKeys('/k')).toEqual({ evidenceKeys: '/k' });
  expect(() => readEvidenceKeys('k')).toThrow('absolute path');
});
