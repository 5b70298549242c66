/** Where the entries of threads are, compiled or not. */

/** The entry with this name. */
export function threadEntry(name: string): URL {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return new URL(`./${name}${ending}`, import.meta.url);
}
