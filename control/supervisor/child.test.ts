/** Tests starting, restarting and stopping real child processes. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../base/log.ts';
import { startChild } from './child.ts';
import type { ChildMessage } from './messages.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'waf-child-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function script(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('a child that dies after it was ready is started again', async () => {
  const counter = join(folder, 'count');
  writeFileSync(counter, '');
  const path = script(
    'twice.mjs',
    `import { appendFileSync, readFileSync } from 'node:fs';
     appendFileSync(${JSON.stringify(counter)}, 'x');
     process.send({ type: 'ready' });
     const runs = readFileSync(${JSON.stringify(counter)}, 'utf8').length;
     if (runs === 1) setTimeout(() => process.exit(3), 20);
     else setInterval(() => {}, 1000);`,
  );
  let readies = 0;
  await new Promise<void>((resolve, reject) => {
    const child = startChild({
      name: 'twice',
      script: path,
      args: [],
      logger: silentLogger,
      onStartFailure: reject,
      onMessage: ({ type }) => {
        if (type === 'ready') readies += 1;
        if (readies === 2) child.stop(2000).then(resolve, reject);
      },
    });
  });
  expect(readFileSync(counter, 'utf8')).toBe('xx');
});

test('its allocator is set, and npm is no business of it', async () => {
  const path = script(
    'settings.mjs',
    `const { MALLOC_ARENA_MAX, MALLOC_TRIM_THRESHOLD_, npm_command } = process.env;
     const message = JSON.stringify({ MALLOC_ARENA_MAX, MALLOC_TRIM_THRESHOLD_, npm_command });
     process.send({ type: 'fatal', message }, () => process.exit(1));`,
  );
  process.env['npm_command'] = 'start';
  const seen = await new Promise<string>((resolve) => {
    startChild({
      name: 'settings',
      script: path,
      args: [],
      allocator: { MALLOC_TRIM_THRESHOLD_: '32768' },
      logger: silentLogger,
      onStartFailure: resolve,
      onMessage: () => undefined,
    });
  });
  delete process.env['npm_command'];
  expect(JSON.parse(seen)).toEqual({ MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '32768' });
});

test('a child that never became ready is a start failure with its reason', async () => {
  const path = script(
    'fatal.mjs',
    `process.send({ type: 'fatal', message: 'no library' }, () => process.exit(1));`,
  );
  const messages: ChildMessage[] = [];
  const reason = await new Promise<string>((resolve) => {
    startChild({
      name: 'fatal',
      script: path,
      args: [],
      logger: silentLogger,
      onStartFailure: resolve,
      onMessage: (message) => void messages.push(message),
    });
  });
  expect(reason).toBe('no library');
  expect(messages).toEqual([{ type: 'fatal', message: 'no library' }]);
});

test('a child that ignores SIGTERM is ended by force', async () => {
  const path = script(
    'stubborn.mjs',
    `process.on('SIGTERM', () => {});
     setInterval(() => {}, 1000);
     process.send({ type: 'ready' });`,
  );
  const pid = await new Promise<number>((resolve, reject) => {
    const child = startChild({
      name: 'stubborn',
      script: path,
      args: [],
      logger: silentLogger,
      onStartFailure: reject,
      onMessage: () => {
        const running = child.pid ?? 0;
        child.stop(100).then(() => resolve(running), reject);
      },
    });
  });
  expect(pid).toBeGreaterThan(0);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
