/**
 * The body of an answer as an audit record shows it: decoded where the origin coded it, and a
 * sentence where it is not there or not whole. Bounded in time and memory. Pure.
 */

import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';
import { siemLimits } from '../limits/siem-limits.ts';
import type { RequestEvidence } from './evidence-wait.ts';

/** What a record shows; `note` is '' for a whole body. */
export interface ShownBody {
  readonly body: Uint8Array;
  readonly note: string;
}

const nothing = new Uint8Array();

/** Why there is no body. */
const absences = new Map([
  ['not_asked', 'the node was not asked for it'],
  ['log_policy', 'the log policy keeps no bodies'],
  ['not_held', 'the rules did not inspect it'],
  ['inflight_limit', 'requests that ran held too much evidence'],
  ['queue_full', 'too much evidence waited for control'],
]);

/** A coded body may be cut: what is there of it is decoded. */
const finishFlush = constants.Z_SYNC_FLUSH;
const maxOutputLength = siemLimits.decodedBodyBytesMax;
const brotli = { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH };
const decoders = new Map<string, (bytes: Uint8Array) => Buffer>([
  ['gzip', (bytes) => gunzipSync(bytes, { maxOutputLength, finishFlush })],
  ['deflate', (bytes) => inflateSync(bytes, { maxOutputLength, finishFlush })],
  ['br', (bytes) => brotliDecompressSync(bytes, brotli)],
]);

/** The body of an answer, at most as much as a message takes. */
export function readAnswerBody(evidence: RequestEvidence): ShownBody {
  const { answerBody, answerBodyLack: lack } = evidence;
  if (answerBody.length === 0 && lack === '') return { body: nothing, note: '' };
  if (lack !== '' && lack !== 'cut') return absent(absences.get(lack) ?? lack);
  const decoded = decode(answerBody, codingOf(evidence));
  if (typeof decoded === 'string') return absent(decoded);
  const body = decoded.subarray(0, siemLimits.evidenceBodyBytesMax);
  const whole = lack === '' && body.length === decoded.length;
  return { body, note: whole ? '' : `the response body is cut after ${body.length} bytes` };
}

function absent(why: string): ShownBody {
  return { body: nothing, note: `the response body is absent: ${why}` };
}

/** Why not, where it cannot be decoded. */
function decode(bytes: Uint8Array, coding: string): Uint8Array | string {
  if (coding === '' || coding === 'identity') return bytes;
  const decoder = decoders.get(coding.replace(/^x-/, ''));
  if (decoder === undefined) return 'its coding is not known';
  try {
    return decoder(bytes);
  } catch {
    return `it is not ${coding}, or too large once decoded`;
  }
}

function codingOf({ answerHeaders }: RequestEvidence): string {
  const values = answerHeaders
    .filter(({ name = '' }) => name.toLowerCase() === 'content-encoding')
    .flatMap(({ values: own = [] }) => own);
  return values.join(', ').trim().toLowerCase();
}
