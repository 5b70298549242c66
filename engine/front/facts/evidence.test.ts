/** Evidence of finished requests: which, how much of them, and what happens without room. */

import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { evidenceFields } from '../../../base/evidence-fields.ts';
import { evidenceLimits } from '../../base/observation-limits.ts';
import type { EvidenceRecord } from '../../contract/evidence.ts';
import {
  standardLogging,
  standardLogSettings,
  type EvidenceSettings,
} from '../../contract/logging.ts';
import { CaptureRoom } from './body-capture.ts';
import { answerOf } from './evidence-answer.ts';
import { EvidenceBatcher } from './evidence-batcher.ts';
import { unpackEvidence } from './evidence-wire.ts';
import { Closing, httpOrigin, RawClient, siteFor } from '../fixtures/fixture.ts';
import { createFront } from '../threads/front.ts';
import { LogSampler } from './log-sampler.ts';

const closing = new Closing();
afterEach(() => closing.run());

const headersOnly = standardLogSettings.evidence!;

/** A front whose evidence is gathered here. */
async function gather(
  settings: EvidenceSettings,
  accessMode: 'none' | 'all' = 'all',
  answer = (response: ServerResponse) => void response.end('<done>'),
) {
  const records: EvidenceRecord[] = [];
  const batcher = new EvidenceBatcher((batch) => records.push(...unpackEvidence(batch)));
  const sampler = new LogSampler();
  const captures = new CaptureRoom();
  const standard = { ...standardLogSettings, accessMode, evidence: settings };
  const logging = { ...standardLogging, standard };
  sampler.use(logging);
  captures.use(logging, 1);
  const origin = await httpOrigin(closing, (request, response) => {
    request.resume().on('end', () => answer(response));
  });
  const front = createFront({
    routes: { revision: 'r1', sites: [siteFor(origin)] },
    inspectorOf: () => null,
    captures,
    onRequestDone: (event, _policy, source) =>
      batcher.add(event, captures.settingsOf(event.siteId), sampler.select(event), source),
  });
  const port = await front.listen({ host: '127.0.0.1', port: 0 });
  closing.add(() => front.close());
  const ask = async (text: string, ended = '<done>'): Promise<void> => {
    const client = new RawClient(port).send(text);
    await client.has(ended);
    client.socket.destroy();
  };
  return { ask, captures, batcher, taken: () => (batcher.flush(), records) };
}

const post = (body: string, more = ''): string =>
  `POST /a?password=x HTTP/1.1\r\nHost: a\r\nCookie: c=1\r\n${more}` +
  `Content-Length: ${body.length}\r\n\r\n${body}`;

test('a refused request is evidence with its header lines, a served one is not', async () => {
  const { ask, taken } = await gather(headersOnly);
  await ask(post('x=1'));
  expect(taken()).toEqual([]);
  await ask('GET / HTTP/1.1\r\nHost: a\r\nX-One: \xe4\r\nHost: b\r\n\r\n', '400');
  const [record] = taken();
  expect(record).toMatchObject({ reason: 'security', method: 'GET', lack: '', bodyBytes: 0 });
  expect(evidenceFields(record!.headers).slice(0, 2)).toEqual([
    { name: 'Host', values: ['a', 'b'] },
    { name: 'X-One', values: ['\xe4'] },
  ]);
});

test('retained requests have evidence, unredacted, with all, some or none of the body', async () => {
  const body = 'abcdefghij';
  const cases = [
    ['none', 4, ''],
    ['prefix', 4, 'abcd'],
    ['prefix', 100, body],
    ['whole', 4, body],
  ] as const;
  for (const [mode, bodyBytesMax, kept] of cases) {
    const settings = { ...headersOnly, mode: 'retained', body: mode, bodyBytesMax } as const;
    const { ask, captures, taken } = await gather(settings);
    await ask(post(body));
    const [record] = taken();
    expect(record, mode).toMatchObject({ reason: 'access', target: '/a?password=x' });
    expect(record!.lack, mode).toBe(mode === 'none' ? 'body_off' : '');
    expect(Buffer.from(record!.headers).toString()).toContain('Cookie: c=1');
    expect(record!.bodyBytes).toBe(10);
    expect(Buffer.from(record!.body).toString(), mode).toBe(kept);
    // What was held for it is free again.
    expect(captures.take(settings.inflightBytesMax)).toBe(true);
  }
});

