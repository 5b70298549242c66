/** Records are read as they were written, and bytes that are none are refused. */

import { expect, test } from 'vitest';
import { EvidenceWriter, readEvidence, type PackedEvidence } from './evidence-layout.ts';

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));

const whole: PackedEvidence = {
  ...{ id: 'ev-00001790000000-ab', requestId: 'r1', siteId: 's1', receivedAtMs: 1_790_000_000_000 },
  ...{ completedAtMs: 1_790_000_000_007, clientIp: '2001:db8::1', httpVersion: 'HTTP/1.1' },
  ...{ reason: 'security', method: 'POST', host: 'a.test', target: '/\xe4?x=1', lack: '' },
  ...{
    headerBytes: 9,
    headers: bytesOf('Host: a\r\n'),
    bodyBytes: 2 ** 40,
    body: bytesOf('\0\xff'),
  },
  answer: { status: 403, headers: bytesOf('A: 1\r\n'), truncated: true },
  answerBody: { bytes: bytesOf('no'), lack: 'cut' },
};
const { answerBody: _, ...others } = whole;
const empty = new Uint8Array();
const bare: PackedEvidence = {
  ...{ ...others, id: 'ev-2', requestId: '', target: '', lack: 'quota', reason: 'access' },
  ...{ headers: empty, body: empty, answer: null },
};

const plain = (record: PackedEvidence): unknown =>
  JSON.parse(
    JSON.stringify(record, (_, value: unknown) => (isBytes(value) ? listOf(value) : value)),
  );
const isBytes = (value: unknown): value is Uint8Array | { data: number[] } =>
  value instanceof Uint8Array || (value as { type?: string } | null)?.type === 'Buffer';
const listOf = (value: Uint8Array | { data: number[] }): number[] => [
  ...('data' in value ? value.data : value),
];

test('records that were written one after another are read as they were', () => {
  const writer = new EvidenceWriter();
  const large = { ...whole, body: new Uint8Array(300_000).fill(7) };
  for (const record of [whole, bare, large]) writer.add(record);
  const bytes = writer.take();
  const found: PackedEvidence[] = [];
  for (let at = 0; at < bytes.length;) {
    const read = readEvidence(bytes, at)!;
    expect(read.bytes).toHaveLength(read.end - at);
    found.push(read.record);
    at = read.end;
  }
  expect(found.map(plain)).toEqual([whole, bare, large].map(plain));
  expect(writer.length).toBe(0);
});

test('bytes that are cut, or say other lengths, hold no record', () => {
  const writer = new EvidenceWriter();
  writer.add(whole);
  const bytes = writer.take();
  for (let length = 0; length < bytes.length; length++) {
    expect(readEvidence(bytes.subarray(0, length))).toBeNull();
  }
  // Length, layout, times and lengths of the parts; flags and the status may be any.
  const told = [0, 1, 2, 3, 4, ...Array.from({ length: 20 }, (_, at) => 40 + at)];
  for (const at of told) {
    const damaged = bytes.slice();
    damaged[at]! ^= 0x81;
    expect(readEvidence(damaged)).toBeNull();
  }
  const endless = bytes.slice();
  new DataView(endless.buffer).setFloat64(8, Number.POSITIVE_INFINITY, true);
  expect(readEvidence(endless)).toBeNull();
  const separated = new EvidenceWriter();
  separated.add({ ...whole, host: 'a\0b' });
  expect(readEvidence(separated.take())).toBeNull();
});
