/** Checks of what an expression costs: that it repeats within bounds. Never runs one. */

/** Whether every quantifier of an expression has an upper bound. */
export function isBounded(source: string): boolean {
  return !/[*+]|\{\d{1,5},\}/.test(bareOf(source));
}

/** Whether an expression begins with a repetition before its match, tried at every byte. */
export function beginsLookingBack(source: string): boolean {
  return /^\(\?<[!=][^()]*\{/.test(bareOf(source));
}

/** Without escapes and classes, which may hold signs of an expression. */
function bareOf(source: string): string {
  return source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'c');
}
