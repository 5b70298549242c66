/** Proves which program a node's engine is, with a clock that the test moves. */

import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../base/log.ts';
import {
  programFolder,
  readNodeProgram,
  stageProgram,
  writeNodeProgram,
} from '../../base/node-program.ts';
import { programLimits } from '../../base/upgrade-limits.ts';
import { NodePrograms } from './node-programs.ts';

const installed = { execPath: '/usr/bin/node', script: '/opt/engine.js', env: {} };
const folders: string[] = [];
let data = '';
let restarts = 0;
let alarm: { readonly ms: number; readonly call: () => void } | null = null;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'waf-programs-'));
  folders.push(data);
  [restarts, alarm] = [0, null];
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function open(): NodePrograms {
  return new NodePrograms({
    dataFolder: data,
    installed,
    logger: silentLogger,
    restart: () => restarts++,
    after: (ms, call) => {
      const mine = { ms, call };
      alarm = mine;
      return () => {
        if (alarm === mine) alarm = null;
      };
    },
  });
}

function stage(name: string): void {
  mkdirSync(programFolder(data, name), { recursive: true });
  writeNodeProgram(data, stageProgram(readNodeProgram(data), name, `order-${name}`));
}

test('a node that was never upgraded runs what was installed', () => {
  const programs = open();
  expect(programs.program()).toBe(installed);
  for (const type of ['ready', 'connected', 'staged'] as const) programs.heard(type);
  expect(programs.ended('killed')).toBe(false);
  expect({ restarts, alarm }).toEqual({ restarts: 0, alarm: null });
});

test('a placed program is started, stays once it serves and is connected, and is kept', () => {
  const programs = open();
  programs.program();
  stage('2.0.0-a');
  programs.heard('staged');
  expect(restarts).toBe(1);
  expect(programs.program()).toEqual({
    execPath: join(data, 'programs', '2.0.0-a', 'node'),
    script: join(data, 'programs', '2.0.0-a', 'app', '.build', 'engine', 'main.js'),
    env: { LD_LIBRARY_PATH: join(data, 'programs', '2.0.0-a', 'lib') },
  });
  expect(alarm?.ms).toBe(programLimits.trialMs);
  programs.heard('ready');
  expect(readNodeProgram(data).state).toBe('trial');
  programs.heard('connected');
  expect(alarm).toBeNull();
  expect(readNodeProgram(data)).toMatchObject({
    state: 'settled',
    current: '2.0.0-a',
    previous: '',
    outcome: { commandId: 'order-2.0.0-a', success: true },
  });
  // Also when the machine starts again.
  expect(open().program().script).toContain('2.0.0-a');
  expect(programs.ended('killed')).toBe(false);
});

test('one that ends before that is replaced by the former at once', () => {
  const programs = open();
  programs.program();
  stage('2.0.0-a');
  programs.program();
  programs.heard('ready');
  expect(programs.ended('exit code 1')).toBe(true);
  expect(programs.program()).toBe(installed);
  expect(readNodeProgram(data)).toMatchObject({ current: '', previous: null });
  expect(readNodeProgram(data).outcome).toEqual({
    commandId: 'order-2.0.0-a',
    success: false,
    error: 'rolled back: it ended: exit code 1',
  });
});

test.each([
  [[], 'did not serve'],
  [['ready'], 'did not reach the controller'],
] as const)('one that is only %s within the time is replaced', (heard, reason) => {
  const programs = open();
  stage('2.0.0-a');
  programs.program();
  for (const type of heard) programs.heard(type);
  alarm?.call();
  expect(restarts).toBe(1);
  expect(programs.program()).toBe(installed);
  expect(readNodeProgram(data).outcome?.error).toBe(`rolled back: it ${reason} within 300 s`);
});

test('an engine that died before it could notify is followed by the placed program', () => {
  const programs = open();
  programs.program();
  stage('2.0.0-a');
  expect(programs.ended('killed')).toBe(true);
  expect(programs.program().script).toContain('2.0.0-a');
});

test('a machine that starts again and again ends the trial', () => {
  stage('2.0.0-a');
  for (let start = 1; start <= programLimits.trialStartsMax; start++) {
    expect(open().program().script).toContain('2.0.0-a');
  }
  expect(open().program()).toBe(installed);
  expect(readNodeProgram(data).outcome?.error).toContain('started 3 times');
});

test('what the last proof was worth does not count for the next program', () => {
  const programs = open();
  stage('2.0.0-a');
  programs.program();
  programs.heard('ready');
  programs.heard('connected');
  stage('3.0.0-b');
  programs.program();
  programs.heard('connected');
  expect(readNodeProgram(data).state).toBe('trial');
});

test('a disk that takes nothing costs the upgrade, not the clients', () => {
  // Root may write to any folder; a folder in the place of the file stops it, too.
  const blocked = join(data, 'programs', `state.json.${process.pid}.new`);
  const programs = open();
  programs.program();
  stage('2.0.0-a');
  mkdirSync(blocked);
  expect(programs.program()).toBe(installed);
  for (const type of ['ready', 'connected'] as const) programs.heard(type);
  expect(programs.ended('killed')).toBe(false);
  expect(readNodeProgram(data).state).toBe('staged');

  rmdirSync(blocked);
  expect(programs.program().script).toContain('2.0.0-a');
  mkdirSync(blocked);
  for (const type of ['ready', 'connected'] as const) programs.heard(type);
  expect(readNodeProgram(data).state).toBe('trial');
  alarm?.call();
  expect(restarts).toBe(1);
  expect(programs.program()).toBe(installed);
  // What serves now is not what the disk has on trial.
  for (const type of ['ready', 'connected'] as const) programs.heard(type);
  expect(programs.ended('killed')).toBe(false);
  expect(readNodeProgram(data)).toMatchObject({ state: 'trial', current: '2.0.0-a' });
  rmdirSync(blocked);
});
