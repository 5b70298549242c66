/**
 * What rules with `block`, or with no decision of their own, do by default. A policy has one mode:
 * it decides for phases 1 and 2, and with CRS 4 for 3 and 4 too. Whatever a set-up states beyond
 * that is refused with the reason, not dropped.
 */

import { decodeUtf8 } from '../../../../base/byte-string.ts';
import type {
  ActionExpression,
  SecDefaultActionDirective,
} from '../../../../engine/rules/language/ast.ts';
import type { PlacedDirective } from './read-order.ts';
import { actionValue, honored, ignored, refused, type Verdict } from './report.ts';

type Decision = 'deny' | 'pass';

/** The mode of the policy, and the fate of each directive. */
export interface DefaultActions {
  readonly blockingMode: 'anomaly' | 'self-contained';
  readonly fates: ReadonlyMap<SecDefaultActionDirective, Verdict>;
}

/** Reads all default actions of a set-up whose own release is `setupVersion`, such as 334. */
export function readDefaultActions(
  placed: readonly PlacedDirective[],
  setupVersion: string,
): DefaultActions {
  const all = placed.flatMap(({ directive, section, ofRuleset }) =>
    directive.kind === 'SecDefaultAction' && section === '' && !ofRuleset ? [directive] : [],
  );
  const request = all.filter(({ actions }) => phaseOf(actions) <= 2);
  const denies = request.some(({ actions }) => decisionOf(actions) === 'deny');
  const mode: Decision = denies ? 'deny' : 'pass';
  const responseMode: Decision = setupVersion.startsWith('3') ? 'pass' : mode;
  const fates = new Map(
    all.map((one) => [one, fateOf(one.actions, mode, responseMode, request.length)] as const),
  );
  return { blockingMode: denies ? 'self-contained' : 'anomaly', fates };
}

function fateOf(
  actions: readonly ActionExpression[],
  mode: Decision,
  responseMode: Decision,
  stated: number,
): Verdict {
  const phase = phaseOf(actions);
  const decision = decisionOf(actions);
  if (decision === null) return refused('only pass and deny can be the default');
  const other = actions.find(({ name, value }) => !isTaken(name.text, value?.text ?? ''));
  if (other !== undefined) {
    const name = decodeUtf8(other.name.text);
    return refused(`${name} of a default action is not taken over: write it in the rules`);
  }
  if (phase === 5) {
    return decision === 'pass'
      ? honored('rules of phase 5 pass by default')
      : ignored('rules of phase 5 cannot stop a request any more');
  }
  const wanted = phase <= 2 ? mode : responseMode;
  if (decision !== wanted) return refused(differs(phase, decision, stated));
  if (phase > 2) {
    const does = decision === 'pass' ? 'pass' : 'deny';
    return honored(`rules of phase ${phase} ${does} by default`);
  }
  if (decision === 'pass') return honored('blockingMode: anomaly');
  const status = actionValue(actions, 'status') ?? '403';
  const changed = status === '403' ? '' : ` in place of ${decodeUtf8(status)}`;
  return honored(`blockingMode: self-contained, with status 403${changed}`);
}

function differs(phase: number, decision: Decision, stated: number): string {
  const advice = `write ${decision} in the rules of phase ${phase}`;
  if (phase <= 2 && stated > 1) return `phases 1 and 2 have one default in a policy: ${advice}`;
  return `the policy has another default for phase ${phase}: ${advice}`;
}

/** What is logged is up to the log policy; the rest is the decision itself. */
const takenNames = ['phase', 'log', 'nolog', 'auditlog', 'noauditlog', 'pass', 'deny', 'drop'];

function isTaken(name: string, value: string): boolean {
  const kind = name.toLowerCase();
  if (kind === 't') return value.toLowerCase() === 'none';
  return kind === 'status' || takenNames.includes(kind);
}

function decisionOf(actions: readonly ActionExpression[]): Decision | null {
  const names = actions.map(({ name }) => name.text.toLowerCase());
  if (names.includes('deny') || names.includes('drop')) return 'deny';
  return names.includes('pass') || names.includes('log') ? 'pass' : null;
}

/** Phase of the actions; 2 where they name none, as ModSecurity has it. */
export function phaseOf(actions: readonly ActionExpression[]): number {
  const text = (actionValue(actions, 'phase') ?? '2').toLowerCase();
  const named: Readonly<Record<string, number>> = { request: 2, response: 4, logging: 5 };
  return named[text] ?? (/^[1-5]$/.test(text) ? Number(text) : 2);
}
