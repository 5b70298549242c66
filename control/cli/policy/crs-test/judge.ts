/** The decision whether a stage passed. Pure: what was seen against what was expected. */

import type { Expectation } from './case.ts';
import type { SeenEvent, SeenRule } from './event-tail.ts';

/** What one stage gave. */
export interface Observation {
  /** Status on the wire; 0 for no answer. */
  readonly status: number;
  /** The proxy's record of the request; null when none came. */
  readonly event: SeenEvent | null;
}

/** The verdict on a stage. */
export interface Judgement {
  readonly passed: boolean;
  /** Why it failed, or on what remarkable ground it passed. */
  readonly reasons: readonly string[];
  /** The front's own recorded 400 stood for the rule; its reason code. */
  readonly refusal: string | null;
  /** The expected status is the one that detection-only mode withheld. */
  readonly withheld: boolean;
}

/** Judges one stage. */
export function judge(expect: Expectation, seen: Observation): Judgement {
  const reasons = [...checkRules(expect, seen), ...checkStatus(expect, seen)];
  const withheld = reasons.length === 0 && usesWithheldStatus(expect, seen);
  if (reasons.length === 0) return { passed: true, reasons, refusal: null, withheld };
  const refusal = seen.status === 400 ? (seen.event?.refusal ?? null) : null;
  if (refusal !== null) return { passed: true, reasons, refusal, withheld: false };
  if (seen.event?.failure !== null && seen.event?.failure !== undefined) {
    reasons.push(`inspection failed: ${seen.event.failure}`);
  }
  return { passed: false, reasons, refusal: null, withheld: false };
}

function checkRules(expect: Expectation, { event }: Observation): string[] {
  const asks =
    expect.ids.length + expect.noIds.length > 0 ||
    expect.noIdsAtAll ||
    expect.logRegex !== null ||
    expect.noLogRegex !== null;
  if (!asks) return [];
  if (event === null) return ['the proxy recorded no event'];
  const fired = new Set(event.rules.map((rule) => rule.id));
  const log = (): string => event.rules.map(toLogLine).join('\n');
  const reasons: string[] = [];
  for (const id of expect.ids) if (!fired.has(id)) reasons.push(`${id} did not match`);
  for (const id of expect.noIds) if (fired.has(id)) reasons.push(`${id} matched`);
  if (expect.noIdsAtAll && fired.size > 0) reasons.push(`${[...fired].join(', ')} matched`);
  if (expect.logRegex !== null && !new RegExp(expect.logRegex).test(log())) {
    reasons.push('log_regex not found');
  }
  if (expect.noLogRegex !== null && new RegExp(expect.noLogRegex).test(log())) {
    reasons.push('no_log_regex found');
  }
  return reasons;
}

function checkStatus(expect: Expectation, seen: Observation): string[] {
  if (expect.error) return seen.status === 0 ? [] : [`an answer came: ${seen.status}`];
  if (expect.statuses.length === 0 || expect.statuses.includes(seen.status)) return [];
  if (usesWithheldStatus(expect, seen)) return [];
  return [`status ${seen.status}, expected ${expect.statuses.join(' or ')}`];
}

/** Some suites are written for a blocking engine: what it would have answered counts. */
function usesWithheldStatus(expect: Expectation, { status, event }: Observation): boolean {
  const withheld = event?.withheldStatus ?? 0;
  return withheld !== 0 && !expect.statuses.includes(status) && expect.statuses.includes(withheld);
}

/** A match in ModSecurity's wording, for expectations that look for a text. */
export function toLogLine(rule: SeenRule): string {
  const { name = '', value = '' } = rule.matched.at(-1) ?? {};
  const parts = [
    `ModSecurity: Warning. Matched "Operator \`${rule.operator}' against variable`,
    `\`${name}' (Value: \`${value}' )`,
    `[file "${rule.file}"] [line "${rule.line}"] [id "${rule.id}"] [rev "${rule.rev}"]`,
    `[msg "${rule.message}"] [data "${rule.data}"] [severity "${rule.severity}"]`,
    `[ver "${rule.ver}"]`,
    ...rule.tags.map((tag) => `[tag "${tag}"]`),
  ];
  return escapeControls(parts.join(' '));
}

/** A log line is one line: what is not printable is written as \\xHH. */
function escapeControls(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]/g, (one) => {
    return `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
