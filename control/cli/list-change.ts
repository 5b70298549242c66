/**
 * Changes lists of a resource by flags: named items are added, unless --replace or --remove is
 * given. A note names every removed item.
 */

import type { FlagDefinition, FlagValues } from './command.ts';
import { switchFlag } from './command.ts';
import { badFlag } from './input.ts';
import type { Output } from './output.ts';

/** What happens to the lists that flags name. */
export type ListMode = 'add' | 'replace' | 'remove';

/** Flags of every command that changes a list. */
export const listChangeFlags: readonly FlagDefinition[] = [
  { flags: '--replace', summary: 'replace the lists with the named items' },
  { flags: '--remove', summary: 'remove the named items' },
];

/** What the flags ask for; added is the rule. Errors: AppError bad_flag for both. */
export function listMode(flags: FlagValues): ListMode {
  const [replace, remove] = [switchFlag(flags, 'replace'), switchFlag(flags, 'remove')];
  if (replace && remove) throw badFlag('--replace and --remove exclude each other');
  return remove ? 'remove' : replace ? 'replace' : 'add';
}

/**
 * The list after the change. An item that is there already keeps its place; one that says more of
 * the same thing (`keyOf`) takes its place. Errors: AppError bad_flag for removing what is not
 * there.
 */
export function changeList<T>(
  mode: ListMode,
  present: readonly T[],
  named: readonly T[],
  flag: string,
  keyOf: (item: T) => string = String,
): T[] {
  if (mode === 'replace') return [...named];
  const byKey = new Map(named.map((item) => [keyOf(item), item]));
  if (mode === 'add') {
    const known = new Set(present.map(keyOf));
    const added = [...byKey].filter(([key]) => !known.has(key)).map(([, item]) => item);
    return [...present.map((item) => byKey.get(keyOf(item)) ?? item), ...added];
  }
  const left = new Set(byKey.keys());
  for (const item of present) left.delete(keyOf(item));
  const [missing] = left;
  if (missing === undefined) return present.filter((item) => !byKey.has(keyOf(item)));
  const there = present.map(keyOf).join(', ') || 'none';
  throw badFlag(`${flag} ${missing}: it is not there; there are: ${there}`);
}

/** The map after the change; a pair of the same name is changed. Errors: as changeList. */
export function changePairs(
  mode: ListMode,
  present: Readonly<Record<string, string>>,
  named: Readonly<Record<string, string>>,
  flag: string,
): Record<string, string> {
  const pairs = changeList(mode, Object.entries(present), Object.entries(named), flag, first);
  return Object.fromEntries(pairs);
}

/** Says what a change took away. */
export function noteChange<T>(
  output: Output,
  what: string,
  present: readonly T[],
  after: readonly T[],
  keyOf: (item: T) => string = String,
): void {
  const later = new Set(after.map(keyOf));
  const gone = present.map(keyOf).filter((key) => !later.has(key));
  if (gone.length > 0) output.note(`${what}: ${gone.join(', ')}`);
}

function first([name]: readonly [string, string]): string {
  return name;
}
