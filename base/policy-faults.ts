/**
 * The text in which an engine says which policies of a configuration do not compile, and in which
 * control reads it: one line a policy, its findings indented below. Never judges a policy.
 */

import { counted } from './counted.ts';

/** What is wrong with one policy. */
export interface PolicyFault {
  /** Id as the configuration names it. */
  readonly id: string;
  readonly name: string;
  readonly errors: number;
  /** The first of them, each as `file:line:column: message`. */
  readonly findings: readonly string[];
}

/** Code of the error; in messages it precedes the text, with a colon. */
export const policyInvalidCode = 'policy_invalid';

/** The text; `findingsMax` bounds the findings of all policies together, each keeps one. */
export function writePolicyFaults(faults: readonly PolicyFault[], findingsMax: number): string {
  const each = Math.max(1, Math.floor(findingsMax / Math.max(1, faults.length)));
  const count = faults.length === 1 ? '1 policy does' : `${faults.length} policies do`;
  const lines = faults.flatMap(({ id, name, errors, findings }) => [
    `policy ${oneLine(id)} "${oneLine(name)}": ${counted(errors, 'error')}`,
    ...findings.slice(0, each).map((finding) => `  ${oneLine(finding)}`),
  ]);
  return [`${count} not compile`, ...lines].join('\n');
}

/** The policies that such a text names after its code; none for any other text. */
export function readPolicyFaults(text: string): { readonly id: string; readonly text: string }[] {
  const [first = '', ...lines] = text.split('\n');
  if (!first.startsWith(`${policyInvalidCode}: `)) return [];
  const found: { id: string; text: string }[] = [];
  for (const line of lines) {
    // A text that was cut short ends within a line: an id counts only with what follows it.
    const id = /^policy (\S+) "/.exec(line)?.[1];
    const last = found.at(-1);
    if (id !== undefined) found.push({ id, text: line });
    else if (last !== undefined && line.startsWith('  ')) last.text += `\n${line}`;
  }
  return found;
}

function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}
