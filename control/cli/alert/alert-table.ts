/** How commands spell and list alerts. */

import {
  AlertSchema,
  AlertSeverity,
  AlertStatus,
  type Alert,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { textFlag, type FlagValues } from '../command.ts';
import { wordsOf } from '../field-flags.ts';
import { printable, timeText } from '../show.ts';

/** Severities as commands spell them. */
export const severityChoices = wordsOf(AlertSchema, 'severity');

/** The severity that a flag names; undefined for none. */
export function severityFlag(flags: FlagValues): AlertSeverity | undefined {
  const word = textFlag(flags, 'severity')?.toUpperCase() as 'INFO' | undefined;
  return word === undefined ? undefined : AlertSeverity[word];
}

/** The word for a value of an enum; '' for an unknown one. */
export function enumWord(values: Readonly<Record<string, number | string>>, value: number): string {
  const found = Object.entries(values).find(([, one]) => one === value);
  return found === undefined ? '' : found[0].toLowerCase();
}

/** Alerts as rows. */
export function tableOf(alerts: readonly Alert[]) {
  return {
    columns: ['ID', 'SEVERITY', 'STATUS', 'CONDITION', 'OPENED', 'TITLE'],
    rows: alerts.map((alert) => [
      alert.id,
      enumWord(AlertSeverity, alert.severity),
      enumWord(AlertStatus, alert.status),
      alert.evaluationState,
      timeText(alert.openedAt),
      printable(alert.title),
    ]),
  };
}
