/**
 * One finished request as a line of the access log: common, combined, JSON, or in an own form. It
 * is ASCII or UTF-8 without control characters, whatever the client sent. Pure.
 */

import { decodeUtf8 } from '../../base/byte-string.ts';
import type { RequestEvent } from '../contract/events.ts';
import { ownLine, type OwnFormat } from './access-format.ts';
import { commonTime, escaped } from './access-text.ts';

/** Forms of a line. */
export const accessLogFormats = ['common', 'combined', 'json'] as const;
/** One of them, or what an operator wrote. */
export type AccessLogFormat = (typeof accessLogFormats)[number] | OwnFormat;

/** The line of a request in a form, line break included. Cost: about 2 us. */
export function accessLine(event: RequestEvent, format: AccessLogFormat): string {
  if (typeof format !== 'string') return ownLine(event, format);
  if (format === 'json') return jsonLine(event);
  const { clientIp, method, target, httpVersion, status, bytesOut } = event;
  const request = method === '' ? '-' : escaped(`${method} ${target} ${httpVersion}`);
  const time = commonTime(event.receivedAtMs);
  const code = status === 0 ? '-' : String(status);
  const bytes = bytesOut === 0 ? '-' : String(bytesOut);
  const line = `${clientIp || '-'} - - [${time}] "${request}" ${code} ${bytes}`;
  if (format === 'common') return `${line}\n`;
  return `${line} "${escaped(event.referer || '-')}" "${escaped(event.userAgent || '-')}"\n`;
}

function jsonLine(event: RequestEvent): string {
  const { transaction: record } = event;
  const line = JSON.stringify({
    time: new Date(event.receivedAtMs).toISOString(),
    requestId: event.requestId,
    siteId: event.siteId,
    clientIp: event.clientIp,
    clientPort: event.clientPort,
    method: decodeUtf8(event.method),
    host: decodeUtf8(event.host),
    target: decodeUtf8(event.target),
    protocol: decodeUtf8(event.httpVersion),
    tls: event.tls?.version ?? '',
    ja4: event.tls?.ja4 ?? '',
    status: event.status,
    outcome: event.outcome,
    reason: event.refusal ?? '',
    blocked: event.blocked,
    bytesIn: event.bytesIn,
    bytesOut: event.bytesOut,
    durationUs: Math.round(event.durationUs),
    originUs: Math.round(event.originUs),
    endpoint: event.endpoint ?? '',
    referer: decodeUtf8(event.referer ?? ''),
    userAgent: decodeUtf8(event.userAgent),
    score: record?.inboundScore ?? 0,
    rules: record?.matchedRules.filter(({ log }) => log).map(({ ruleId }) => ruleId) ?? [],
  });
  return `${line.replace(notShown, unicodeEscape)}\n`;
}

/** Control and direction marks that JSON leaves as they are. */
const notShown = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
