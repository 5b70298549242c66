/** Tests that a command spelt with fillers is found by one of the three things looked for. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crsPatterns } from './crs-patterns.test-support.ts';
import { compileExact } from './regex.ts';
import { withoutFillers } from './regex-fillers.ts';
import type { WithoutFillers } from './regex-fillers.ts';
import { readRegexTree } from './regex-tree.ts';
import type { RegexNode } from './regex-tree.ts';
import { fillersRemovedId, transformText } from './transform.ts';

const filler = '["\'\\)\\[\\x5c]*(?:(?:\\|\\||&&)?\\$[a-z{]*)?\\x5c?';
const spelt = (word: string): string => [...word].join(filler);
const small = `(?i)(?:^|[;|&]\\s*|\\benv\\s.*)(?:${['cat', 'id', 'busybox', 'python3']
  .map(spelt)
  .join('|')})(?:[\\s)<>|]|\\b)`;

const flags = { caseless: false, dotall: true };
const regexOf = (pattern: string): ((value: string) => boolean) => {
  const regex = compileExact(pattern, flags);
  return (value) => regex.test(value);
};

/** Strings that the tree finds, but for boundaries of words; every choice is drawn. */
function madeBy(node: RegexNode, draw: (below: number) => number): string {
  switch (node.kind) {
    case 'set': {
      const members = [...node.set.keys()].filter((byte) => node.set[byte] === 1);
      return String.fromCharCode(members[draw(members.length)]!);
    }
    case 'capture':
      return madeBy(node.body, draw);
    case 'sequence':
      return node.parts.map((part) => madeBy(part, draw)).join('');
    case 'choice':
      return madeBy(node.options[draw(node.options.length)]!, draw);
    case 'repeat': {
      const count = node.min + draw(Math.min(node.max - node.min, 2) + 1);
      return Array.from({ length: count }, () => madeBy(node.body, draw)).join('');
    }
    default:
      return '';
  }
}

function isFound(parts: WithoutFillers, value: string): boolean {
  if (parts.expansions.some((byte) => value.includes(byte))) return true;
  if (regexOf(parts.plain)(value)) return true;
  const bare = transformText(fillersRemovedId, value);
  return bare !== value && regexOf(parts.skeleton)(bare);
}

const patterns = [small, ...crsPatterns()].flatMap((pattern) => {
  const parts = withoutFillers(pattern, false);
  return parts ? [{ pattern, parts }] : [];
});

describe('withoutFillers', () => {
  it('takes the commands of the rule sets apart, and little else', () => {
    expect(patterns.length).toBeGreaterThan(0);
    expect(patterns.length).toBeLessThan(60);
    console.log(`${patterns.length} patterns are mostly fillers`);
  });

  it('spells plain words', () => {
    const parts = withoutFillers(small, false)!;
    expect(parts.expansions).toEqual(['$']);
    expect(parts.plain).toContain('busybox');
    expect(parts.skeleton).toContain('busybox');
  });

  it('misses nothing that the pattern finds', () => {
    let matched = 0;
    const seen = (value: string, { pattern, parts }: (typeof patterns)[number]): void => {
      if (!regexOf(pattern)(value)) return;
      matched++;
      expect({ value, pattern, found: isFound(parts, value) }).toMatchObject({ found: true });
    };
    const around = fc.constantFrom('', ' ', 'a', '"', ';', '\\', '$x', '(', ')', '\n', "it's ");
    fc.assert(
      fc.property(
        fc.constantFrom(...patterns),
        fc.infiniteStream(fc.nat({ max: 0xffff })),
        around,
        around,
        (one, numbers, before, after) => {
          const draw = (below: number): number => (numbers.next().value as number) % below;
          const { root } = readRegexTree(one.pattern, flags)!;
          seen(before + madeBy(root, draw) + after, one);
        },
      ),
      { numRuns: 600, seed: 7 },
    );
    console.log(`${matched} values matched`);
    expect(matched).toBeGreaterThan(200);
  });
});
