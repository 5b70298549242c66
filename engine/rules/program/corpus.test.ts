/** Links the rule sets in use against the full catalog. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fullCatalog } from '../features/full-catalog.ts';
import { formatDiagnostic } from '../language/diagnostic.ts';
import { loadSourceSet, type SourceFile } from '../language/include.ts';
import { buildProgram, closeProgram } from './build-program.ts';

const root = process.env['WAF_CORPUS_DIR'] ?? join(import.meta.dirname, '../../../../shared');

function readFolder(folder: string): SourceFile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.conf'))
    .sort()
    .map((name) => readFile(join(folder, name)));
}

function readFile(path: string): SourceFile {
  return { path, text: readFileSync(path, 'latin1') };
}

function readDataFile(name: string, fromFile: string): string | null {
  const path = join(dirname(fromFile), name);
  return existsSync(path) ? readFileSync(path, 'latin1') : null;
}

const crs4 = join(root, 'crs/4.28.0');
const crs3 = '/usr/share/modsecurity-crs/rules';
const sets = [
  {
    name: 'CRS 4.28.0',
    there: existsSync(crs4),
    roots: () => [
      readFile(join(crs4, 'crs-setup.conf.example')),
      ...readFolder(join(crs4, 'rules')),
    ],
    rules: 600,
  },
  {
    name: 'CRS 3.3.4',
    there: existsSync(crs3),
    roots: () => [readFile('/etc/modsecurity/crs/crs-setup.conf'), ...readFolder(crs3)],
    rules: 700,
  },
  {
    name: 'modsecurity.conf-recommended',
    there: existsSync('/etc/modsecurity/modsecurity.conf-recommended'),
    roots: () => [readFile('/etc/modsecurity/modsecurity.conf-recommended')],
    rules: 6,
  },
];

describe('real rule sets link', () => {
  for (const { name, there, roots, rules } of sets) {
    if (!there) console.log(`skipped: no corpus (${name})`);

    it.skipIf(!there)(name, () => {
      const set = loadSourceSet(roots(), () => []);
      const { program, diagnostics } = buildProgram(set, fullCatalog, readDataFile);
      const unexpected = diagnostics.filter(({ code }) => !/^(?:ignored|mapped)-/.test(code));
      expect(unexpected.map(formatDiagnostic)).toEqual([]);
      expect(program?.rules.length).toBeGreaterThanOrEqual(rules);
      if (program !== null) closeProgram(program);
    });
  }
});
