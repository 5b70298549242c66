/**
 * Owns the translation of a TypeScript module and what it imports, for threads started by tests.
 */

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

/**
 * Translates `entry` (relative to `root`) and its relative imports into a fresh folder under
 * `.cache`, where the native addon is found as usual. Says where the entry is, and the folder.
 */
export function transpileTree(root: string, entry: string): { url: URL; folder: string } {
  const cache = path.join(root, '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(path.join(cache, 'threads-'));
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  const seen = new Set<string>();
  const queue = [entry];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const { outputText } = ts.transpileModule(readFileSync(path.join(root, file), 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    });
    const target = path.join(folder, file.replace(/\.ts$/, '.js'));
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, outputText);
    for (const [, source] of outputText.matchAll(/from\s+['"](\.[^'"]+)\.js['"]/g)) {
      queue.push(path.join(path.dirname(file), `${source}.ts`));
    }
  }
  const url = pathToFileURL(path.join(folder, entry.replace(/\.ts$/, '.js')));
  return { url, folder };
}
