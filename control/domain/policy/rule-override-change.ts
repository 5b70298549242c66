/**
 * How an override of a rule grows and shrinks, and whether it can have an effect at all. What an
 * operator wrote before stays unless taking it away is what was asked for. Pure.
 */

import type { RuleOverrideJson } from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { invalidField, refusal } from '../errors.ts';

const plain = 'RULE_OVERRIDE_ACTION_DEFAULT';
const disabled = 'RULE_OVERRIDE_ACTION_DISABLE';
const scored = 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE';

/** The lists of an override. */
const listNames = ['removedTargets', 'addedTargets', 'tags'] as const;

/** A scope without the slash at its end; '' for every path. */
export function normalScope(scope: string | undefined): string {
  return (scope ?? '').replace(/\/+$/, '');
}

/**
 * `before` with what is asked added: lists grow, a rationale gets a line. An action other than the
 * plain one takes the place of the present one. Errors: failed_precondition for an exclusion from a
 * rule that is disabled there.
 */
export function addToOverride(
  before: RuleOverrideJson,
  asked: RuleOverrideJson,
  at: string,
): RuleOverrideJson {
  const keepsAction = asked.actionEnum === plain;
  if (keepsAction && before.actionEnum === disabled) {
    throw refusal(
      'failed_precondition',
      `${at}.removedTargets: the rule is disabled there, so that an exclusion changes nothing; ` +
        'replace the override to run the rule with exclusions',
    );
  }
  const actionEnum = (keepsAction ? before.actionEnum : asked.actionEnum) ?? plain;
  const score = asked.scoreOverride ?? (actionEnum === scored ? before.scoreOverride : undefined);
  const rationale = joined(before.rationale ?? '', asked.rationale ?? '');
  const { scoreOverride: _score, ...rest } = before;
  return {
    ...rest,
    ...Object.fromEntries(listNames.map((name) => [name, union(before[name], asked[name])])),
    actionEnum,
    ...(score === undefined ? {} : { scoreOverride: score }),
    ...(rationale === '' ? {} : { rationale }),
  };
}

/**
 * `before` without what is asked; null when nothing is left of it. Errors: invalid_argument for
 * what is not there.
 */
export function removeFromOverride(
  before: RuleOverrideJson,
  asked: RuleOverrideJson,
  at: string,
): RuleOverrideJson | null {
  const left: Record<string, string[]> = {};
  for (const name of listNames) {
    const present = before[name] ?? [];
    (asked[name] ?? []).forEach((one, index) => {
      if (present.includes(one)) return;
      throw invalidField(`${at}.${name}[${index}]`, 'is not part of the override');
    });
    left[name] = present.filter((one) => asked[name]?.includes(one) !== true);
  }
  const empty = Object.values(left).every((list) => list.length === 0);
  if (empty && (before.actionEnum ?? plain) === plain) return null;
  return { ...before, ...left };
}

/**
 * Errors: invalid_argument for a target to leave out that the rule does not read: the exclusion
 * would have no effect. `targets` are those of the rule, or of the first link of its chain.
 */
export function refuseUnread(
  override: RuleOverrideJson,
  targets: readonly string[],
  at: string,
): void {
  const read = targets.map(parseTarget);
  const scoped = normalScope(override.scope) !== '';
  (override.removedTargets ?? []).forEach((text, index) => {
    const asked = parseTarget(text);
    if (isRead(asked, read)) return;
    // An exclusion by expression also covers the names of the variable, but not under a path.
    const names = { ...asked, name: `${asked.name}_NAMES` };
    if (asked.isExpression && !scoped && isRead(names, read)) return;
    const shown = [...new Set(read.filter(({ out }) => !out).map(textOf))].join(', ');
    const reads = shown === '' ? 'no variable' : shown;
    throw invalidField(
      `${at}.removedTargets[${index}]`,
      `the rule does not read it, so that leaving it out changes nothing; it reads ${reads}`,
    );
  });
}

/** Errors: invalid_argument for a path prefix that no request can have. */
export function refuseUnmatchable(scope: string, at: string): void {
  if (/[*]/.test(scope)) {
    throw invalidField(at, 'is a prefix and no pattern: /api stands for all that lies under it');
  }
  if (/\/(?:\/|\.{1,2}(?:\/|$))/.test(scope)) {
    throw invalidField(at, 'matches no request: paths are compared without //, /. and /..');
  }
}

interface ParsedTarget {
  readonly name: string;
  /** Key or expression, '' for all of the variable. */
  readonly key: string;
  readonly isExpression: boolean;
  /** Left out of what the rule reads. */
  readonly out: boolean;
}

/** Spellings of one variable. */
const aliases: Readonly<Record<string, string>> = {
  STATUS: 'RESPONSE_STATUS',
  MSC_PCRE_ERROR: 'MSC_PCRE_LIMITS_EXCEEDED',
};

function parseTarget(text: string): ParsedTarget {
  const [, out = '', name = '', key = ''] = /^(!?)&?(\w+)(?::([^]*))?$/.exec(text) ?? [];
  const upper = name.toUpperCase();
  return {
    name: aliases[upper] ?? upper,
    key: key.toLowerCase(),
    isExpression: key.length > 1 && key.startsWith('/') && key.endsWith('/'),
    out: out !== '',
  };
}

/** Whether a rule reads something of what is asked. Expressions are believed to overlap. */
function isRead(asked: ParsedTarget, read: readonly ParsedTarget[]): boolean {
  const same = read.filter(({ name }) => name === asked.name);
  const leftOut = same.some(({ out, key }) => out && (key === '' || key === asked.key));
  if (leftOut) return false;
  return same.some(({ out, key, isExpression }) => {
    if (out) return false;
    if (key === '' || asked.key === '') return true;
    return isExpression || asked.isExpression || key === asked.key;
  });
}

function textOf({ name, key }: ParsedTarget): string {
  return key === '' ? name : `${name}:${key}`;
}

function union(before: readonly string[] = [], asked: readonly string[] = []): string[] {
  return [...new Set([...before, ...asked])];
}

/** Reasons add up, too; the same one is not said twice. */
function joined(before: string, asked: string): string {
  if (asked === '' || before.split('\n').includes(asked)) return before;
  return before === '' ? asked : `${before}\n${asked}`;
}
