/** Holds the file of events to losing lines, never the engine. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createLogger } from '../../base/log.ts';
import type { RequestEvent } from '../contract/events.ts';
import { EventFile } from './event-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'events-'));
const clock = { nowMs: () => 0, monotonicUs: () => 0 };
const one = { requestId: 'r1' } as RequestEvent;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function eventFile(file: string): { events: EventFile; lines: string[] } {
  const lines: string[] = [];
  const log = createLogger('test', 'info', (line) => void lines.push(line));
  return { events: new EventFile(file, clock, log), lines };
}

test('a line for each event, appended to what is there', async () => {
  const file = path.join(folder, 'a.jsonl');
  for (let round = 0; round < 2; round++) {
    const { events } = eventFile(file);
    events.write([one, one]);
    await events.close();
  }
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([one, one, one, one]);
});

test('a file that cannot be opened is reported with its flag', () => {
  for (const file of [path.join(folder, 'none', 'x'), folder]) {
    expect(() => eventFile(file)).toThrow(/--events: the file .* cannot be written \(E/);
  }
});

test.skipIf(process.platform !== 'linux')('a full disk loses lines and is reported', async () => {
  const { events, lines } = eventFile('/dev/full');
  events.write([one]);
  await expect.poll(() => lines.length).toBe(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', reason: 'ENOSPC' });
  await events.close();
});
