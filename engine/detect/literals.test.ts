/**
 * Tests that a search which is left out for its literals would find nothing: whatever an expression
 * matches has the bits that the scan gives it. The corpus is made from the expressions themselves.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromByteString } from '../../base/byte-string.ts';
import { detectors, families } from './list.ts';
import { apart, literalAutomaton, words } from './literals.ts';
import { keepFound, OPENS, opensOf, scanBytes, scanned, scanText } from './leaf-scan.ts';
import type { PatternFamily } from './patterns.ts';
import { soaks } from '../../test/support/soak.ts';

const numRuns = soaks ? 5_000 : 150;

const rows = families.flatMap((family, word) => {
  if (!('patterns' in family)) return [];
  const { patterns } = family as PatternFamily;
  return patterns.map((row, bit) => [row.name, { row, word, bit }] as const);
});

/** Without assertions: what it matches may match the expression, which is asked then. */
function withoutAssertions(source: string): string {
  let out = '';
  for (let at = 0; at < source.length; at++) {
    const look = /^\(\?<?[=!]/.exec(source.slice(at, at + 4));
    const char = source[at]!;
    if (look !== null) at = groupEnd(source, at);
    else if (char === '\\' && /[bB]/.test(source[at + 1]!)) at++;
    else if (char === '\\') out += char + source[++at]!;
    else if (char === '[') {
      const end = classEnd(source, at);
      out += source.slice(at, end + 1);
      at = end;
    } else if (char !== '^' && char !== '$') out += char;
  }
  return out.replaceAll('\\0', '\\x00');
}

function groupEnd(source: string, open: number): number {
  let depth = 0;
  for (let at = open; ; at++) {
    const char = source[at];
    if (char === undefined) throw new Error(`${source}: a group does not end`);
    if (char === '\\') at++;
    else if (char === '[') at = classEnd(source, at);
    else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return at;
  }
}

function classEnd(source: string, open: number): number {
  let at = open + 1;
  while (source[at] !== ']') at += source[at] === '\\' ? 2 : 1;
  return at;
}

const flips = fc.array(fc.boolean(), { minLength: 8, maxLength: 8 });
const around = fc.constantFrom('', ' ', '/', ';', '"', "'", '\n', '&', 'a', '\0', '\xa0', '../');

/** Bytes that an expression may match, letters in either case where case does not count. */
function textsOf(pattern: RegExp): fc.Arbitrary<string> {
  const inside = fc.stringMatching(new RegExp(withoutAssertions(pattern.source)), {
    size: 'small',
  });
  return fc.tuple(around, inside, around, flips).map(([before, text, after, flip]) => {
    const bytes = [...text].map((char, at) => {
      const byte = String.fromCharCode(char.charCodeAt(0) & 255);
      if (!pattern.flags.includes('i') || !flip[at % 8]!) return byte;
      const other = byte === byte.toLowerCase() ? byte.toUpperCase() : byte.toLowerCase();
      return other.length === 1 && other.charCodeAt(0) < 256 ? other : byte;
    });
    return `${before}${bytes.join('')}${after}`;
  });
}

describe('literals of detectors', () => {
  let matched = 0;

  test.each(rows)(
    '%s holds one of its literals wherever it matches',
    (_name, { row, word, bit }) => {
      const attacks = row.examples.attacks.map((text) => [text] as [string]);
      fc.assert(
        fc.property(textsOf(row.pattern), (text) => {
          row.pattern.lastIndex = 0;
          if (!row.pattern.test(text)) return;
          matched++;
          scanText(text);
          expect(scanned.found[word]! & (1 << bit)).not.toBe(0);
          if (row.needsOne !== undefined) expect(scanned.seen & row.needsOne).not.toBe(0);
        }),
        { numRuns, examples: attacks },
      );
    },
  );

  test('texts made from the expressions do match them', () => {
    expect(matched).toBeGreaterThan(rows.length * 40);
  });
});

describe('a scan', () => {
  const texts = fc.oneof(
    fc.constantFrom(...detectors.flatMap(({ examples }) => examples.attacks)),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc
      .array(
        fc.constantFrom('0x2', '0X5f', '\\u', '\\x41', 'basic ', 'Bearer ', 'eyJh', 'Ab0/-_'),
        {
          maxLength: 12,
        },
      )
      .map((list) => list.join('')),
  );

  test('sees in bytes what it sees in their text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        scanText(text);
        const { seen, runBytes } = scanned;
        const found = keepFound();
        scanBytes(fromByteString(text));
        expect([scanned.seen, scanned.runBytes, keepFound()]).toEqual([seen, runBytes, found]);
      }),
    );
  });

  test('leaves no opener out that would open', () => {
    fc.assert(
      fc.property(texts, (text) => {
        scanText(text);
        const opens = opensOf(keepFound());
        if (/0x[25]/.test(text)) expect(opens & OPENS.hexPath).not.toBe(0);
        if (/\\(?:x[0-9a-f]{2}|u[0-9a-f{])/i.test(text)) expect(opens & OPENS.escapes).not.toBe(0);
        if (/^basic[ ]/i.test(text)) expect(opens & OPENS.credentials).not.toBe(0);
        if (/eyJ/.test(text)) expect(opens & OPENS.token).not.toBe(0);
        const run = Math.max(
          0,
          ...(text.match(/[A-Za-z0-9+/_-]+/g) ?? []).map((one) => one.length),
        );
        expect(scanned.runBytes).toBe(run);
      }),
    );
  });
});

describe('the automaton', () => {
  const lists = [
    { word: 0, bit: 3, literals: ['he', 'hers'] },
    { word: 1, bit: 0, literals: ['she'] },
    { word: 1, bit: 31, literals: ['\xe9t'] },
  ];
  const { column, next, shift, firstFinal, ends } = literalAutomaton(lists);
  const endsIn = (text: string): number[] => {
    const all = new Set<number>();
    let state = 0;
    for (const char of text) {
      state = next[(state << shift) | column[char.charCodeAt(0)]!]!;
      if (state < firstFinal) continue;
      for (const end of ends[state - firstFinal]!) all.add(end);
    }
    return [...all].sort((one, other) => one - other);
  };

  test('finds strings inside others, whatever the case of letters', () => {
    expect(endsIn('uSHErs')).toEqual([3, 32]);
    expect(endsIn('h e')).toEqual([]);
    expect(endsIn('\xc9T')).toEqual([63]);
  });

  test('takes no empty string', () => {
    expect(() => literalAutomaton([{ word: 0, bit: 0, literals: [''] }])).toThrow(/empty/);
  });

  test('lists are made of words and of blanks', () => {
    expect(words(' a b\n c')).toEqual(['a', 'b', 'c']);
    expect(apart('(', ')')).toContain('(\xa0 )');
  });
});
