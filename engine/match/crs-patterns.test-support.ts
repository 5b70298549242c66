/** The CRS patterns and values near them that the tests of this folder share. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';

const crsFolders = [
  join(process.env['WAF_CORPUS_DIR'] ?? join(process.cwd(), '..', 'shared'), 'crs/4.28.0/rules'),
  '/usr/share/modsecurity-crs/rules',
];

/** The @rx arguments of every rule file, quotes unescaped. */
export function crsPatterns(): string[] {
  const found = new Set<string>();
  for (const folder of crsFolders.filter((name) => existsSync(name))) {
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.conf'))) {
      const text = readFileSync(join(folder, file), 'latin1').replace(/\\\n\s*/g, '');
      for (const line of text.split('\n')) {
        if (!line.trimStart().startsWith('SecRule')) continue;
        const rule = /"!?@rx ((?:[^"\\]|\\[\s\S])*)"/.exec(line);
        if (rule?.[1] !== undefined && !rule[1].includes('%{')) {
          found.add(rule[1].replaceAll('\\"', '"'));
        }
      }
    }
  }
  return [...found];
}

/** Values that share many bytes with the pattern, so that matches and near misses are common. */
export function valueNear(pattern: string): fc.Arbitrary<string> {
  const words = pattern.split(/[^0-9A-Za-z_]+/).filter((word) => word !== '');
  const marks = [...pattern].filter((c) => !/[\w]/.test(c));
  const byte = fc.integer({ min: 0, max: 255 }).map((c) => String.fromCharCode(c));
  const part = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...words, 'a', 'select', '0') },
    { weight: 3, arbitrary: fc.constantFrom(...marks, ' ', '\n', '\x0b', '\x85', '\xa0', '\xe9') },
    { weight: 1, arbitrary: byte },
  );
  const cased = fc.tuple(part, fc.boolean()).map(([text, up]) => (up ? text.toUpperCase() : text));
  return fc
    .array(cased, { maxLength: 12 })
    .map((parts) => parts.join(''))
    .map((text) => text.replace(/[^\0-\xff]/g, 'x'));
}
