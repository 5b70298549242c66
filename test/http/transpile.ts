/**
 * Entries of threads that tests start: a module of the product as it is compiled, or one of the
 * tests', joined with all that it imports. A thread that loads 300 files costs a third of a second.
 */

import { mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

/**
 * Says where the compiled form of `entry` (relative to `root`) is, and a fresh temporary folder
 * that the caller removes; it holds what was joined for an entry of `test/`.
 */
export async function transpileTree(
  root: string,
  entry: string,
): Promise<{ url: URL; folder: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'threads-'));
  if (!entry.startsWith('test/')) return { url: compiledForm(root, entry), folder };
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const outfile = path.join(folder, 'entry.mjs');
  await build({
    entryPoints: [path.join(root, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    plugins: [ownPlaces(root)],
    logLevel: 'silent',
  });
  return { url: pathToFileURL(outfile), folder };
}

function compiledForm(root: string, file: string): URL {
  return pathToFileURL(path.resolve(root, '.build', file.replace(/\.[jt]s$/, '.js')));
}

/** Modules of the product find their files and the addon from where they are compiled to. */
function ownPlaces(root: string): Plugin {
  return {
    name: 'own-places',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
        const source = readFileSync(file, 'utf8');
        if (!source.includes('import.meta.url')) return null;
        const place = JSON.stringify(compiledForm(root, path.relative(root, file)).href);
        return { contents: source.replaceAll('import.meta.url', place), loader: 'ts' };
      });
    },
  };
}
