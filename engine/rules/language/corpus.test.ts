/** Runs the parser over the rule sets in use; they are not copied here. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatDiagnostic } from './diagnostic.ts';
import { loadSourceSet, type SourceFile } from './include.ts';
import { parseSecLang } from './parse.ts';
import { formatDirective } from './print.ts';
import { withoutSpans } from './without-spans.ts';

const root = process.env['WAF_CORPUS_DIR'] ?? join(import.meta.dirname, '../../../../shared');
const ruleSets = [
  { name: 'CRS 4.28.0', folder: join(root, 'crs/4.28.0/rules'), least: 600 },
  { name: 'CRS 4.28.0 setup', folder: join(root, 'crs/4.28.0'), least: 2 },
  { name: 'CRS 3.3.4', folder: '/usr/share/modsecurity-crs/rules', least: 700 },
  { name: 'CRS 3.3.4 setup', folder: '/etc/modsecurity/crs', least: 2 },
  { name: 'modsecurity.conf', folder: '/etc/modsecurity', least: 30 },
];

function readFolder(folder: string): SourceFile[] {
  return readdirSync(folder)
    .filter((name) => /\.conf(?:\.example|-recommended)?$/.test(name))
    .sort()
    .map((name) => ({
      path: join(folder, name),
      text: readFileSync(join(folder, name), 'latin1'),
    }));
}

describe('real rule sets', () => {
  for (const { name, folder, least } of ruleSets) {
    const there = existsSync(folder) && readFolder(folder).length > 0;
    if (!there) console.log(`skipped: no corpus (${name})`);

    it.skipIf(!there)(`parses ${name} without a diagnostic`, () => {
      const set = loadSourceSet(readFolder(folder), () => []);
      expect(set.diagnostics.map(formatDiagnostic)).toEqual([]);
      expect(set.directives.length).toBeGreaterThanOrEqual(least);
    });

    it.skipIf(!there)(`prints ${name} so that it parses to the same tree`, () => {
      for (const directive of loadSourceSet(readFolder(folder), () => []).directives) {
        const printed = formatDirective(directive);
        const again = parseSecLang(printed, 'printed');
        expect([printed, again.diagnostics]).toEqual([printed, []]);
        expect(again.directives.map(withoutSpans)).toEqual([withoutSpans(directive)]);
      }
    });
  }

  it('follows the Includes of a Debian installation', () => {
    const load = '/usr/share/modsecurity-crs/owasp-crs.load';
    if (!existsSync(load)) return console.log('skipped: no corpus');
    const text = readFileSync(load, 'latin1');
    const set = loadSourceSet([{ path: load, text }], (pattern) => {
      const files = readFolder(dirname(pattern));
      return pattern.includes('*') ? files : files.filter((file) => file.path === pattern);
    });
    expect(set.diagnostics).toEqual([]);
    expect(set.files.length).toBeGreaterThan(25);
  });
});
