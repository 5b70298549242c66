/** Holds `/debug` to the local socket, to its bounds, and to an audit row for each profile. */

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { keepPrinted } from '../../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { debugSubjects } from '../../../base/debug-question.ts';
import { collectGarbage } from '../../../base/garbage.ts';
import { loadCommands } from '../../cli/commands.ts';
import { runCommandLine } from '../../cli/program.ts';

let waf: TestControl;
beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());

const ask = (path: string) => waf.get(path, false);
const own = async (path: string): Promise<Record<string, unknown>> => {
  const { status, body } = await ask(path);
  expect(status).toBe(200);
  return body['control'] as Record<string, unknown>;
};
const absent = { code: 'unavailable', message: 'no engine answers: is it running?' };

test.each(['', '/', ...debugSubjects.map((one) => `/${one}`)])(
  '/debug%s is for the local socket only',
  async (path) => {
    expect((await waf.get(`/debug${path}`, true)).status).toBe(404);
  },
);

test('the index names every subject', async () => {
  const { body } = await ask('/debug/');
  expect(body['paths']).toEqual(debugSubjects.map((one) => `/debug/${one}`));
});

test('threads are those of the kernel', async () => {
  const { kernel } = (await own('/debug/threads')) as { kernel: { id: number; name: string }[] };
  expect(kernel.map(({ id }) => id)).toContain(process.pid);
});

test('memory follows what the process holds', async () => {
  // What files before this one left over is given back meanwhile, in a thread of its own.
  collectGarbage();
  const bytes = async (): Promise<number> =>
    ((await own('/debug/memory'))['process'] as { arrayBufferBytes: number }).arrayBufferBytes;
  const grown = await eventually(async () => {
    const before = await bytes();
    const held = new ArrayBuffer(64 * 1024 * 1024);
    const more = (await bytes()) - before;
    return more > held.byteLength / 2 ? more : null;
  });
  expect(grown).toBeGreaterThan(32 * 1024 * 1024);
});

test('the delay of the event loop is measured while somebody waits', async () => {
  const blocked = setInterval(() => {
    const end = performance.now() + 50;
    while (performance.now() < end);
  }, 100);
  const found = await own('/debug/event-loop?seconds=1');
  clearInterval(blocked);
  expect(found).toMatchObject({ seconds: 1 });
  expect(found['mostMs']).toBeGreaterThan(20);
  expect(found['utilization']).toBeGreaterThan(0);
});

test('generations and databases follow a change', async () => {
  const records = async (): Promise<number> => {
    const found = (await own('/debug/databases'))['records'] as Record<string, number>;
    return found['upstreams'] ?? 0;
  };
  const [before, counted] = [await own('/debug/generations'), await records()];
  const upstream = { name: 'pool', endpoints: [{ url: 'http://127.0.0.1:1' }] };
  expect((await waf.call('UpstreamService/CreateUpstream', { upstream })).status).toBe(200);
  expect(await records()).toBe(counted + 1);
  expect(before).toMatchObject({ nodes: 0, connected: 0, serving: 0 });
  expect(Number(before['revision'])).toBeGreaterThan(0);
});

test('queues name what waits', async () => {
  const found = await own('/debug/queues');
  expect(found).toMatchObject({ streams: { nodes: 0, agent: 0, evidence: 0 }, downloads: 0 });
  expect((found['lanes'] as { name: string }[]).map(({ name }) => name)).toContain('security_fact');
});

test('without an engine its part names the reason', async () => {
  expect((await ask('/debug/memory')).body['engine']).toEqual(absent);
  const { status, body } = await ask('/debug/profile?process=engine');
  expect([status, body]).toEqual([503, absent]);
});

test.each([
  ['/debug/nothing', 'Unknown subject. Known: threads,'],
  ['/debug/memory?x=1', 'Unknown parameter. Allowed: seconds, process, thread.'],
  ['/debug/profile?seconds=0', 'seconds: must be 1 to 30'],
  ['/debug/profile?seconds=31', 'seconds: must be 1 to 30'],
  ['/debug/profile?seconds=1e1', 'seconds: must be 1 to 30'],
  ['/debug/profile?process=init', 'process: use control or engine'],
  ['/debug/profile?thread=front-0', 'thread: control has main only'],
  ['/debug/profile?thread=%2e', 'thread: use main, front-0'],
])('%s is refused', async (path, says) => {
  const { status, body } = await ask(path);
  expect(status).toBe(400);
  expect(body['message']).toContain(says);
});

test('one profile at a time, and each is audited', async () => {
  const [first, second] = await Promise.all([
    ask('/debug/profile?seconds=2'),
    ask('/debug/profile?seconds=2'),
  ]);
  const [taken, refused] = first.status === 200 ? [first, second] : [second, first];
  expect(taken.body).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) });
  expect([refused.status, refused.body['code']]).toEqual([409, 'profile_busy']);
  const { body } = await waf.call('AuditService/QueryAudit', {});
  const rows = (body['items'] as { action: string; resourceId?: string }[]).filter(
    ({ action }) => action === 'profile',
  );
  // That of the engine was asked for above: it is audited before it begins.
  expect(rows.map(({ resourceId }) => resourceId)).toEqual(['control', 'engine']);
});

test('waf debug prints the same, and says what was wrong', async () => {
  const commands = await loadCommands(['debug']);
  const run = async (...words: string[]): Promise<string> => {
    const printed = keepPrinted();
    const line = ['debug', ...words, '--admin-socket', waf.socket];
    const code = await runCommandLine(commands, line);
    vi.restoreAllMocks();
    return `${code} ${printed.err}${printed.out}`;
  };
  expect(await run('queues')).toMatch(/^0 \{\n[^]*"lanes"/);
  expect(await run('profile', '--seconds', '99')).toContain('seconds: must be 1 to 30');
  expect(await run('nothing')).toMatch(/^[1-9]/);
});
