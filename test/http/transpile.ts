/**
 * Entries of threads that tests start: a module of the product as it is compiled, or one of the
 * tests', translated, which imports the compiled product.
 */

import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

const imported = /^(import\b[^'"]*|export\b[^'"]*\bfrom\s*)(['"])(\.[^'"]+)\2/gm;

/**
 * Says where the compiled form of `entry` (relative to `root`) is, and a fresh temporary folder
 * that the caller removes; it holds what was translated of `test/`.
 */
export function transpileTree(root: string, entry: string): { url: URL; folder: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'threads-'));
  // What was translated imports packages, too.
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const placeOf = (file: string): URL => {
    const compiled = file.replace(/\.[jt]s$/, '.js');
    return pathToFileURL(path.resolve(root, isOfTests(file) ? folder : '.build', compiled));
  };
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  const seen = new Set<string>();
  const queue = [entry];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file) || !isOfTests(file)) continue;
    seen.add(file);
    const { outputText } = ts.transpileModule(readFileSync(path.join(root, file), 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      },
    });
    const here = path.dirname(file);
    const text = outputText.replace(imported, (_, before: string, quote: string, name: string) => {
      const wanted = path.join(here, name);
      queue.push(wanted);
      return `${before}${quote}${placeOf(wanted).href}${quote}`;
    });
    const target = placeOf(file);
    mkdirSync(path.dirname(target.pathname), { recursive: true });
    writeFileSync(target, text);
  }
  return { url: placeOf(entry), folder };
}

function isOfTests(file: string): boolean {
  return file.startsWith('test/');
}
