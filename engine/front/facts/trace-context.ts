/**
 * Reads and writes the fields of W3C Trace Context, level 1: `traceparent` and `tracestate`. What
 * is not well-formed counts as absent, never as something near it. Pure.
 */

import { trimBlankEnds } from '../../../base/byte-string.ts';
import { traceLimits } from '../../base/observation-limits.ts';

/** What a valid `traceparent` says. */
export interface TraceParent {
  /** 32 hexadecimal digits in lower case, not all zero. */
  readonly traceId: string;
  /** The sender's span: 16 hexadecimal digits in lower case, not all zero. */
  readonly spanId: string;
  readonly sampled: boolean;
}

/** Version 00, and the part of any later version that has the same meaning (section 4.3). */
const parentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/s;
const zeroTrace = '0'.repeat(32);
const zeroSpan = '0'.repeat(16);

/** Section 3.3.1.3: keys of one vendor, and of a tenant at a vendor; values of visible ASCII. */
const keyForm = /[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13}/;
const valueForm = /[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]/;
const memberForm = new RegExp(`^(${keyForm.source})=${valueForm.source}$`);

/** The value of the one `traceparent`; null where it is invalid (section 3.2). Byte string. */
export function readTraceParent(value: string): TraceParent | null {
  const found = parentForm.exec(value);
  if (found === null) return null;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = found;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (traceId === zeroTrace || spanId === zeroSpan) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/**
 * The values of all `tracestate` fields as one, in their order; '' where there is none or one of
 * their members is invalid (section 3.3). Byte strings.
 */
export function readTraceState(values: readonly string[]): string {
  const { stateBytesMax, stateMembersMax } = traceLimits;
  const whole = values.join(',');
  if (whole.length > stateBytesMax) return '';
  const members = whole
    .split(',')
    .map(trimBlankEnds)
    .filter((member) => member !== '');
  if (members.length > stateMembersMax) return '';
  const keys = new Set<string>();
  for (const member of members) {
    const key = memberForm.exec(member)?.[1];
    if (key === undefined || keys.has(key)) return '';
    keys.add(key);
  }
  return members.join(',');
}

/** Ready lines for the origin, each with its end. Flags but `sampled` have no meaning here. */
export function traceLines({ traceId, spanId, sampled }: TraceParent, state: string): string {
  const parent = `traceparent: 00-${traceId}-${spanId}-${sampled ? '01' : '00'}\r\n`;
  return state === '' ? parent : `${parent}tracestate: ${state}\r\n`;
}
