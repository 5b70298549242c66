/** Holds the parts of the house style that no linter knows. Each test names every offender. */

import { describe, expect, test } from 'vitest';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { createRequire } from 'node:module';
import { readSources } from './source-files.ts';
import type { SourceFile } from './source-files.ts';
import { undocumentedExports } from './docstrings.ts';

interface ArrowTable {
  readonly rooms: readonly { room: string; may: readonly string[] }[];
}
const arrows = createRequire(import.meta.url)('./arrows.cjs') as ArrowTable;

const scripts = readSources('.ts', '.mjs', '.cjs');
const native = readSources('.cc', '.h');
const pages = readSources('.tsx');
const lineMax = 100;
const fileLinesMax = 450;
/** Tables of data, one entry a line or longer: exempt from length by path. */
const tables = [/\/tables?\//, /-table\.(ts|h)$/, /\.table\.ts$/, /-data\.(ts|h)$/];
/** A comment, or a text in quotes: only one in backticks continues on the next line. */
const commentOrLiteral =
  /\/\/.*|\/\*.*?(?:\*\/|$)|'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)(?:`|$)/g;
/** Texts in quotes; an apostrophe in a comment, or one that nothing closes, opens none. */
function literalsIn(line: string): string[] {
  if (/^\s*\*/.test(line)) return [];
  return [...line.matchAll(commentOrLiteral)].map(([, ...texts]) => texts.join(''));
}
/** A long literal or URL, or a rule's text, is left alone: no formatter breaks it. */
const isTooLong = (line: string): boolean =>
  line.length > lineMax &&
  !/^Sec[A-Z]/.test(line) &&
  [...literalsIn(line), ...(line.match(/\S+:\/\/\S+/g) ?? [])].every((text) => text.length < 50);
/** The rooms of one cell of the map; a second one lies beside the first. */
function roomsIn(cell: string): string[] {
  const [first = '', ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, room]) => room!);
  const parent = first.includes('/') ? `${dirname(first)}/` : '';
  return [first, ...others.map((room) => `${parent}${room}`)];
}
const isTable = (file: SourceFile): boolean => tables.some((one) => one.test(file.path));

const header = /^(#!.*\n)?(\/\*\*|\/\/)(?!\s+(\* )?Owns\b)/;

describe('house style', () => {
  test('there are sources to look at', () => {
    expect(scripts.length).toBeGreaterThan(20);
  });

  test(`no line is longer than ${lineMax} columns`, () => {
    const found = [...scripts, ...pages, ...native]
      .filter((file) => !isTable(file))
      .flatMap((file) =>
        file.lines.flatMap((line, index) => (isTooLong(line) ? [`${file.path}:${index + 1}`] : [])),
      );
    expect(found).toEqual([]);
  });

  test('a long literal excuses a long line, a quote in a comment does not', () => {
    const literal = `  const text = '${'a word '.repeat(16)}';`;
    const comment = ` * A thread's ${'word '.repeat(20)}`;
    const code = `  const sum = it['of'] ${'+ 1'.repeat(30)}; // 'x'`;
    const beside = `  const sum = 1; // that isn't ${'word '.repeat(20)}`;
    const inline = `  const sum = 1 /* that isn't ${'word '.repeat(20)} */ + 1;`;
    const unclosed = `  const isQuote = /'/.test(a) && ${'b + '.repeat(20)}1;`;
    const template = `  const text = \`${'a word '.repeat(16)}`;
    const address = ` * See https://a.example/${'path/'.repeat(20)}`;
    const shortAddress = ` * See https://a.example/ ${'word '.repeat(20)}`;
    const refused = [comment, code, beside, inline, unclosed, shortAddress];
    expect([literal, template, address].filter(isTooLong)).toEqual([]);
    expect(refused.filter((line) => !isTooLong(line))).toEqual([]);
  });

  test(`no file is longer than ${fileLinesMax} lines`, () => {
    const found = [...scripts, ...pages, ...native, ...readSources('.css')]
      .filter((file) => !isTable(file) && file.lines.length > fileLinesMax + 1)
      .map((file) => `${file.path}: ${file.lines.length}`);
    expect(found).toEqual([]);
  });

  test('every room of the arrow table and of the map of ARCHITECTURE exists', () => {
    const map = readFileSync('ARCHITECTURE.md', 'utf8').split('## Code map')[1] ?? '';
    const cells = [...map.split('## ')[0]!.matchAll(/^\| (`[^|]+`)\s*\|/gm)].map(
      ([, cell]) => cell!,
    );
    const named = cells.flatMap((cell) => roomsIn(cell));
    expect(named.length).toBeGreaterThan(40);
    const rooms = new Set([...named, ...arrows.rooms.map(({ room }) => room)]);
    expect([...rooms].filter((room) => !existsSync(room))).toEqual([]);
  });

  test('files are kebab-case', () => {
    const found = scripts
      .map((file) => file.path)
      .filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)+$/.test(basename(path)));
    expect(found).toEqual([]);
  });

  test('no drawer for everything', () => {
    const banned = /(^|\/)(utils?|helpers?|misc|common)(\/|\.[a-z]+$)/;
    expect(scripts.map((file) => file.path).filter((path) => banned.test(path))).toEqual([]);
  });

  test('every file begins with a comment on what it is or does, not on what it owns', () => {
    const found = [...scripts, ...native, ...pages]
      .filter((file) => !header.test(file.text))
      .map((file) => file.path);
    expect(found).toEqual([]);
    const owning = '/** Owns';
    const canaries = [`${owning} lists. */`, `${owning}hip. */`].map((text) => header.test(text));
    expect(canaries).toEqual([false, true]);
  });

  test('a command lives in the folder of its subject, where there is one', () => {
    const list = readFileSync('control/cli/commands.ts', 'utf8');
    const sources = [...list.matchAll(/from\(\s*'([^']+)',\s+[^']+'\.\/([a-z-]+)\/[^']+'/g)];
    expect(sources.length).toBeGreaterThan(60);
    const astray = sources
      .map(([, word = '', folder = '']) => ({ word, folder }))
      .filter(({ word, folder }) => folder !== word && existsSync(`control/cli/${word}`));
    expect(astray).toEqual([]);
  });

  test('every export has a docstring', () => {
    const found = scripts
      .filter((file) => file.path.endsWith('.ts') && !file.path.endsWith('.test.ts'))
      .flatMap((file) => undocumentedExports(file));
    expect(found).toEqual([]);
  });

  test('every source file lies in one room of the arrow table', () => {
    const rooms = new Set(arrows.rooms.map((one) => one.room));
    const inRoom = (path: string): boolean => {
      const parts = path.split('/');
      if (parts[0] === 'test' || parts[0] === 'bench') return true;
      if (parts.length === 2) return rooms.has(parts[0] ?? '');
      return parts.some((_, index) => index > 0 && rooms.has(parts.slice(0, index + 1).join('/')));
    };
    expect(scripts.map((file) => file.path).filter((path) => !inRoom(path))).toEqual([]);
  });

  test('the arrow table names only rooms that it has', () => {
    const rooms = arrows.rooms.map((one) => one.room);
    const unknown = arrows.rooms.flatMap(({ may }) =>
      may.filter((name) => !name.endsWith('/*') && !rooms.includes(name)),
    );
    expect(unknown).toEqual([]);
    expect(new Set(rooms).size).toBe(rooms.length);
  });
});
