/**
 * Messages as syslog carries them: RFC 5424 with the event as JSON, framed by RFC 6587 on streams.
 * A message is one line of ASCII, whatever a client sent. Pure.
 */

import type { SiemEvent, SiemTarget } from '../domain/settings/siem-settings.ts';

/** Syslog severities (RFC 5424, table 2). */
export const syslogSeverity = { critical: 2, error: 3, warning: 4, notice: 5, info: 6 } as const;
/** One of them. */
export type SyslogSeverity = (typeof syslogSeverity)[keyof typeof syslogSeverity];

/** One event on its way out. */
export interface SyslogMessage {
  readonly severity: SyslogSeverity;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** The MSGID: which kind of event it is. */
  readonly event: SiemEvent;
  /** What is sent as JSON. */
  readonly content: object;
}

/** The message without a frame. `hostname`: of this machine. */
export function syslogText(message: SyslogMessage, facility: number, hostname: string): string {
  const priority = facility * 8 + message.severity;
  const time = new Date(message.atMs).toISOString();
  const head = `<${priority}>1 ${time} ${printable(hostname)} waf - ${message.event} -`;
  return `${head} ${asciiJson(message.content)}`;
}

/** The message as the target reads it. Cost: one copy. */
export function framed(
  text: string,
  { transport, framing }: Pick<SiemTarget, 'transport' | 'framing'>,
): Buffer {
  if (transport === 'udp') return Buffer.from(text, 'latin1');
  if (framing === 'newline') return Buffer.from(`${text}\n`, 'latin1');
  return Buffer.from(`${text.length} ${text}`, 'latin1');
}

/** JSON in printable ASCII: RFC 5424 then wants no byte order mark, and no control code is left. */
function asciiJson(content: object): string {
  return JSON.stringify(content).replace(/[^ -~]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** A HOSTNAME of RFC 5424: printable ASCII, or `-` for none. */
function printable(hostname: string): string {
  return /^[!-~]{1,255}$/.test(hostname) ? hostname : '-';
}
