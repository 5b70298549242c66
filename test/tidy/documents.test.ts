/** Keeps README.md and ARCHITECTURE.md true: the files, scripts and commands they name exist. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadCommands } from '../../control/cli/commands.ts';
import { buildProgram } from '../../control/cli/program.ts';
import { readSources, root } from './source-files.ts';

const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const documents = { readme: read('README.md'), architecture: read('ARCHITECTURE.md') };
const files = readSources('').map(({ path }) => path);
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const commands = buildProgram(await loadCommands([]), () => undefined).commands;
type Program = (typeof commands)[number];

/** What a document shows as code on one line, and the lines of its blocks, those of `\` joined. */
function codeOf(text: string): { spans: string[]; lines: string[] } {
  const blocks = [...text.matchAll(/^```\w*\n(.*?)^```/gms)].map(([, block = '']) => block);
  const prose = text.replace(/^```\w*\n.*?^```/gms, '');
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  return {
    spans,
    lines: blocks
      .join('')
      .replace(/ *\\\n\s*/g, ' ')
      .split('\n'),
  };
}

const folder = /^(engine|control|native-bindings|proto|bench|deploy|test)\//;
const source = /^[\w*./<>-]+\.(ts|mjs|cjs|jsonl|proto|cc|h|svg)$/;

/** `*` and `<name>` stand for any name; a file may be named by its end or without its extension. */
function missingFiles(text: string): string[] {
  return codeOf(text)
    .spans.filter((span) => folder.test(span) || source.test(span))
    .filter((span) => {
      const pattern = new RegExp(`(^|/)${regexOf(span)}`);
      return !existsSync(join(root, span)) && !files.some((path) => pattern.test(path));
    });
}

/** The beginning of a path as an expression. */
function regexOf(path: string): string {
  const exact = path.replace(/\/$/, '').replaceAll('.', '\\.');
  return exact.replace(/\*|<[^>]+>/g, '[^/]*');
}

/** The proofs in the table of invariants are files of tests, or folders of them. */
function missingProofs(text: string): string[] {
  const [, table = ''] = text.split('## Invariants and what holds them');
  const rows = table.split('\n## ')[0]!.split('\n').slice(4);
  return rows.flatMap((row) => {
    const proofs = codeOf(row.split('|')[2] ?? '').spans.filter((one) => !one.startsWith('npm '));
    return proofs.filter((proof) => {
      const pattern = new RegExp(`(^|/)${regexOf(proof)}`);
      return !files.some((path) => path.endsWith('.test.ts') && pattern.test(path));
    });
  });
}

/** Errors in a command line, from the word after `waf` on. */
function wrongWords(line: string): string[] {
  const words = line.replace(/\s#.*|\s\|.*/, '').match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const first = words.shift() ?? '';
  if (first.startsWith('--')) return [];
  let at: Program | undefined = commands.find((one) => one.name() === first);
  if (at === undefined) return [`waf ${first}`];
  for (const word of words) {
    if (at.commands.length > 0) {
      at = at.commands.find((one) => one.name() === word);
      if (at === undefined) return [`waf ${first} ${word}`];
    } else if (word.startsWith('-')) {
      if (!at.options.some(({ long, short }) => word === long || word === short))
        return [`waf ${line}`];
    }
  }
  return [];
}

/** `waf site create`, `list` in a table: the second is a command beside the first. */
function siblingsOf(row: string): string[] {
  const [first = '', ...others] = codeOf(row.split('|')[1] ?? '').spans;
  const group = first.split(' ').slice(0, -1).join(' ');
  return others.filter((one) => /^[a-z-]+$/.test(one)).map((one) => `${group} ${one}`);
}

function wrongCommands(text: string): string[] {
  const { spans, lines } = codeOf(text);
  const siblings = text
    .split('\n')
    .filter((line) => line.startsWith('| `waf '))
    .flatMap(siblingsOf);
  return [...spans, ...siblings, ...lines].flatMap((code) => {
    const [, line] = /^(?:npx )?waf (?=[a-z-])(.*)/.exec(code) ?? [];
    if (line !== undefined) return wrongWords(line);
    const [, flags] = /^npm start -- (.*)/.exec(code) ?? [];
    if (flags !== undefined) return wrongWords(`run ${flags}`);
    const [, script] = /^npm (?:run )?([\w:]+)/.exec(code) ?? [];
    if (script !== undefined) return scripts[script] === undefined ? [code] : [];
    const [, built] = /^node \.build\/(\S+)\.js/.exec(code) ?? [];
    return built === undefined || files.includes(`${built}.ts`) ? [] : [code];
  });
}

test.each(Object.entries(documents))('%s: files and folders exist', (_, text) => {
  expect(missingFiles(text)).toEqual([]);
});

test('the tests that hold invariants exist', () => {
  expect(missingProofs(documents.architecture)).toEqual([]);
});

test.each(Object.entries(documents))('%s: commands, flags and scripts exist', (_, text) => {
  expect(wrongCommands(text)).toEqual([]);
});

test('what does not exist is found', () => {
  const prose = '`engine/nowhere`, `gone.ts`, `engine/<name>/none.ts`, `test/agree/phases`\n';
  expect(missingFiles(prose)).toEqual(['engine/nowhere', 'gone.ts', 'engine/<name>/none.ts']);
  const row = '## Invariants and what holds them\n\n| a | b |\n| - | - |\n| x | `no-proof` |\n';
  expect(missingProofs(row)).toEqual(['no-proof']);
  const lines = ['npx waf sight list', 'npx waf site lists', 'npx waf site list \\', '  --no-such'];
  const block = ['```', ...lines, 'npm start -- --demos', 'npm run nothing', '```', ''].join('\n');
  expect(wrongCommands('| `waf site get`, `gets` | x |\n')).toEqual(['waf site gets']);
  expect(wrongCommands(block)).toEqual([
    'waf sight',
    'waf site lists',
    'waf site list --no-such',
    'waf run --demos',
    'npm run nothing',
  ]);
});
