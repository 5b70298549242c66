/**
 * Keeps README.md, ARCHITECTURE.md and the guides true: the files, scripts and commands that they
 * name exist, their links lead somewhere, and README lists every guide.
 */

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadCommands } from '../../control/cli/commands.ts';
import { buildProgram } from '../../control/cli/program.ts';
import { readSources, root } from './source-files.ts';

const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const guides = readdirSync(join(root, 'deploy', 'guides')).map((name) => `deploy/guides/${name}`);
const documents = ['README.md', 'ARCHITECTURE.md', ...guides].map(
  (path) => [path, read(path)] as const,
);
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
      .split(/\n| \| (?=npx waf )/),
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
  if (words.at(-1) === '--help') words.pop();
  let at: Program | undefined = commands.find((one) => one.name() === first);
  if (at === undefined) return [`waf ${first}`];
  for (const word of words) {
    if (at.commands.length > 0) {
      at = at.commands.find((one) => one.name() === word);
      if (at === undefined) return [`waf ${first} ${word}`];
    } else if (/^-./.test(word)) {
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

/** Links to files that do not exist, and to headings that their file does not have. */
function brokenLinks(path: string, text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => {
    if (/^https?:/.test(target)) return false;
    const [file = '', heading] = target.split('#');
    const linked = file === '' ? path : join(dirname(path), file);
    if (!existsSync(join(root, linked))) return true;
    return (
      heading !== undefined && !headingsOf(file === '' ? text : read(linked)).includes(heading)
    );
  });
}

/** The anchors of a document's headings, as GitHub makes them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  );
}

test.each(documents)('%s: files and folders exist', (_, text) => {
  expect(missingFiles(text)).toEqual([]);
});

test('the tests that hold invariants exist', () => {
  expect(missingProofs(read('ARCHITECTURE.md'))).toEqual([]);
});

test.each(documents)('%s: commands, flags and scripts exist', (_, text) => {
  expect(wrongCommands(text)).toEqual([]);
});

test.each(documents)('%s: links lead to a file and a heading', (path, text) => {
  expect(brokenLinks(path, text)).toEqual([]);
});

test('README lists every guide and is one short page', () => {
  const readme = read('README.md');
  expect(guides.filter((path) => !readme.includes(`](${path})`))).toEqual([]);
  expect(readme.split('\n').length).toBeLessThanOrEqual(250);
  expect(read('ARCHITECTURE.md').split('\n').length).toBeLessThanOrEqual(301);
});

test('README says beside what blocks how editors of known applications pass', () => {
  const [, part = ''] = /^## What blocks.*?\n(.*?)^## /ms.exec(read('README.md')) ?? [];
  expect(part).toContain('npx waf site applications shop --names wordpress');
  expect(part).toContain('npx waf log explain ID');
});

test('what does not exist is found', () => {
  const links = '[a](nowhere.md) [b](README.md#start-and-test) [c](#gone) [d](https://a.example)\n';
  expect(brokenLinks('README.md', links)).toEqual(['nowhere.md', '#gone']);
  const prose = '`engine/nowhere`, `gone.ts`, `engine/<name>/none.ts`, `test/agree/phases`\n';
  expect(missingFiles(prose)).toEqual(['engine/nowhere', 'gone.ts', 'engine/<name>/none.ts']);
  const row = '## Invariants and what holds them\n\n| a | b |\n| - | - |\n| x | `no-proof` |\n';
  expect(missingProofs(row)).toEqual(['no-proof']);
  const lines = ['npx waf sight list', 'npx waf site lists', 'npx waf site list \\', '  --no-such'];
  lines.push('echo x | npx waf role gets --help', 'npx waf role get --help');
  const block = ['```', ...lines, 'npm start -- --demos', 'npm run nothing', '```', ''].join('\n');
  expect(wrongCommands('| `waf site get`, `gets` | x |\n')).toEqual(['waf site gets']);
  expect(wrongCommands(block)).toEqual([
    'waf sight',
    'waf site lists',
    'waf site list --no-such',
    'waf role gets',
    'waf run --demos',
    'npm run nothing',
  ]);
});
