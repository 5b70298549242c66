/** The check that an expression has bounded quantifiers only. Never runs one. */

/** Whether every quantifier of an expression has an upper bound. */
export function isBounded(source: string): boolean {
  const bare = source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'c');
  return !/[*+]|\{\d{1,5},\}/.test(bare);
}
