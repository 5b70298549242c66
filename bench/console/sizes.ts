/** How many bytes the start of the console and each page are, compressed by gzip. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The bytes of a page's own code: what is loaded beside the start. */
export interface PageSize {
  readonly page: string;
  readonly bytes: number;
}

/** Sizes of the built console in a folder. Errors: it holds no start. */
export function sizesOf(folder: string): { start: number; pages: readonly PageSize[] } {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const main = names.find((name) => name.startsWith('main-'));
  if (main === undefined) throw new Error(`${folder} holds no start of the console`);
  const start = withImports(folder, main);
  const bytesOf = (some: Iterable<string>): number =>
    [...some].reduce((sum, name) => sum + statSync(join(folder, `${name}.gz`)).size, 0);
  const styles = readdirSync(folder).filter((name) => /\.(?:css|html)$/.test(name));
  const pages = names
    .filter((name) => !/^(?:chunk|main)-|_pb-/.test(name))
    .map((name) => ({
      page: name.replace(/-\w+\.js$/, ''),
      bytes: bytesOf([...withImports(folder, name)].filter((one) => !start.has(one))),
    }));
  return { start: bytesOf([...start, ...styles]), pages };
}

/** A file and all that it imports before it runs. */
function withImports(folder: string, name: string): ReadonlySet<string> {
  const found = new Set([name]);
  for (const one of found) {
    const text = readFileSync(join(folder, one), 'utf8');
    for (const [, next] of text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g))
      found.add(next!);
  }
  return found;
}
