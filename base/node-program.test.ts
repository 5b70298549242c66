/** Holds the table of a node's programs, and that a kill at any step leaves one that runs. */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  failProgram,
  installedProgram,
  programFolder,
  programsFolder,
  programTable,
  proveProgram,
  readNodeProgram,
  stageProgram,
  sweepPrograms,
  switchProgram,
  writeNodeProgram,
  type NodeProgram,
} from './node-program.ts';

const data = mkdtempSync(join(tmpdir(), 'waf-program-'));
afterAll(() => rmSync(data, { recursive: true }));

const staged = stageProgram(installedProgram, '2.0.0-b', 'order-1');
const trial = switchProgram(staged);
const states: Readonly<Record<NodeProgram['state'], NodeProgram>> = {
  settled: installedProgram,
  staged,
  trial,
};
const moves: Readonly<Record<string, (from: NodeProgram) => NodeProgram>> = {
  stage: (from) => stageProgram(from, '3.0.0-c', 'order-2'),
  switch: switchProgram,
  prove: proveProgram,
  fail: (from) => failProgram(from, 'it ended'),
};

test('only moves of the table exist, and each leads where the table says', () => {
  let tried = 0;
  for (const [state, from] of Object.entries(states)) {
    for (const [event, move] of Object.entries(moves)) {
      const to = (programTable[from.state] as Record<string, string>)[event];
      tried++;
      if (to === undefined) expect(() => move(from), `${state} ${event}`).toThrow('cannot take');
      else expect(move(from).state, `${state} ${event}`).toBe(to);
    }
  }
  expect(tried).toBe(12);
});

test('a proved program keeps the former one to go back to', () => {
  expect(trial).toMatchObject({ current: '2.0.0-b', fallback: '', previous: null, attempts: 1 });
  const proved = proveProgram(trial);
  expect(proved).toMatchObject({ current: '2.0.0-b', previous: '', fallback: null });
  expect(proved.outcome).toEqual({ commandId: 'order-1', success: true, error: '' });
  const back = proveProgram(switchProgram(stageProgram(proved, proved.previous ?? '?', 'order-2')));
  expect(back).toMatchObject({ current: '', previous: '2.0.0-b' });
});

test('a failed program leaves the former one and what was before that', () => {
  const second = switchProgram(stageProgram(proveProgram(trial), '3.0.0-c', 'order-2'));
  const failed = failProgram(second, 'no answer');
  expect(failed).toMatchObject({ state: 'settled', current: '2.0.0-b', previous: '' });
  expect(failed.outcome).toEqual({ commandId: 'order-2', success: false, error: 'no answer' });
});

test('what is written is read again; what is damaged or gone is the installed program', () => {
  expect(readNodeProgram(data)).toEqual(installedProgram);
  mkdirSync(programFolder(data, '2.0.0-b'), { recursive: true });
  writeNodeProgram(data, trial);
  expect(readNodeProgram(data)).toEqual(trial);
  rmSync(programFolder(data, '2.0.0-b'), { recursive: true });
  const error = 'the folder of the program is gone';
  const outcome = { commandId: 'order-1', success: false, error };
  expect(readNodeProgram(data)).toEqual({ ...installedProgram, outcome });
  for (const text of ['{', 'null', '{"current":"../x"}', '{"state":"odd"}', '{"current":null}']) {
    writeFileSync(join(programsFolder(data), 'state.json'), text);
    expect(readNodeProgram(data), text).toEqual(installedProgram);
  }
});

test.each<[string, Partial<NodeProgram>, string, Partial<NodeProgram>]>([
  ['the previous program', { current: 'b', previous: 'a' }, 'a', { current: 'b', previous: null }],
  ['the present program', { current: 'b', previous: 'a' }, 'b', { current: 'a', previous: null }],
  [
    'what was placed',
    { ...staged, current: 'b', previous: 'a', next: 'c' },
    'c',
    { state: 'settled', current: 'b', previous: 'a', next: null },
  ],
  [
    'what is on trial',
    { ...trial, current: 'c', fallback: 'b', previous: 'a' },
    'c',
    { state: 'settled', current: 'b', previous: 'a', fallback: null },
  ],
  [
    'what ran before a trial',
    { ...trial, current: 'c', fallback: 'b' },
    'b',
    { state: 'trial', current: 'c', fallback: '' },
  ],
])('%s that is gone costs no other', (_, kept, gone, read) => {
  for (const name of ['a', 'b', 'c']) mkdirSync(programFolder(data, name), { recursive: true });
  writeNodeProgram(data, { ...installedProgram, ...kept });
  rmSync(programFolder(data, gone), { recursive: true });
  expect(readNodeProgram(data)).toMatchObject(read);
  for (const name of ['a', 'b', 'c'])
    rmSync(programFolder(data, name), { recursive: true, force: true });
});

test('programs that nothing names are removed', () => {
  for (const name of ['2.0.0-b', '1.0.0-a', '1.0.0-a.new']) {
    mkdirSync(programFolder(data, name), { recursive: true });
  }
  const proved = proveProgram(trial);
  expect(sweepPrograms(data, proved).sort()).toEqual(['1.0.0-a', '1.0.0-a.new']);
  expect(readdirSync(programsFolder(data)).sort()).toEqual(['2.0.0-b', 'state.json']);
});
