/** Proves the transformations by ModSecurity's unit tables, and the door by its edges. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskOfValue } from './byte-class.ts';
import {
  setUnicodeMap,
  fillersRemovedId,
  transformationIds,
  transformationNames,
  transformationTriggers,
  transformBytes,
  transformChainText,
  transformText,
} from './transformations.ts';
import type { TransformationName } from './transformations.ts';

const corpusDir = process.env['WAF_CORPUS_DIR'] ?? join(process.cwd(), '..', 'shared');
const corpusFile = [corpusDir, join(corpusDir, 'corpus')]
  .map((folder) => join(folder, 'seclang-units.jsonl'))
  .find((file) => existsSync(file));

interface UnitCase {
  readonly kind: string;
  readonly name: string;
  readonly title: string;
  readonly input_b64: string;
  readonly output_b64: string;
}

/** Cases whose bytes the corpus itself does not vouch for. */
const deviations: ReadonlyMap<string, string> = new Map([
  ['tfn/cssDecode/60eccd5e5dac', 'json_nul: the source has \\0, the C runner cut the raw NUL'],
  [
    'tfn/escapeSeqDecode/41914a80c38c',
    'ambiguous_escape: \\xag and \\xga may be one byte or three',
  ],
]);

const run = (name: TransformationName, value: string): string =>
  transformText(transformationIds[name], value);

describe('transformations', () => {
  test('give what the unit tables of ModSecurity expect', () => {
    if (corpusFile === undefined) {
      console.log('skipped: no corpus');
      return;
    }
    const cases = readFileSync(corpusFile, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as UnitCase)
      .filter(({ kind }) => kind === 'transformation');
    const failed = cases.filter(({ name, input_b64, output_b64 }) => {
      const key = name === 'cmd_line' ? 'cmdLine' : name;
      const input = Buffer.from(input_b64, 'base64').toString('latin1');
      const wanted = Buffer.from(output_b64, 'base64').toString('latin1');
      return run(key as TransformationName, input) !== wanted;
    });
    const unexplained = failed.filter(({ title }) => !deviations.has(title));
    console.log(`${cases.length} cases, ${failed.length} listed deviations`);
    expect(unexplained.map(({ title }) => title)).toEqual([]);
    expect(cases.length).toBeGreaterThan(200);
  });

  test('have the numbers that the addon has', () => {
    const byNumber = Object.entries(transformationIds).filter(([name]) => !name.includes('alise'));
    const named = transformationNames.toSpliced(fillersRemovedId, 1);
    expect(transformationNames[fillersRemovedId]).toBe('fillersRemoved');
    expect(byNumber.map(([name]) => name)).toEqual(named);
    expect(byNumber.map(([, id]) => id)).toEqual([...named.keys()]);
    expect(transformationIds.normalisePathWin).toBe(transformationIds.normalizePathWin);
  });

  // Where the unit tables are silent: best fit, limits of escapes, unterminated comments.
  test.each<[TransformationName, string, string]>([
    ['base64Decode', 'QUJD', 'ABC'],
    ['base64Decode', 'QUI=', 'AB'],
    ['base64Decode', 'QU\r\nJD', 'ABC'],
    ['base64Decode', 'QUJD!', ''],
    ['base64Decode', 'QUJDQ', 'ABC'],
    ['base64DecodeExt', 'Q-_D', 'C\xef\xc3'],
    ['base64DecodeExt', 'QUJD9', 'ABC'],
    ['base64DecodeExt', 'Q=', ''],
    ['cmdLine', 'C^M"D\\.E\'XE  ,;/c\tDIR (x', 'cmd.exe/c dir(x'],
    ['cssDecode', 'a\\0 b\\00ff41\\', 'a\0b\x61'],
    ['hexDecode', '4142zz', 'AB\x53'],
    ['htmlEntityDecode', '&lt&#x3C;&#60&NBSP;&apos;&#99999999999999999999;', '<<<\xa0&apos;\xff'],
    ['htmlEntityDecode', '&#;&#x;&', '&#;&#x;&'],
    ['jsDecode', '\\uff41\\u0041\\x4\\777\\', 'aAx4?7\\'],
    ['length', '', '0'],
    ['lowercase', 'AZ\xc9', 'az\xc9'],
    ['normalizePath', '/a/../../b/./c//d/..', '/b/c'],
    ['normalizePathWin', 'a\\/b/\\c\\..\\d', 'a/b/d'],
    ['removeComments', 'a/*b', 'a '],
    ['removeComments', 'a--b', 'a'],
    ['removeCommentsChar', '<!--a-->b--c#d', 'abcd'],
    ['removeWhitespace', 'a\xc2\xa0 b', 'ab'],
    ['replaceComments', 'a/*b', 'a '],
    ['sqlHexDecode', '0x414243g0X4', 'ABCg0X4'],
    ['urlDecodeUni', '%uff1cscript%u003e+%U0041%u00', '<script> A%u00'],
    ['utf8toUnicode', '\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc3(', '%u00e9%u20ac%u1f600('],
  ])('%s of %j', (name, value, wanted) => {
    expect(run(name, value)).toBe(wanted);
  });

  test('urlDecodeUni uses the map of the call, else of the thread, else best fit', () => {
    const map = new Uint8Array(65536);
    map[0x2039] = 0x3c;
    const id = transformationIds.urlDecodeUni;
    expect(transformText(id, '%u2039')).toBe('9');
    expect(transformText(id, '%u2039', map)).toBe('<');
    setUnicodeMap(map);
    expect(transformText(id, '%u2039%u0041')).toBe('<A');
    setUnicodeMap(null);
    expect(transformText(id, '%u2039')).toBe('9');
    expect(() => setUnicodeMap(new Uint8Array(3))).toThrow(TypeError);
  });

  test('chains run in order, over text and bytes', () => {
    const ids = Uint8Array.of(transformationIds.urlDecode, transformationIds.lowercase);
    expect(transformChainText(ids, '%41%2542')).toBe('a%42');
    const bytes = Buffer.from('unchanged');
    expect(transformBytes(transformationIds.lowercase, bytes)).toBe(bytes);
    expect([...transformBytes(transformationIds.uppercase, Uint8Array.of(0x61))]).toEqual([0x41]);
    expect(() => transformText(99, 'a')).toThrow(TypeError);
  });

  test('change nothing without a trigger and stay within their output bound', () => {
    const any = fc.uint8Array({ maxLength: 40 }).map((b) => Buffer.from(b).toString('latin1'));
    const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
    console.log(`seed ${seed}`);
    fc.assert(
      fc.property(fc.constantFrom(...transformationNames.keys()), any, (id, value) => {
        const output = transformText(id, value);
        expect(output.length).toBeLessThanOrEqual(value.length * 4 + 24);
        const trigger = transformationTriggers[id] ?? -1;
        const possible = trigger === -1 || (maskOfValue(value) & trigger) !== 0;
        if (!possible) expect(output).toBe(value);
      }),
      { seed, numRuns: 3000 },
    );
  });
});
