/**
 * Which findings of detectors are signs: the rules of a policy decide which detectors look at which
 * values, and an address of the request's own host is none. Never weighs a sign.
 */

import type { DetectedLeaf, Detection } from '../../detect/detection.ts';
import type { Sign } from '../../detect/score.ts';
import { nameIs } from '../transaction/ascii.ts';
import { isExcluded, isRuleRemoved, removedTargetsOf } from '../transaction/removal.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { Rule } from '../transaction/types.ts';
import { SOURCE } from '../transaction/values.ts';

/** The rules that stand for detectors, by id. */
export type DetectorRules = ReadonlyMap<number, Rule>;

/** A leaf that signs are in. */
export interface SignedLeaf {
  /** As rules name its value: `ARGS:q`. */
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Rules of the ruleset do not see it. */
  readonly opened: boolean;
}

/** Adds what detectors found in a leaf, where the policy has them look at its value. */
export function addSigns(
  signs: Sign[],
  { hits, bytes }: DetectedLeaf,
  leaf: number,
  name: string,
  tx: Transaction,
  detection: Detection,
  detectors: DetectorRules,
): void {
  for (const { id, start, end } of hits) {
    const rule = detectors.get(id);
    if (rule === undefined || !looksAt(rule, name, tx)) continue;
    if (detection.findsAddresses(id) && isOwnAddress(bytes, start, tx)) continue;
    signs.push({ id, leaf, start, end });
  }
}

/** False where an exclusion takes the value, or the whole detector, out. */
function looksAt(rule: Rule, name: string, tx: Transaction): boolean {
  if (isRuleRemoved(rule, tx)) return false;
  const colon = name.indexOf(':');
  const variable = colon < 0 ? name : name.slice(0, colon);
  const key = colon < 0 ? '' : name.slice(colon + 1);
  const target = rule.targets.find((one) => one.variable.name === variable);
  if (target === undefined) return false;
  if (isExcluded(rule.exclusions, target, key)) return false;
  return !isExcluded(removedTargetsOf(rule, tx), target, key);
}

/** Bytes in which the host of a URL begins. */
const addressBytesMax = 300;

/** Whether a URL that begins at an offset is one of the host that the request names. */
function isOwnAddress(bytes: Uint8Array, start: number, tx: Transaction): boolean {
  const host = hostOf(tx);
  if (host === '') return false;
  const text = latin1Of(bytes.subarray(start, start + addressBytesMax)).toLowerCase();
  const at = text.indexOf('//');
  if (at < 0 || !text.startsWith(host, at + 2)) return false;
  return /^(?:[/?#\s"'&]|$)/.test(text.slice(at + 2 + host.length));
}

function hostOf({ values }: Transaction): string {
  const { slab, start, end, keyStart, keyEnd } = values;
  for (const row of values.rowsOf(SOURCE.requestHeader)) {
    if (!nameIs(slab, keyStart[row]!, keyEnd[row]!, 'host')) continue;
    return latin1Of(slab.subarray(start[row]!, end[row]!)).toLowerCase();
  }
  return '';
}

/** Bytes as a byte string. */
export function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
