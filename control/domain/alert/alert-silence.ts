/** What a silence may be, and which alerts it keeps quiet. Pure. */

import type { AlertSeverityJson } from '../../../proto/gen/waf/v1/alert_pb.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import type { AlertSilenceRecord } from './alert-records.ts';
import { alertKinds } from './alert-condition.ts';
import { invalidField } from '../errors.ts';

/** Severities from least to worst. */
export const alertSeverities = [
  'ALERT_SEVERITY_INFO',
  'ALERT_SEVERITY_WARNING',
  'ALERT_SEVERITY_CRITICAL',
] as const satisfies readonly AlertSeverityJson[];

/** The severity that a text names, also by its short word; null for none. */
export function severityNamed(text: string): AlertSeverityJson | null {
  const full = text.startsWith('ALERT_') ? text : `ALERT_SEVERITY_${text.toUpperCase()}`;
  return alertSeverities.find((one) => one === full) ?? null;
}

/** The short word of a severity. */
export function severityWord(severity: AlertSeverityJson): string {
  return severity.slice('ALERT_SEVERITY_'.length).toLowerCase();
}

/** Properties of alerts that a silence can name. */
export const silenceFields = ['ruleId', 'siteId', 'agentId', 'severity', 'kind'] as const;

/** An alert as silences see it. */
export type Silenceable = Readonly<Record<(typeof silenceFields)[number], string>>;

/** Checks matchers. Errors: invalid_argument at matchers. */
export function checkMatchers(
  matchers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names: readonly string[] = silenceFields;
  const entries = Object.entries(matchers);
  if (entries.length === 0) {
    throw invalidField('matchers', `needs at least one of ${names.join(', ')}`);
  }
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (!names.includes(name)) {
        throw invalidField('matchers', `holds an unknown name. Allowed: ${names.join(', ')}`);
      }
      if (!/^[!-~]{1,256}$/.test(value)) {
        throw invalidField(`matchers.${name}`, 'must be 1 to 256 printable characters');
      }
      if (name === 'severity') return [name, checkSeverity(value)];
      if (name === 'kind' && !(alertKinds as readonly string[]).includes(value)) {
        throw invalidField('matchers.kind', `must be one of ${alertKinds.join(', ')}`);
      }
      return [name, value];
    }),
  );
}

function checkSeverity(value: string): AlertSeverityJson {
  const severity = severityNamed(value);
  if (severity !== null) return severity;
  throw invalidField('matchers.severity', `must be one of ${alertSeverities.join(', ')}`);
}

/** The time of a silence. Errors: invalid_argument at startsAt or endsAt. */
export function checkSilenceTime(
  startsAtMs: number | null,
  endsAtMs: number | null,
  nowMs: number,
): { readonly startsAt: string; readonly endsAt: string } {
  if (endsAtMs === null) throw invalidField('endsAt', 'is required: a silence ends by itself');
  const startMs = startsAtMs ?? nowMs;
  if (endsAtMs <= startMs) throw invalidField('endsAt', 'must be after startsAt');
  if (endsAtMs <= nowMs) throw invalidField('endsAt', 'must be in the future');
  const { silenceDaysMax } = alertLimits;
  if (endsAtMs - startMs > silenceDaysMax * 86_400_000) {
    throw invalidField('endsAt', `must be at most ${silenceDaysMax} days after startsAt`);
  }
  return { startsAt: new Date(startMs).toISOString(), endsAt: new Date(endsAtMs).toISOString() };
}

/** Whether all matchers fit an alert. */
export function silences(
  { matchers }: Pick<AlertSilenceRecord, 'matchers'>,
  alert: Silenceable,
): boolean {
  return silenceFields.every((name) => {
    const wanted = matchers[name];
    return wanted === undefined || wanted === alert[name];
  });
}

/** Whether a silence is in force. */
export function isInForce({ startsAt, endsAt }: AlertSilenceRecord, nowMs: number): boolean {
  return Date.parse(startsAt) <= nowMs && nowMs < Date.parse(endsAt);
}

/** The silence in force that keeps an alert quiet; of several the one that lasts longest. */
export function silenceOf(
  all: readonly AlertSilenceRecord[],
  alert: Silenceable & { readonly tenantId: string },
  nowMs: number,
): AlertSilenceRecord | null {
  let found: AlertSilenceRecord | null = null;
  for (const one of all) {
    if (one.tenantId !== alert.tenantId || !isInForce(one, nowMs) || !silences(one, alert))
      continue;
    if (found === null || one.endsAt > found.endsAt) found = one;
  }
  return found;
}
