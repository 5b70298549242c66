/** How many of something, in words: `1 request`, `3 requests`. */

/** The count and the noun in its number; `several` for nouns that take more than an s. */
export function counted(count: number | bigint, one: string, several = `${one}s`): string {
  return `${count} ${Number(count) === 1 ? one : several}`;
}
