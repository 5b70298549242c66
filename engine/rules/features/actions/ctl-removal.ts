/** The forms of `ctl` that take rules, or targets of rules, out of one transaction. */

import type { ByteString } from '../../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../../base/rule-limits.ts';
import { compileExact } from '../../../match/regex.ts';
import { lowerBytes } from '../../transaction/macro.ts';
import type { RemovedTarget, Transaction } from '../../transaction/transaction.ts';
import type { BindContext, BindFailure, Target, TargetSelector } from '../../transaction/types.ts';
import { unquote } from './action-common.ts';

const removals = {
  ruleremovebyid: null,
  ruleremovebytag: null,
  ruleremovebymsg: null,
  ruleremovetargetbyid: 'id',
  ruleremovetargetbytag: 'tag',
  ruleremovetargetbymsg: 'msg',
} as const;

type RemovalName = keyof typeof removals;

/** True for the lower-case name of a removal. */
export function isRemoval(name: string): name is RemovalName {
  return Object.hasOwn(removals, name);
}

/** Binds one removal; its change may run many times and is recorded once. */
export function bindRemoval(
  name: RemovalName,
  value: ByteString,
  context: BindContext,
): { run(tx: Transaction): void } | BindFailure {
  const by = removals[name];
  if (by !== null) return bindTargetRemoval(by, value, context);
  if (name === 'ruleremovebytag') return { run: (tx) => add(tx.control.removedTags, value) };
  if (name === 'ruleremovebymsg') return { run: (tx) => add(tx.control.removedMessages, value) };
  const ranges = parseIds(value);
  if (!ranges) return { failure: 'expected rule ids or ranges' };
  return {
    run: (tx) => {
      for (const range of ranges) add(tx.control.removedIds, range);
    },
  };
}

function bindTargetRemoval(
  by: 'id' | 'tag' | 'msg',
  value: ByteString,
  context: BindContext,
): { run(tx: Transaction): void } | BindFailure {
  const split = value.indexOf(';');
  if (split < 0) return { failure: 'expected what, a semicolon and a target' };
  const subject = unquote(value.slice(0, split).trim());
  const target = parseTarget(value.slice(split + 1).trim(), context);
  if ('failure' in target) return target;
  const ranges: readonly [number, number][] | null = by === 'id' ? parseIds(subject) : [[0, 0]];
  if (!ranges) return { failure: 'expected rule ids or ranges' };
  const removed: RemovedTarget[] = ranges.map(([from, to]) => ({
    by,
    from,
    to,
    text: subject,
    target,
  }));
  return {
    run: (tx) => {
      for (const one of removed) add(tx.control.removedTargets, one);
    },
  };
}

/** The same object is recorded once, so that an action may run at every match. */
function add<T>(list: T[], item: T): void {
  if (list.length < ruleRunLimits.removalsMax && !list.includes(item)) list.push(item);
}

/** `942100`, `942100-942199`, and several of them with blanks or commas between. */
function parseIds(text: ByteString): [number, number][] | null {
  const ranges: [number, number][] = [];
  for (const item of text.trim().split(/[\s,]+/)) {
    const match = /^(\d{1,12})(?:-(\d{1,12}))?$/.exec(item);
    if (!match) return null;
    const from = Number(match[1]);
    const to = match[2] === undefined ? from : Number(match[2]);
    if (from > to) return null;
    ranges.push([from, to]);
  }
  return ranges;
}

/** `ARGS`, `ARGS:name`, `ARGS:/regex/`, `XML:/*`. */
function parseTarget(text: ByteString, context: BindContext): Target | BindFailure {
  const match = /^([A-Za-z_]+)(?:[:.](.+))?$/s.exec(unquote(text));
  const variable = match && context.findVariable((match[1] ?? '').toUpperCase());
  if (!variable) return { failure: 'the target names no known variable' };
  const key = match[2] === undefined ? undefined : unquote(match[2]);
  if (key === undefined) return { variable, selector: null, count: false };
  const selector = parseSelector(key, variable.selector === 'xpath');
  if (!selector) return { failure: 'the target holds no valid regular expression' };
  if (selector.kind !== 'xpath' || !variable.forXPath) return { variable, selector, count: false };
  const served = variable.forXPath(selector.text);
  if (!served) return { failure: 'the target holds an unsupported XPath expression' };
  return { variable: served, selector, count: false };
}

function parseSelector(key: ByteString, xpath: boolean): TargetSelector | null {
  if (xpath) return { kind: 'xpath', text: key };
  if (key.length < 3 || !key.startsWith('/') || !key.endsWith('/')) {
    return { kind: 'key', key: lowerBytes(key) };
  }
  const text = key.slice(1, -1);
  try {
    return { kind: 'regex', text, regex: compileExact(text, { caseless: true }) };
  } catch {
    return null;
  }
}