test('the answer is kept as the client got it, cookies and tokens hidden, never its body', async () => {
  const { ask, taken } = await gather({ ...headersOnly, mode: 'retained' }, 'all', (response) => {
    const cookies = ['sid=very-secret; Path=/; HttpOnly', 'plain'];
    response.writeHead(201, { 'set-cookie': cookies, 'x-auth-token': 'very-secret', 'x-a': '1' });
    response.end('<done>');
  });
  await ask('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await ask('GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', '400');
  const [served, refused] = taken().map(({ answer }) => ({
    ...answer,
    headers: evidenceFields(answer.headers),
  }));
  expect([served?.status, served?.truncated, refused?.status]).toEqual([201, false, 400]);
  const known = new Map(served?.headers.map(({ name, values }) => [name, values]));
  expect(known.get('set-cookie')).toEqual(['sid=********; Path=/; HttpOnly', 'plain']);
  expect([known.get('x-auth-token'), known.get('x-a')]).toEqual([['********'], ['1']]);
  expect(refused?.headers.map(({ name }) => name)).toContain('X-Request-Id');
  expect(JSON.stringify([served, refused])).not.toMatch(/very-secret|<done>|<html/);
});

test('the head of an answer ends with a whole line where there is no room for more', () => {
  const head = Buffer.from('HTTP/1.1 200 OK\r\nX-A: 1\r\nX-Long: 123456789\r\n\r\n');
  const { headers, truncated } = answerOf(200, head, 12);
  expect([Buffer.from(headers).toString(), truncated]).toEqual(['X-A: 1\r\n', true]);
  expect(answerOf(0, new Uint8Array(), 12).truncated).toBe(false);
});

test('a chunked body is kept without its framing, and headers end with a whole line', async () => {
  const settings = { ...headersOnly, mode: 'retained', body: 'whole', headerBytesMax: 24 } as const;
  const { ask, taken } = await gather(settings);
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nX-Long: 123456789\r\n';
  await ask(`${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`);
  const [record] = taken();
  expect(Buffer.from(record!.body).toString()).toBe('abcde');
  expect(Buffer.from(record!.headers).toString()).toBe('Host: a\r\nX-A: 1\r\n');
  expect(record!.headerBytes).toBeGreaterThan(record!.headers.length);
});

test('nothing is kept of a site without evidence, and of requests that no policy retains', async () => {
  const retained = { ...headersOnly, mode: 'retained' } as const;
  const { ask, taken } = await gather(retained, 'none');
  await ask(post('x=1'));
  expect(taken()).toEqual([]);
});

test('a body without room among running requests is cut and marked', async () => {
  const settings = {
    ...headersOnly,
    ...({ mode: 'retained', body: 'whole', inflightBytesMax: 10 } as const),
  };
  const { ask, taken } = await gather(settings);
  await ask(post('a'.repeat(100)));
  await ask(post('abc'));
  expect(taken().map(({ lack, body }) => [lack, body.length])).toEqual([
    ['inflight_limit', 0],
    ['', 3],
  ]);
});

test('evidence that nobody takes loses its content first, then is dropped', () => {
  let dropped = 0;
  const records: EvidenceRecord[] = [];
  const batcher = new EvidenceBatcher((batch) => {
    records.push(...unpackEvidence(batch));
    dropped += batch.dropped;
  });
  const source = {
    headerLines: () => new Uint8Array(16_000),
    answerHead: () => new Uint8Array(),
    capturedBody: () => null,
    answerBody: () => null,
  };
  const event = {
    ...{ requestId: 'r', siteId: 's', receivedAtMs: 1, durationUs: 1, originUs: -1 },
    ...{ clientIp: '', clientPort: 0, method: 'GET', host: 'a', target: '/', httpVersion: '' },
    ...{ userAgent: '', status: 400, outcome: 'refused' as const, blocked: false },
    ...{ refusal: 'x', bytesIn: 0, bytesOut: 0, endpoint: null, transaction: null },
  };
  for (let at = 0; at < 60_000; at++) batcher.add(event, headersOnly, null, source);
  batcher.flush();
  const full = records.filter(({ lack }) => lack === '').length;
  expect(full * 16_000).toBeLessThan(evidenceLimits.threadBytesMax + 16_000);
  expect(records.filter(({ lack }) => lack === 'queue_full').length).toBeGreaterThan(1_000);
  const before = records.length;
  for (let at = 0; at < 1_000; at++) batcher.taken();
  batcher.add(event, headersOnly, null, source);
  batcher.flush();
  expect(records.at(-1)).toMatchObject({ lack: '' });
  expect(records.length + dropped).toBe(60_001);
  expect(before).toBeLessThan(60_000);
});
