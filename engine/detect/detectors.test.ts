/** Tests every detector on its own examples, and that all of them keep the form of the list. */

import { describe, expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { encodeUtf8 } from '../../base/byte-string.ts';
import { detectText } from './detect.ts';
import { detectorIds } from './detector.ts';
import { detectors, families } from './list.ts';
import { beginsLookingBack, isBounded } from './bounded-pattern.test-support.ts';
import type { PatternFamily } from './patterns.ts';

const idsIn = (text: string): number[] =>
  detectText(text).flatMap(({ hits }) => hits.map(({ id }) => id));
const rows = detectors.map((one) => [one.name, one] as const);

describe('detectors', () => {
  test('ids are unique and in their range, names are unique', () => {
    expect(detectors.length).toBeGreaterThan(10);
    expect(new Set(detectors.map(({ id }) => id)).size).toBe(detectors.length);
    expect(new Set(detectors.map(({ name }) => name)).size).toBe(detectors.length);
    const { first, last } = detectorIds;
    expect(detectors.filter(({ id }) => id < first || id > last)).toEqual([]);
  });

  test.each(rows)('%s finds its attacks', (_name, detector) => {
    const { attacks } = detector.examples;
    expect(attacks.length).toBeGreaterThan(0);
    expect(attacks.filter((text) => !idsIn(text).includes(detector.id))).toEqual([]);
  });

  test.each(rows)('%s finds nothing in what is similar', (_name, detector) => {
    const { benign } = detector.examples;
    expect(benign.length).toBeGreaterThan(0);
    expect(benign.filter((text) => idsIn(text).includes(detector.id))).toEqual([]);
  });

  test.each([
    [
      198_435,
      "require('child_process').exec('git status', print)\n",
      "require('vm').runInNewContext(x)",
    ],
    [198_451, "In PHP, echo $_GET['name']; prints it.\n", "eval($_POST['x'])"],
  ])('%i finds an attack after any number of harmless matches', (id, harmless, attack) => {
    for (const times of [1, 16, 17, 60, 128, 129, 300]) {
      expect(idsIn(harmless.repeat(times) + attack), String(times)).toContain(id);
    }
    expect(idsIn(harmless.repeat(60))).not.toContain(id);
  });

  test('an address is found after any number of plain ones', () => {
    const { id } = detectors.find(({ name }) => name === 'disguised-address')!;
    for (const times of [1, 16, 17, 300]) {
      expect(idsIn(`${'see //files.example/a '.repeat(times)}http://2130706433/`)).toContain(id);
    }
  });

  test('hits are inside their leaf, and leaves have a path', () => {
    for (const { examples } of detectors) {
      for (const text of examples.attacks) {
        for (const leaf of detectText(text)) {
          expect(leaf.path.startsWith('value')).toBe(true);
          for (const { start, end } of leaf.hits) {
            expect(start).toBeGreaterThanOrEqual(0);
            expect(end).toBeGreaterThanOrEqual(start);
            expect(end).toBeLessThanOrEqual(leaf.bytes.length);
          }
        }
      }
    }
  });
});

describe('hard benign texts', () => {
  const lines = readFileSync('engine/detect/benign.jsonl', 'utf8').trim().split('\n');
  const strong = new Set(
    detectors.filter((one) => one.strong && one.variables === undefined).map(({ id }) => id),
  );

  test('no strong detector finds anything in them', () => {
    expect(lines.length).toBeGreaterThan(300);
    const texts = lines.map((line) => JSON.parse(line) as string);
    const found = texts.filter((text) => idsIn(encodeUtf8(text)).some((id) => strong.has(id)));
    expect(found).toEqual([]);
  });
});

describe('expressions', () => {
  const patterns = families.flatMap((family) =>
    'patterns' in family ? (family as PatternFamily).patterns : [],
  );

  test.each(patterns.map(({ name, pattern }) => [name, pattern] as const))(
    '%s repeats nothing without a bound',
    (_name, pattern) => {
      expect(pattern.flags).toMatch(/^gi?$/);
      expect(isBounded(pattern.source)).toBe(true);
      // At every byte of a text it would look back at as many bytes as the repetition allows.
      expect(beginsLookingBack(pattern.source)).toBe(false);
    },
  );

  test('an expression without a bound is found', () => {
    expect(['(?<!a{0,9})b', '(?<=\\([^()]{0,9})b'].every(beginsLookingBack)).toBe(true);
    expect(['b(?<!a{0,9})', '(?<!a|b)c{2}', '(?=b)(?<!a{0,9})'].some(beginsLookingBack)).toBe(
      false,
    );
    expect(['a*', 'a+', 'a{2,}', '(?:b+)'].filter(isBounded)).toEqual([]);
    expect(['a{0,9}', '[*+]', '\\*\\+', 'a{3}', '\\{2,}'].every(isBounded)).toBe(true);
  });
});

test.each([
  ['headers.referer', []],
  ['headers.origin', []],
  ['args.redirect_uri', []],
  ['args.post_logout_redirect_uri', []],
  ['args.redirectUrl', []],
  ['args.url', [198_540]],
  ['headers.x-url', [198_540]],
  ['args.not_a_redirect_urix', [198_540]],
] as const)('the loopback address in %s is found as %j', (path, ids) => {
  const found = detectText('http://127.0.0.1:51004/cb', path).flatMap(({ hits }) =>
    hits.map(({ id }) => id),
  );
  expect(found).toEqual(ids);
});
