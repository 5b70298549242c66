/**
 * Takes signs out that are ordinary content of their value, and says which values show signs that
 * prove nothing alone. Never weighs a sign.
 */

import type { RequestContent, ValueSigns } from '../../contract/detection-content.ts';
import type { Sign, SignFacts } from '../score.ts';
import { contentName, namesValue } from './content-name.ts';
import { familyOfSign } from './sign-family.ts';

/** A leaf by the name of its value. */
interface NamedLeaf {
  readonly name: string;
}

/** Values of one request that are reported. */
export const reportedValuesMax = 8;

/**
 * The signs that count. A family that was learned is content only where nothing in the value proves
 * an attack; in a field of an application it always is. Cost: linear in signs and rules.
 */
export function countedSigns(
  signs: readonly Sign[],
  leaves: readonly NamedLeaf[],
  content: readonly RequestContent[],
  facts: SignFacts,
): readonly Sign[] {
  if (content.length === 0 || signs.length === 0) return signs;
  const proven = provenNames(signs, leaves, facts);
  return signs.filter(({ id, leaf }) => {
    const name = contentName(leaves[leaf]!.name);
    const rules = content.filter((one) => namesValue(one.name, name));
    if (rules.length === 0) return true;
    const family = familyOfSign(id, facts);
    return !rules.some((rule) => rule.family === family && (rule.strong || !proven.has(name)));
  });
}

/**
 * Values with signs, by family. Null where a sign proves an attack: such a request shows nothing of
 * what is ordinary.
 */
export function weakSigns(
  signs: readonly Sign[],
  leaves: readonly NamedLeaf[],
  facts: SignFacts,
  hasPoints: (id: number) => boolean,
): readonly ValueSigns[] | null {
  const found = new Map<string, ValueSigns>();
  let lastId = 0;
  let lastLeaf = -1;
  for (const { id, leaf } of signs) {
    // Signs of one leaf follow each other.
    if (id === lastId && leaf === lastLeaf) continue;
    lastId = id;
    lastLeaf = leaf;
    if (facts.isStrong(id)) return null;
    const family = familyOfSign(id, facts);
    if (family === null || !hasPoints(id) || found.size >= reportedValuesMax) continue;
    const name = contentName(leaves[leaf]!.name);
    found.set(`${family} ${name}`, { name, family });
  }
  return [...found.values()];
}

function provenNames(
  signs: readonly Sign[],
  leaves: readonly NamedLeaf[],
  facts: SignFacts,
): ReadonlySet<string> {
  const proving = signs.filter(({ id }) => facts.isStrong(id));
  return new Set(proving.map(({ leaf }) => contentName(leaves[leaf]!.name)));
}
