/** The few strings made of a request head: for the event, and to choose an answer's form. */

import { frontLimits } from '../../../base/delivery-limits.ts';
import { SPAN } from '../../contract/message.ts';
import { KIND_MASK } from '../../http/head-scanner.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import { FIELD } from '../../http/tables.ts';
import { keptRequestId } from '../request-id.ts';

/** Byte strings of a request, each at most `eventTextBytesMax` long. */
export interface RequestTexts {
  readonly receivedAtMs: number;
  readonly method: string;
  readonly target: string;
  readonly httpVersion: string;
  readonly host: string;
  readonly userAgent: string;
  readonly referer: string;
  readonly acceptsHtml: boolean;
  /** The client's own request id, if it is well-formed. */
  readonly keptId: string | null;
}

/** Reads them off the head, as far as it was parsed. */
export function describeRequest(bytes: Buffer, head: RequestHeadParser, now: number): RequestTexts {
  const { spans, kinds, fieldCount } = head;
  let userAgent = '';
  let referer = '';
  let acceptsHtml = false;
  let keptId: string | null = null;
  // A head refused before its request line was read has no parts to name.
  const named = head.lineRead;
  for (let i = 0; i < fieldCount; i++) {
    const kind = kinds[i]! & KIND_MASK;
    if (kind < FIELD.X_REQUEST_ID) continue;
    const start = spans[SPAN.fields + 4 * i + 2]!;
    const end = spans[SPAN.fields + 4 * i + 3]!;
    if (kind === FIELD.USER_AGENT) userAgent = cut(bytes, start, end);
    else if (kind === FIELD.REFERER) referer = cut(bytes, start, end);
    else if (kind === FIELD.X_REQUEST_ID) keptId = keptRequestId(bytes, start, end);
    else if (kind === FIELD.ACCEPT)
      acceptsHtml ||= bytes.subarray(start, end).includes('text/html');
  }
  return {
    receivedAtMs: now,
    method: named ? cut(bytes, spans[SPAN.firstStart]!, spans[SPAN.firstEnd]!) : '',
    target: named ? cut(bytes, spans[SPAN.secondStart]!, spans[SPAN.secondEnd]!) : '',
    httpVersion: named ? versionText(bytes, head) : '',
    host: named ? cut(bytes, head.hostStart, head.hostEnd) : '',
    userAgent,
    referer,
    acceptsHtml,
    keptId,
  };
}

function versionText(bytes: Buffer, head: RequestHeadParser): string {
  if (head.version === 11) return 'HTTP/1.1';
  if (head.version === 10) return 'HTTP/1.0';
  if (head.version === 20) return 'HTTP/2';
  return cut(bytes, head.spans[SPAN.protocolStart]!, head.spans[SPAN.protocolEnd]!);
}

function cut(bytes: Buffer, start: number, end: number): string {
  const stop = Math.min(end, start + frontLimits.eventTextBytesMax);
  return bytes.toString('latin1', start, stop);
}
