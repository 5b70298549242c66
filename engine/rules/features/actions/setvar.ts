/** The action `setvar`: sets, counts and removes variables of TX and of open collections. */

import { type ByteString, internText } from '../../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../../base/rule-limits.ts';
import {
  addStored,
  deleteStored,
  isPersistentName,
  setStored,
} from '../../transaction/collections.ts';
import { expandMacro, lowerBytes, resolveReference } from '../../transaction/macro.ts';
import { readInteger } from '../operators/operator-common.ts';
import type { PersistentName, Transaction } from '../../transaction/transaction.ts';
import type {
  ActionDefinition,
  ActionEffect,
  BindContext,
  BindFailure,
  BoundAction,
  MacroText,
  Rule,
} from '../../transaction/types.ts';
import { parseVariableName, splitAssignment } from './action-common.ts';

type Op = 'set' | 'add' | 'subtract' | 'unset';

/** What one setvar does; names in lower case. */
interface Assignment {
  readonly collection: 'tx' | PersistentName;
  readonly name: MacroText;
  readonly op: Op;
  readonly value: MacroText;
}

/** Sets a variable: `tx.a=1`, `tx.a=+1`, `tx.a=-1`, `tx.a` (1), `!tx.a` (removes it). */
export const setvar: ActionDefinition = {
  name: 'setvar',
  kind: 'runtime',
  argument: 'required',
  summary: 'Sets, adds to, subtracts from or removes a variable of TX or an open collection.',
  example: 'SecRule ARGS "@rx x" "id:1,setvar:tx.score=+%{tx.critical_anomaly_score}"',
  source: 'ModSecurity Reference Manual, Actions, setvar',
  bind: bindSetvar,
};

function bindSetvar(argument: ByteString, context: BindContext): BoundAction | BindFailure {
  const assignment = parseAssignment(argument, context);
  if (!assignment) return { failure: 'expected collection.name, optionally with =value' };
  const { collection, name, op, value } = assignment;
  const keyOf = keyReader(name);
  if (collection !== 'tx' && !isPersistentName(collection)) {
    return { failure: 'expected a variable of tx, ip, global, session, user or resource' };
  }
  const counted = op === 'add' || op === 'subtract';
  const isScore = counted && collection === 'tx' && isScoreName(name.literal ?? '');
  const bound: BoundAssignment = { collection, keyOf, op, value, isScore };
  const effect: ActionEffect =
    collection === 'tx' ? { kind: 'setTx', name, op, value } : { kind: 'isolated' };
  return {
    definition: setvar,
    argument,
    effect,
    run: (tx) => assign(bound, tx),
    ...(repeats(bound, name) && {
      runTimes: (tx: Transaction, _rule: Rule, times: number) => assignTimes(bound, tx, times),
    }),
  };
}

/**
 * Whether runs one after the other come to one: a name that is written out, and a value that is, or
 * is another variable of TX.
 */
function repeats({ collection, value }: BoundAssignment, name: MacroText): boolean {
  if (collection !== 'tx' || name.literal === null) return false;
  return value.parts.every((part) => {
    if (typeof part === 'string') return true;
    return (
      part.variable.name === 'TX' && part.key !== '' && !part.regex && part.key !== name.literal
    );
  });
}

/** As `assign`, `times` times. */
function assignTimes(bound: BoundAssignment, tx: Transaction, times: number): void {
  const { keyOf, op, value } = bound;
  const change = op === 'add' || op === 'subtract' ? addedBy(expandMacro(value, tx), op) : 0;
  const added = change * times;
  // Past that, sums are cut off at each step.
  if (op === 'set' || op === 'unset' || !Number.isSafeInteger(added)) {
    const runs = op === 'set' || op === 'unset' ? Math.min(times, 1) : times;
    for (let i = 0; i < runs; i++) assign(bound, tx);
    return;
  }
  if (times < 1) return;
  const key = keyOf(tx);
  const old = tx.tx.get(key);
  if (tx.tx.changes >= ruleRunLimits.variablesSetMax && old === undefined) return;
  tx.tx.set(key, applyCount(old, String(added), 'add'));
  if (bound.isScore) tx.scoreAdded += added;
}

