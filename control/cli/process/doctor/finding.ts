/** What a check of `waf doctor` says, and in which order it is shown. */

import type { CommandContext } from '../../command.ts';

/** From what stops the service to what is as it should be. */
export const severities = ['error', 'warning', 'note', 'ok'] as const;

/** One thing that was looked at. */
export interface Finding {
  readonly severity: (typeof severities)[number];
  /** What was looked at, in a word or two. */
  readonly check: string;
  readonly finding: string;
  /** What to do about it; empty where nothing is to be done. */
  readonly action: string;
}

/** What checks know of the installation before they begin. */
export interface Patient {
  readonly context: CommandContext;
  /** Whether a service answers on the administration socket. */
  readonly running: boolean;
  /** Process of the supervisor; 0 when none is known. */
  readonly supervisorPid: number;
  readonly nowMs: number;
  /** Addresses that `waf run` would listen on, with the flag of each. */
  readonly addresses: readonly { readonly text: string; readonly flag: string }[];
  /** Reads the whole store. */
  readonly deep: boolean;
}

/** One check; a check that fails itself is reported as an error of that name. */
export interface Check {
  readonly name: string;
  look(patient: Patient): Finding[] | Promise<Finding[]>;
}

/** All is well. */
export function ok(check: string, finding: string): Finding {
  return { severity: 'ok', check, finding, action: '' };
}

/** Worth knowing. */
export function note(check: string, finding: string, action = ''): Finding {
  return { severity: 'note', check, finding, action };
}

/** It works, but not for long or not well. */
export function warning(check: string, finding: string, action: string): Finding {
  return { severity: 'warning', check, finding, action };
}

/** It does not work, or is not safe. */
export function error(check: string, finding: string, action: string): Finding {
  return { severity: 'error', check, finding, action };
}

/** Worst first; findings of one severity stay in the order of the checks. */
export function bySeverity(findings: readonly Finding[]): Finding[] {
  return findings.toSorted(
    (left, right) => severities.indexOf(left.severity) - severities.indexOf(right.severity),
  );
}

/** Bytes as people read them. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const at = Math.min(units.length - 1, Math.floor(Math.log(Math.max(1, bytes)) / Math.log(1024)));
  const value = bytes / 1024 ** at;
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at] ?? ''}`;
}
