/** Lists the files that the tidy tests read: every hand-written source. */

import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

const folders = 'base engine control native-bindings bench test proto deploy'.split(' ');
const generated = /^proto\/gen\//;

/** One source file: path from the root, and its lines. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
}

/** Hand-written files whose names end in one of `extensions`; generated ones are left out. */
export function readSources(...extensions: string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    filesBelow(join(root, folder))
      .map((path) => relative(root, path))
      .filter((path) => extensions.some((end) => path.endsWith(end)) && !generated.test(path))
      .map((path) => {
        const text = readFileSync(join(root, path), 'utf8');
        return { path, text, lines: text.split('\n') };
      }),
  );
}

function filesBelow(folder: string): string[] {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path);
    return [path];
  });
}
