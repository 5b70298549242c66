/** Readers are used again, and know nothing of what they read before. */

import { expect, test } from 'vitest';
import { frontLimits, httpLimits } from '../../../base/delivery-limits.ts';
import { SCAN } from '../../http/head-scanner.ts';
import { SpareReaders, type Readers } from './spare-readers.ts';

const limits = { ...httpLimits };
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

function facts({ parser, answer }: Readers): unknown {
  const { http2, fieldCount, framing, contentLength, refusal, isHead, version, mayUpgrade } =
    parser;
  const { headEnd, trailerEnd, done, opens, open } = answer;
  const read = { http2, fieldCount, framing, contentLength, refusal, isHead, version, mayUpgrade };
  return { ...read, done, opens, open, trailerEnd, answerHead: headEnd };
}

test('readers that come back know of no message', () => {
  const spare = new SpareReaders(limits);
  const fresh = facts(spare.take(false, false));
  const used = spare.take(true, true);
  const head = bytes('HEAD / HTTP/2.0\r\nhost: a\r\ncontent-length: 5\r\n\r\n');
  expect(used.parser.execute(head, head.length)).toBe(SCAN.DONE);
  const answer = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\n\r\n';
  used.answer.read(bytes(answer), false);
  expect([used.answer.done, used.answer.trailerEnd > 0]).toEqual([true, true]);
  spare.give(used);
  const again = spare.take(false, false);
  expect(again.parser).toBe(used.parser);
  expect(facts(again)).toEqual({ ...(fresh as object), answerHead: used.answer.headEnd });
});

test('a reader for HTTP/1.1 does not take the version of HTTP/2 over', () => {
  const spare = new SpareReaders(limits);
  spare.give(spare.take(true, true));
  const { parser } = spare.take(false, false);
  const head = bytes('GET / HTTP/2.0\r\nHost: a\r\n\r\n');
  parser.execute(head, head.length);
  expect([parser.version, parser.refusal?.status]).toEqual([0, 505]);
});

test('a bounded number waits', () => {
  const spare = new SpareReaders(limits);
  const all = Array.from({ length: frontLimits.spareReadersMax + 1 }, () =>
    spare.take(false, false),
  );
  for (const readers of all) spare.give(readers);
  const again = new Set(all.map(() => spare.take(false, false).parser));
  expect(all.filter(({ parser }) => again.has(parser))).toHaveLength(frontLimits.spareReadersMax);
});
