/** Bodies of answers in audit records: decoded, bounded, and with a reason where they are not. */

import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { siemLimits } from '../limits/siem-limits.ts';
import { readAnswerBody } from './answer-body.ts';
import type { RequestEvidence } from './evidence-wait.ts';

function evidence(answerBody: Uint8Array, answerBodyLack = '', coding = ''): RequestEvidence {
  const answerHeaders = coding === '' ? [] : [{ name: 'content-Encoding', values: [coding] }];
  const request = { headers: [], body: new Uint8Array(), bodyBytes: 0 };
  return { ...request, answerHeaders, answerBody, answerBodyLack };
}

const read = (...given: Parameters<typeof evidence>): readonly [string, string] => {
  const { body, note } = readAnswerBody(evidence(...given));
  return [Buffer.from(body).toString('latin1'), note];
};

/** Letters that no coding makes much smaller. */
const letters = (count: number): Buffer => {
  let state = 1;
  return Buffer.from(
    Array.from({ length: count }, () => (state = (state * 16_807) % 2 ** 31) & 127),
  );
};

test('a whole body is shown, decoded as its origin coded it', () => {
  const text = Buffer.from('<html>');
  expect(read(text)).toEqual(['<html>', '']);
  expect(read(text, '', 'identity')).toEqual(['<html>', '']);
  expect(read(gzipSync(text), '', 'GZIP')).toEqual(['<html>', '']);
  expect(read(gzipSync(text), '', 'x-gzip')).toEqual(['<html>', '']);
  expect(read(deflateSync(text), '', 'deflate')).toEqual(['<html>', '']);
  expect(read(brotliCompressSync(text), '', 'br')).toEqual(['<html>', '']);
  expect(read(Buffer.alloc(0))).toEqual(['', '']);
});

test('a body that was cut is shown as far as it goes', () => {
  expect(read(Buffer.from('<ht'), 'cut')).toEqual([
    '<ht',
    'the response body is cut after 3 bytes',
  ]);
  const whole = letters(20_000);
  const coders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
  for (const [coding, coder] of Object.entries(coders)) {
    const [shown, note] = read(coder(whole).subarray(0, 9_000), 'cut', coding);
    expect(shown.length, coding).toBeGreaterThan(2_000);
    expect(whole.toString('latin1').startsWith(shown), coding).toBe(true);
    expect(note).toBe(`the response body is cut after ${shown.length} bytes`);
  }
});

test('what is too much once decoded is cut, or left out', () => {
  const { evidenceBodyBytesMax, decodedBodyBytesMax } = siemLimits;
  const [shown, note] = read(gzipSync(Buffer.alloc(evidenceBodyBytesMax + 1, 'a')), '', 'gzip');
  expect(shown).toBe('a'.repeat(evidenceBodyBytesMax));
  expect(note).toBe(`the response body is cut after ${evidenceBodyBytesMax} bytes`);
  const bomb = gzipSync(Buffer.alloc(decodedBodyBytesMax + 1));
  const left = 'the response body is absent: it is not gzip, or too large once decoded';
  expect(read(bomb, '', 'gzip')).toEqual(['', left]);
  expect(read(Buffer.from('plain'), '', 'gzip')).toEqual(['', left]);
  const unknown = 'the response body is absent: its coding is not known';
  expect(read(Buffer.from('x'), '', 'gzip, br')).toEqual(['', unknown]);
  expect(read(Buffer.from('x'), '', 'constructor')).toEqual(['', unknown]);
});

test('a body that is absent has its reason', () => {
  const notes = [
    'not_asked',
    'log_policy',
    'not_held',
    'inflight_limit',
    'queue_full',
    'later',
  ].map((lack) => read(Buffer.alloc(0), lack)[1].replace('the response body is absent: ', ''));
  expect(notes).toEqual([
    'the node was not asked for it',
    'the log policy keeps no bodies',
    'the rules did not inspect it',
    'requests that ran held too much evidence',
    'too much evidence waited for control',
    'later',
  ]);
});
