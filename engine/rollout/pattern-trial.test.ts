/** Proves that patterns are built in a process that ends in time, whatever they are. */

import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { encodeUtf8 } from '../../base/byte-string.ts';
import { parseSecLang } from '../rules/language/parse.ts';
import { writtenPatterns } from '../rules/language/written-patterns.ts';
import { knownInMemory } from '../../test/support/known-patterns.ts';
import { PatternTrial } from './pattern-trial.ts';

const entry = new URL('../../.build/engine/threads/trial-process.js', import.meta.url);

function patternsOf(...patterns: string[]) {
  const rules = patterns.map(
    (one, at) => `SecRule ARGS "@rx ${one}" "id:${at + 7},phase:2,deny"\n`,
  );
  return writtenPatterns(parseSecLang(encodeUtf8(rules.join('')), 'policy.conf').directives);
}

test('good patterns pass, others are named with rule, line and column', async () => {
  expect(existsSync(fileURLToPath(entry))).toBe(true);
  const trial = new PatternTrial(entry, knownInMemory());
  expect(await trial.try(patternsOf('^a{1,64}$', 'union\\s+select', '(?=a)b'))).toEqual([]);
  const found = await trial.try(patternsOf('good', '((a{1,100}){1,100}){1,100}', '(x'));
  expect(found.map(({ code, message }) => `${code} ${message}`)).toEqual([
    'pattern-refused rule 8: the pattern is refused by the engine',
    'pattern-refused rule 9: the pattern is refused by the engine',
  ]);
  expect(found[0]?.span).toMatchObject({ file: 'policy.conf', line: 2, column: 19 });
});

test('a pattern that takes too long is ended and named, and the next is tried', async () => {
  const trial = new PatternTrial(entry, knownInMemory(), { patternCpuMs: 2000 });
  const slow = trial.try(patternsOf('ok', '(a|b{900}|c{900}){10}'));
  const quick = trial.try(patternsOf('select'));
  expect(await slow).toMatchObject([
    {
      code: 'pattern-too-costly',
      message: expect.stringMatching(/^rule 8: .*after 2 seconds of CPU time/),
    },
  ]);
  expect(await quick).toEqual([]);
});

test('a process that waits for its turn on a busy machine is not blamed for it', async () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'waf-trial-')), 'waits.mjs');
  writeFileSync(
    file,
    `process.once('message', () => {
      process.send({ kind: 'trying', at: 0 });
      setTimeout(() => process.send({ kind: 'done' }, () => process.disconnect()), 2_000);
    });`,
  );
  const trial = new PatternTrial(pathToFileURL(file), knownInMemory(), { patternCpuMs: 1_000 });
  expect(await trial.try(patternsOf('good'))).toEqual([]);
});

test('a pattern that is slow to search is named with its figure', async () => {
  const trial = new PatternTrial(entry, knownInMemory());
  const found = await trial.try(patternsOf('good', '(a|b{900}|c{900})', '(?!x)(a+)+$'));
  expect(found.map(({ code, message }) => `${code} ${message}`)).toEqual([
    expect.stringMatching(
      /^pattern-slow rule 8: the pattern takes [\d.]+ ms to search 4 KB of "b+"; at most 2 ms/,
    ),
    expect.stringMatching(/^pattern-slow rule 9: .*more than 500000 steps to search 4 KB of "a+/),
  ]);
});

test('a pattern that takes too much memory is ended and named', async () => {
  const trial = new PatternTrial(entry, knownInMemory(), { residentBytesMax: 1 });
  expect(await trial.try(patternsOf('(a|b{900}|c{900}){10}'))).toMatchObject([
    { message: expect.stringContaining('rule 7: the pattern needs more than 0 MB to be built') },
  ]);
});

test('too many trials at once are turned away; what is known to be fine is not', async () => {
  const trial = new PatternTrial(entry, knownInMemory(), { patternCpuMs: 500 });
  expect(await trial.try(patternsOf('known'))).toEqual([]);
  const slow = trial.try(patternsOf('(a|b{900}|c{900}){10}'));
  const others = Array.from({ length: 16 }, (_, at) => trial.try(patternsOf(`word${at}`)));
  await expect(trial.try(patternsOf('one more'))).rejects.toMatchObject({
    code: 'resource_exhausted',
  });
  expect(await trial.try(patternsOf('known'))).toEqual([]);
  expect(await slow).toHaveLength(1);
  expect(await Promise.all(others)).toEqual(others.map(() => []));
  expect(await trial.try(patternsOf('one more'))).toEqual([]);
});
