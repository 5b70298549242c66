/** Keeps private words out of comments, strings and Markdown. Each test names every offender. */

import { describe, expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { forbiddenWords } from './forbidden-words.ts';
import { readSources, root } from './source-files.ts';
import type { SourceFile } from './source-files.ts';
import { textOf } from './text-of.ts';

/** Files that quote the words on purpose. */
const quoting = ['test/tidy/forbidden-words.ts', 'test/tidy/words.test.ts'];

/** Recorded data and programs of other projects' formats: no prose of ours. */
const data = /^(bench\/(results|workloads)|test\/.*\/(corpus|fixtures|recorded))\//;

const extensions = '.ts .tsx .mjs .cjs .cc .h .css .html .proto .md .sh .lua .py'.split(' ');
const atTop: SourceFile[] = ['README.md', 'ARCHITECTURE.md'].map((path) => {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, lines: text.split('\n') };
});
const sources = [...readSources(...extensions), ...atTop].filter(
  ({ path }) => !quoting.includes(path) && !data.test(path),
);

function offences(file: SourceFile): string[] {
  // Only a file that may hold a word is parsed: this keeps the test within seconds.
  const flat = file.text.replace(/\s*\n\s*(?:\*|\/\/|\|)?\s*/g, ' ');
  if (!forbiddenWords.some(({ pattern }) => pattern.test(flat))) return [];
  return textOf(file).flatMap(({ line, text }) =>
    forbiddenWords
      .filter(({ pattern }) => pattern.test(text))
      .map(({ pattern, instead }) => `${file.path}:${line} ${pattern.source}: write ${instead}`),
  );
}

const planted = (path: string, text: string): SourceFile => ({
  path,
  text,
  lines: text.split('\n'),
});

describe('words', () => {
  test('there are sources to look at, of every kind', () => {
    expect(sources.length).toBeGreaterThan(800);
    for (const end of ['.ts', '.tsx', '.mjs', '.proto', '.md', '.sh']) {
      expect(sources.some(({ path }) => path.endsWith(end))).toBe(true);
    }
  });

  test('no forbidden word in comments, strings and Markdown', () => {
    expect(sources.flatMap(offences)).toEqual([]);
  });

  test.each(forbiddenWords)('finds "$planted" wherever it stands', ({ planted: text, pattern }) => {
    const quoted = JSON.stringify(text);
    const halves = text.replace(/ (\S+)$/, '\n * $1');
    const places = [
      planted('a.ts', `/** ${text} */\nexport const a = 1;\n`),
      planted('a.ts', `export const a = 1; // ${text}\n`),
      planted('a.ts', `export const a = ${quoted};\n`),
      planted('a.ts', `export const a = \`\${b} ${text} \${b}\`;\n`),
      planted('a.ts', `/**\n * ${halves}\n */\nexport const a = 1;\n`),
      planted('a.tsx', `export const a = <p>${text}</p>;\n`),
      planted('a.proto', `// ${text}\nmessage A {}\n`),
      planted('a.md', `- ${text}\n`),
    ];
    for (const place of places) {
      const found = offences(place).some((one) => one.includes(pattern.source));
      expect(found, place.text).toBe(true);
    }
  });

  test('leaves identifiers and plain English alone', () => {
    const plain = 'const goesOn = behind; // A server behind another proxy.\n';
    expect(offences(planted('a.ts', plain))).toEqual([]);
  });
});
