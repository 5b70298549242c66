/**
 * Gives tests the product as it is compiled: what `npm start` runs, natively imported, is what
 * tests see, and no file of it is compiled again for a test.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';

const root = path.join(import.meta.dirname, '..', '..');

/** Resolves modules of the product, which tests import as TypeScript, to their compiled copies. */
export function compiledProduct(): Plugin {
  return {
    name: 'compiled-product',
    enforce: 'pre',
    resolveId(source, importer) {
      if (importer === undefined || !source.startsWith('.') || !source.endsWith('.ts')) return null;
      const target = path.resolve(path.dirname(importer), source);
      const compiled = path.join(
        root,
        '.build',
        path.relative(root, target).replace(/\.ts$/, '.js'),
      );
      return existsSync(compiled) ? compiled : null;
    },
  };
}