/**
 * Whether a variable of TX sums up what rules add to the score of a request or an answer: CRS 4's
 * `inbound_anomaly_score_pl1`, CRS 3's `anomaly_score_pl1`.
 */
function isScoreName(name: ByteString): boolean {
  return /^(?:inbound_|outbound_)?anomaly_score(?:_pl\d)?$/.test(name);
}

function parseAssignment(
  argument: ByteString,
  context: BindContext,
): (Omit<Assignment, 'collection'> & { collection: string }) | null {
  const removes = argument.startsWith('!');
  const { left, right } = splitAssignment(removes ? argument.slice(1) : argument);
  const target = parseVariableName(left, context);
  if (!target) return null;
  const name = lowerLiterals(target.name);
  const sign = right?.charAt(0);
  const op = removes ? 'unset' : sign === '+' ? 'add' : sign === '-' ? 'subtract' : 'set';
  const text = op === 'add' || op === 'subtract' ? (right ?? '').slice(1) : (right ?? '1');
  return { collection: target.collection, name, op, value: context.parseMacros(text) };
}

function lowerLiterals(text: MacroText): MacroText {
  return {
    source: text.source,
    literal: text.literal === null ? null : internText(lowerBytes(text.literal)),
    parts: text.parts.map((part) => (typeof part === 'string' ? lowerBytes(part) : part)),
  };
}

/**
 * How a name is found. The same reference gives the same name: the arguments of a long list share
 * theirs, which may be of kilobytes.
 */
function keyReader(name: MacroText): (tx: Transaction) => ByteString {
  const { literal, parts } = name;
  if (literal !== null) return () => literal;
  const references = parts.filter((part) => typeof part === 'object');
  const [reference] = references;
  if (reference === undefined || references.length > 1) {
    return (tx) => lowerBytes(expandMacro(name, tx));
  }
  let lastText: ByteString | null = null;
  let lastKey = '';
  return (tx) => {
    const text = resolveReference(reference, tx);
    if (text === lastText) return lastKey;
    const key = lowerBytes(expandMacro(name, tx));
    if (text.length > ruleRunLimits.rememberedNameBytesMax) return key;
    lastText = text;
    return (lastKey = key);
  };
}

interface BoundAssignment {
  readonly collection: 'tx' | PersistentName;
  readonly keyOf: (tx: Transaction) => ByteString;
  readonly op: Op;
  readonly value: MacroText;
  /** What it adds is part of an anomaly score. */
  readonly isScore: boolean;
}

function assign(bound: BoundAssignment, tx: Transaction): void {
  const { collection, keyOf, op, value } = bound;
  const key = keyOf(tx);
  if (op === 'unset') {
    if (collection === 'tx') tx.tx.delete(key);
    else deleteStored(tx, collection, key);
    return;
  }
  const operand = expandMacro(value, tx);
  const result =
    op === 'set' ? operand : applyCount(readVariable(tx, collection, key), operand, op);
  const text = result.slice(0, ruleRunLimits.variableBytesMax);
  if (collection !== 'tx') {
    if (op === 'set') setStored(tx, collection, key, text);
    else addStored(tx, collection, key, addedBy(operand, op), text);
  } else if (tx.tx.changes < ruleRunLimits.variablesSetMax || tx.tx.get(key) !== undefined) {
    tx.tx.set(key, text);
    if (bound.isScore && op !== 'set') tx.scoreAdded += addedBy(operand, op);
  }
}

function addedBy(operand: ByteString, op: 'add' | 'subtract'): number {
  const change = Number(readInteger(operand));
  const bounded = Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, change));
  return op === 'add' ? bounded : -bounded;
}

function readVariable(
  tx: Transaction,
  collection: 'tx' | PersistentName,
  key: string,
): ByteString | undefined {
  if (collection === 'tx') return tx.tx.get(key);
  return tx.persistent.get(collection)?.values.get(key)?.value;
}

/**
 * The sum or difference of two texts read as integers; what is no number counts as 0.
 * Also for folding constant rules.
 */
export function applyCount(
  old: ByteString | undefined,
  operand: ByteString,
  op: 'add' | 'subtract',
): ByteString {
  const before = Number(readInteger(old ?? ''));
  const change = Number(readInteger(operand));
  const sum = op === 'add' ? before + change : before - change;
  const bounded = Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, sum));
  return String(bounded);
}
