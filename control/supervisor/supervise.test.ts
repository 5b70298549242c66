/** Tests a whole run with stand-ins for control and engine: order, arguments, failure, stop. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../base/log.ts';
import { eventually } from '../../test/support/eventually.ts';
import { supervise, type SuperviseOptions } from './supervise.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waf-supervise-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a stand-in that notes when it starts and stops, and with what. */
function program(name: string, body: string): void {
  mkdirSync(join(folder, 'build', name), { recursive: true });
  writeFileSync(join(folder, 'build', 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(folder, 'build', name, 'main.js'),
    `import { appendFileSync } from 'node:fs';
     const notes = ${JSON.stringify(join(folder, 'notes'))};
     const note = (text) => appendFileSync(notes, '${name} ' + text + '\\n');
     process.on('SIGTERM', () => { note('stop'); process.exit(0); });
     note('start ' + process.argv.slice(2).join(' '));
     setInterval(() => {}, 1000);
     ${body}`,
  );
}

const socketServer = `
  import { createServer } from 'node:http';
  import { rmSync } from 'node:fs';
  const at = process.argv.indexOf('--admin-socket');
  rmSync(process.argv[at + 1], { force: true });
  createServer((_, response) => response.end()).listen(process.argv[at + 1], () =>
    process.send({ type: 'ready', passwordFile: '/tmp/password' }));`;

function options(more: Partial<SuperviseOptions> = {}): SuperviseOptions {
  return {
    buildFolder: join(folder, 'build'),
    data: join(folder, 'var'),
    proxy: { host: '127.0.0.1', port: 0 },
    management: { host: '127.0.0.1', port: 0 },
    demo: true,
    workers: 2,
    engineArgs: ['--inspection', 'inline'],
    logLevel: 'warn',
    logger: silentLogger,
    progress: { show: (what) => void shown.push(what), finish: () => undefined },
    ...more,
  };
}
let shown: string[] = [];

test('control and engine get their configuration, and the engine stops first', async () => {
  shown = [];
  program('control', socketServer);
  program(
    'engine',
    `process.send({ type: 'progress', done: 1, total: 2, what: 'rule databases' });
     process.send({ type: 'ready' });`,
  );
  const product = await supervise(options());
  expect(product.passwordFile).toBe('/tmp/password');
  expect(product.management.port).toBeGreaterThan(0);
  expect(shown).toEqual(['rule databases']);
  const port = Number(readFileSync(join(folder, 'var', 'demo-origin'), 'utf8'));
  await product.stop();
  expect(await product.ended).toBe(0);
  const notes = readFileSync(join(folder, 'notes'), 'utf8')
    .replace(/(--management 127\.0\.0\.1):[1-9]\d*/, '$1:PORT')
    .trim()
    .split('\n');
  const socket = join(folder, 'var', 'admin.sock');
  // They start side by side: their first lines may come in either order.
  expect([...notes.slice(0, 2).toSorted(), ...notes.slice(2)]).toEqual([
    `control start --data ${join(folder, 'var')} --log-level warn --management 127.0.0.1:PORT ` +
      `--management-fd 4 --admin-socket ${socket} --demo-origin http://127.0.0.1:${port}`,
    `engine start --data ${join(folder, 'var')} --log-level warn --listen 127.0.0.1:${product.proxy.port} ` +
      `--workers 2 --listen-fds 4,5 --controller unix:${socket} --inspection inline`,
    'engine stop',
    'control stop',
  ]);
  expect(existsSync(join(folder, 'var', 'supervisor.pid'))).toBe(false);
});

test('SIGTERM to all processes at once starts none of them again', async () => {
  program('control', `note('pid ' + process.pid);${socketServer}`);
  // Drains until control is gone.
  program(
    'engine',
    `import { readFileSync } from 'node:fs';
     process.removeAllListeners('SIGTERM');
     const alive = (pid) => { try { return process.kill(pid, 0); } catch { return false; } };
     process.on('SIGTERM', () => setInterval(() => {
       const pids = [...readFileSync(notes, 'utf8').matchAll(/pid (\\d+)/g)].map(([, pid]) => +pid);
       if (pids.every((pid) => !alive(pid))) setTimeout(() => process.exit(0), 600);
     }, 20));
     process.send({ type: 'ready' });`,
  );
  const problems: string[] = [];
  const logger = { ...silentLogger, error: (message: string) => void problems.push(message) };
  const product = await supervise(options({ demo: false, logger }));
  const stopped = product.stop();
  process.kill(Number(/pid (\d+)/.exec(readNotes())?.[1]), 'SIGTERM');
  await stopped;
  expect(problems).toEqual([]);
  expect(readNotes().match(/control start/g)).toHaveLength(1);
});

test('an engine that cannot start stops control again and says why', async () => {
  program('control', socketServer);
  // Not before control has begun, so that its stop can be seen.
  program(
    'engine',
    `import { existsSync, readFileSync } from 'node:fs';
     setInterval(() => {
       if (!existsSync(notes) || !readFileSync(notes, 'utf8').includes('control start')) return;
       process.send({ type: 'fatal', message: 'no libhs' }, () => process.exit(1));
     }, 20);`,
  );
  await expect(supervise(options({ demo: false }))).rejects.toThrow(
    'engine did not start: no libhs',
  );
  expect(readFileSync(join(folder, 'notes'), 'utf8')).toContain('control stop');
});

test('asked to stop while it starts, it leaves no process and no file', async () => {
  program('control', 'note(`pid ${process.pid}`);');
  program('engine', 'note(`pid ${process.pid}`);');
  const asked = new AbortController();
  const run = supervise(options({ stopAsked: asked.signal }));
  const pids = (): number[] =>
    [...readNotes().matchAll(/pid (\d+)/g)].map(([, number]) => Number(number));
  const watch = setInterval(() => {
    if (pids().length === 2) asked.abort();
  }, 20);
  await expect(run).rejects.toThrow('stopped before it was ready');
  clearInterval(watch);
  expect(pids()).toHaveLength(2);
  for (const pid of pids()) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(existsSync(join(folder, 'var', 'supervisor.pid'))).toBe(false);
});

function readNotes(): string {
  const file = join(folder, 'notes');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

test('a busy port is found before anything starts', async () => {
  program('control', socketServer);
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const run = supervise(options({ proxy: { host: '127.0.0.1', port } }));
  await expect(run).rejects.toThrow('--proxy');
  expect(existsSync(join(folder, 'notes'))).toBe(false);
  await new Promise((resolve) => taken.close(resolve));
});

test('a build that is missing is named', async () => {
  await expect(supervise(options())).rejects.toThrow('main.js is missing: run npm start');
});

/** An engine that accepts, answers with its process id, and dies of SIGKILL like the real one. */
const acceptingEngine = `
  import { createServer } from 'node:net';
  process.send({ type: 'ready' });
  // Only a while later, so that clients have to wait for it.
  if (readFileSync(notes, 'utf8').split('engine start').length > 2)
    await new Promise((resolve) => setTimeout(resolve, 500));
  createServer((client) => client.end(String(process.pid))).listen({ fd: 4 });`;

/** What one client gets: the engine's process id, or the code of its error. */
function meet(port: number): Promise<string> {
  return new Promise((resolve) => {
    const client = connect(port, '127.0.0.1');
    client.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    client.on('data', (bytes) => resolve(bytes.toString()));
  });
}

test('clients wait for an engine that was killed or restarted; a stop refuses them', async () => {
  program('control', socketServer);
  program('engine', `import { readFileSync } from 'node:fs'; ${acceptingEngine}`);
  const product = await supervise(options({ workers: 1 }));
  const { port } = product.proxy;
  const first = await eventually(async () => Number(await meet(port)) || null);
  process.kill(first, 'SIGKILL');
  await eventually(() => !existsSync(`/proc/${first}`));
  const second = Number(await meet(port));
  expect(second).toBeGreaterThan(0);
  expect(second).not.toBe(first);
  const restarting = product.restart();
  await eventually(() => !existsSync(`/proc/${second}`));
  const third = Number(await meet(port));
  expect(third).toBeGreaterThan(0);
  expect([first, second]).not.toContain(third);
  await restarting;
  const starts = readNotes().split('\n');
  expect(starts.filter((line) => line.startsWith('engine start'))).toHaveLength(3);
  expect(starts.filter((line) => line.startsWith('control start'))).toHaveLength(2);
  await product.stop();
  expect(await meet(port)).toBe('ECONNREFUSED');
});
