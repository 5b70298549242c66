/**
 * Measures the rules of a policy's own together, in a process that can be ended: each may be fine
 * by itself while hundreds of them make every request slow. Serves nothing; judges no single rule.
 */

import { fork } from 'node:child_process';
import { AppError } from '../../base/errors.ts';
import { patternTrialLimits, ruleSetTrialLimits } from '../../base/rule-limits.ts';
import { policyEntryFile, rulesetFolder, type PolicySource } from '../contract/policy.ts';
import type { Diagnostic } from '../rules/language/diagnostic.ts';
import { trialsWaitCode, type KnownPatterns } from './pattern-trial.ts';
import { stopper, type TrialBounds } from './trial-bounds.ts';

/** Code of the diagnostic about a set that is too slow. */
export const ruleSetSlow = 'rules-slow';

/** What the process says. */
export type RuleSetAnswer =
  | { readonly kind: 'measured'; readonly ms: number; readonly request: string }
  /** The rules cannot stand alone: they need those of the ruleset. */
  | { readonly kind: 'unlinked' };

/** What may differ in tests. */
export interface RuleSetTrialOptions extends TrialBounds {
  readonly requestMsMax: number;
}

const nothingKnown: KnownPatterns = { has: () => false, add: () => undefined };

/** Measures sets of rules, one after the other. */
export class RuleSetTrial {
  private readonly entry: URL;
  private readonly options: RuleSetTrialOptions;
  /** What was measured alone and found quick, as it was measured; outlives this process. */
  private readonly known: KnownPatterns;
  /** Directives of each policy as they were measured last, and found quick. */
  private readonly quick = new Map<string, ReadonlySet<string>>();
  private waiting = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    entry: URL,
    options: Partial<RuleSetTrialOptions> = {},
    known: KnownPatterns = nothingKnown,
  ) {
    this.entry = entry;
    this.known = known;
    const { buildCpuMs: patternCpuMs, requestMsMax } = ruleSetTrialLimits;
    const { residentBytesMax } = patternTrialLimits;
    this.options = { patternCpuMs, residentBytesMax, requestMsMax, ...options };
  }

  /**
   * What speaks against all rules of the policy's own together; empty when usual requests are
   * quick, or the rules are few, or nearly those of a policy that was measured before. Errors:
   * AppError `trialsWaitCode`. Cost: a process and seconds of its CPU time where it measures.
   */
  async try(policy: PolicySource): Promise<Diagnostic[]> {
    const own = ownRules(policy);
    const directives = directivesOf(own);
    const known = (): boolean => this.isKnown(directives);
    if (directives.size < ruleSetTrialLimits.directivesMin || known()) return [];
    if (this.known.has(textOf(own))) {
      this.remember(policy.id, directives);
      return [];
    }
    const { waitingMax } = ruleSetTrialLimits;
    if (this.waiting > waitingMax) {
      const problem = `${waitingMax} changes of rules wait to be measured`;
      throw new AppError(trialsWaitCode, problem, { source: 'client', retryable: true });
    }
    this.waiting++;
    const tried = this.last.then(async () => {
      if (known()) return [];
      const problem = this.problemOf(await this.measure(policy, own));
      if (problem === null) this.remember(policy.id, directives);
      return problem === null ? [] : [fault(directives.size, problem)];
    });
    this.last = tried.catch(() => undefined);
    return tried.finally(() => this.waiting--);
  }

  /** Whether a policy with nearly these directives was measured: policies share templates. */
  private isKnown(directives: ReadonlySet<string>): boolean {
    for (const before of this.quick.values()) if (isNearly(directives, before)) return true;
    return false;
  }

  private remember(policyId: string, directives: ReadonlySet<string>): void {
    this.quick.delete(policyId);
    this.quick.set(policyId, directives);
    if (this.quick.size <= ruleSetTrialLimits.policiesMax) return;
    for (const oldest of this.quick.keys()) {
      this.quick.delete(oldest);
      return;
    }
  }

  private problemOf(answer: RuleSetAnswer | string): string | null {
    if (typeof answer === 'string') return answer;
    const { requestMsMax } = this.options;
    if (answer.kind === 'unlinked' || answer.ms <= requestMsMax) return null;
    const { ms, request } = answer;
    return `takes ${ms.toFixed(1)} ms of CPU time for ${request}; at most ${requestMsMax} ms`;
  }

  /** Rules that need those of the ruleset are measured with them, which costs a little more. */
  private async measure(policy: PolicySource, own: PolicySource): Promise<RuleSetAnswer | string> {
    const answer = await this.run(own);
    if (typeof answer === 'string') return answer;
    if (answer.kind === 'unlinked') return this.run(recordingOnly(policy));
    if (this.problemOf(answer) === null) this.known.add([textOf(own)]);
    return answer;
  }

  /** The process's answer, or why it was ended without one. */
  private run(own: PolicySource): Promise<RuleSetAnswer | string> {
    const child = fork(this.entry, [], {
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    return new Promise((resolve) => {
      let answer: RuleSetAnswer | string = 'needs more memory than there is, or cannot be built';
      const stop = stopper(child, this.options, 'rules', (reason) => {
        if (typeof answer === 'string') answer = reason;
      });
      const end = (): void => {
        stop.end();
        resolve(answer);
      };
      child.on('message', (given: RuleSetAnswer) => (answer = given));
      child.on('error', () => {
        child.kill('SIGKILL');
        end();
      });
      child.on('close', end);
      child.send(own);
    });
  }
}

/** Whether few of the directives are not among those that were measured before. */
function isNearly(directives: ReadonlySet<string>, before: ReadonlySet<string>): boolean {
  const unknownMax = before.size * ruleSetTrialLimits.changedShare;
  let unknown = 0;
  for (const one of directives) if (!before.has(one) && ++unknown > unknownMax) return false;
  return true;
}

/** Everything that is measured, as one text. Cost: data files and markers, some 0.2 MB. */
function textOf({ seclangEntry, files }: PolicySource): string {
  const parts = [...files].flatMap(([path, bytes]) => [
    path,
    Buffer.from(bytes).toString('latin1'),
  ]);
  return JSON.stringify([seclangEntry, ...parts]);
}

/**
 * The policy without the rules of its ruleset, recording only. Its markers stay: without the place
 * that it names, `skipAfter` would skip, and hide, all rules after it.
 */
export function ownRules(policy: PolicySource): PolicySource {
  const files = new Map(policy.files);
  for (const [path, bytes] of files) {
    if (isRuleFile(path) && path.startsWith(rulesetFolder)) files.set(path, markersOf(bytes));
  }
  return recordingOnly({ ...policy, files });
}

/** A rule that blocks would hide those after it; what a score costs is no rule's doing. */
function recordingOnly(policy: PolicySource): PolicySource {
  const seclangEntry = `${policy.seclangEntry}\nSecRuleEngine DetectionOnly\nSecDecision crs\n`;
  return { ...policy, seclangEntry };
}

function markersOf(bytes: Uint8Array): Uint8Array {
  const lines = Buffer.from(bytes).toString('latin1').split('\n');
  return Buffer.from(
    lines.filter((line) => /^[ \t]*SecMarker[ \t]/i.test(line)).join('\n'),
    'latin1',
  );
}

function isRuleFile(path: string): boolean {
  return path.endsWith('.conf');
}

const directiveStart = /^[ \t]*(?=Sec(?:Rule|Action)[ \t])/gim;

/** Rules, links of chains and actions, as text. */
function directivesOf({ seclangEntry, files }: PolicySource): ReadonlySet<string> {
  const texts = [seclangEntry];
  for (const [path, bytes] of files) {
    if (isRuleFile(path)) texts.push(Buffer.from(bytes).toString('latin1'));
  }
  return new Set(texts.flatMap((text) => text.split(directiveStart).slice(1)));
}

function fault(count: number, problem: string): Diagnostic {
  const advice = 'Remove rules, or have them match less often';
  const message = `the set of ${count} rules of the policy's own ${problem}. ${advice}`;
  const span = { file: policyEntryFile, line: 1, column: 1, endLine: 1, endColumn: 1 };
  return { severity: 'error', code: ruleSetSlow, message, span };
}
