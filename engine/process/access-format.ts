/**
 * A form of access log lines that an operator writes, with the variables of nginx's log_format. No
 * value of a client's can end a line, a quoted part, or an unquoted one.
 */

import { AppError } from '../../base/errors.ts';
import { accessLogLimits } from '../base/observation-limits.ts';
import type { RequestEvent } from '../contract/events.ts';
import { commonTime, escaped } from './access-text.ts';

/** Ready to write lines: texts, and what stands between them. */
export type OwnFormat = readonly Part[];

type Value = (event: RequestEvent) => string;

type Part =
  | { readonly text: string }
  /** `quoted`: between two quotation marks of the form, where a blank separates nothing. */
  | { readonly value: Value; readonly quoted: boolean };

const seconds = (us: number): string => (us < 0 ? '' : (us / 1e6).toFixed(3));
const pathOf = (target: string): string => target.split('?', 1)[0]!;
const queryOf = (target: string): string => target.slice(pathOf(target).length + 1);

/** Named as in nginx where it has them; those of ours begin with `waf_`. */
const variables: Readonly<Record<string, Value>> = {
  args: ({ target }) => queryOf(target),
  body_bytes_sent: ({ bytesOut }) => String(bytesOut),
  host: ({ host }) => host,
  http_referer: ({ referer = '' }) => referer,
  http_user_agent: ({ userAgent }) => userAgent,
  msec: ({ receivedAtMs }) => (receivedAtMs / 1000).toFixed(3),
  query_string: ({ target }) => queryOf(target),
  remote_addr: ({ clientIp }) => clientIp,
  remote_port: ({ clientPort }) => String(clientPort),
  request: ({ method, target, httpVersion }) =>
    method === '' ? '' : `${method} ${target} ${httpVersion}`,
  request_id: ({ requestId }) => requestId,
  request_method: ({ method }) => method,
  request_time: ({ durationUs }) => seconds(durationUs),
  request_uri: ({ target }) => target,
  scheme: ({ tls }) => (tls === undefined ? 'http' : 'https'),
  server_protocol: ({ httpVersion }) => httpVersion,
  ssl_protocol: ({ tls }) => tls?.version ?? '',
  status: ({ status }) => (status === 0 ? '' : String(status)),
  time_iso8601: ({ receivedAtMs }) => new Date(receivedAtMs).toISOString(),
  time_local: ({ receivedAtMs }) => commonTime(receivedAtMs),
  upstream_addr: ({ endpoint }) => endpoint ?? '',
  upstream_header_time: ({ originUs }) => seconds(originUs),
  uri: ({ target }) => pathOf(target),
  waf_blocked: ({ blocked }) => (blocked ? '1' : '0'),
  waf_body_bytes_received: ({ bytesIn }) => String(bytesIn),
  waf_ja4: ({ tls }) => tls?.ja4 ?? '',
  waf_outcome: ({ outcome }) => outcome,
  waf_reason: ({ refusal }) => refusal ?? '',
  waf_route: ({ routeId = '' }) => routeId,
  waf_rules: ({ transaction }) => {
    const logged = transaction?.matchedRules.filter(({ log }) => log) ?? [];
    return logged.map(({ ruleId }) => ruleId).join(',');
  },
  waf_score: ({ transaction }) => String(transaction?.inboundScore ?? 0),
  waf_site: ({ siteId }) => siteId,
  waf_upstream: ({ upstreamId = '' }) => upstreamId,
};

/** Times have a blank that the form expects. */
const withBlanks = new Set(['time_local']);

/** Names of all variables. */
export const accessLogVariables: readonly string[] = Object.keys(variables);

/** Errors: `bad_option` naming what the form may not have. */
export function readOwnFormat(flag: string, text: string): OwnFormat {
  const bad = (problem: string): AppError =>
    new AppError('bad_option', `${flag} ${problem}`, { source: 'config' });
  const { formatCharsMax } = accessLogLimits;
  if (text.length > formatCharsMax) throw bad(`takes at most ${formatCharsMax} characters`);
  if (/[^ -~]/.test(text)) throw bad('takes printable ASCII in one line');
  const parts: Part[] = [];
  let quoted = false;
  let last = 0;
  const literal = (end: number): void => {
    if (end === last) return;
    const between = text.slice(last, end);
    parts.push({ text: between });
    if (between.split('"').length % 2 === 0) quoted = !quoted;
  };
  for (const found of text.matchAll(/\$(?:\{([^}]*)\}|([a-z0-9_]*))/gi)) {
    const name = found[1] ?? found[2] ?? '';
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) {
      throw bad(`has no variable $${name}; it has ${accessLogVariables.join(', ')}`);
    }
    literal(found.index);
    last = found.index + found[0].length;
    parts.push({ value, quoted: quoted || withBlanks.has(name) });
  }
  literal(text.length);
  return parts;
}

/** The line of a request, line break included; `-` for a value that it does not have. */
export function ownLine(event: RequestEvent, format: OwnFormat): string {
  let line = '';
  for (const part of format) {
    if ('text' in part) line += part.text;
    else {
      const value = escaped(part.value(event)) || '-';
      line += part.quoted ? value : value.replaceAll(' ', '\\x20');
    }
  }
  return `${line}\n`;
}
