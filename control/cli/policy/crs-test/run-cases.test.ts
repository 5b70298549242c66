/** Tests the runner against a stand-in for the proxy that writes the events requests ask for. */

import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noExpectation, type Expectation, type TestCase } from './case.ts';
import { openEventTail, type EventTail } from './event-tail.ts';
import { runCases } from './run-cases.ts';
import { closingLine, familyTable, summarize } from './summary.ts';

let folder = '';
let events: EventTail;
let server: Server;
let seen = 0;

/** A request's path names the rules that are to match, and what else is to happen. */
function answer(path: string, clientPort: number): string {
  seen += 1;
  const ids = path.match(/\d{6}/g) ?? [];
  const fires = !path.includes('second-time') || seen % 2 === 0;
  const refused = path.includes('refused');
  const status = refused ? 400 : 200;
  const event = {
    requestId: `r${seen}`,
    clientPort,
    status,
    refusal: refused ? 'bad_framing' : null,
    transaction: {
      verdict: { status: 403 },
      detectionOnly: path.includes('withheld'),
      matchedRules: fires ? ids.map((id) => ({ ruleId: Number(id), log: true })) : [],
    },
  };
  if (!path.includes('silent')) {
    appendFileSync(join(folder, 'events'), JSON.stringify(event) + '\n');
  }
  return `HTTP/1.1 ${status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waf-run-'));
  writeFileSync(join(folder, 'events'), '');
  events = openEventTail(join(folder, 'events'));
  server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      const path = chunk.toString('latin1').split(' ')[1] ?? '';
      socket.end(answer(path, socket.remotePort ?? 0));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  events.close();
  rmSync(folder, { recursive: true, force: true });
});

const one = (
  title: string,
  ...stages: [path: string, expect: Partial<Expectation>][]
): TestCase => ({
  title,
  family: 'family',
  skip: null,
  stages: stages.map(([path, expectation]) => ({
    wire: Buffer.from(`GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
    expect: { ...noExpectation, ...expectation },
  })),
});

test('cases run concurrently and every outcome is distinguished', async () => {
  const cases: TestCase[] = [
    one('matches', ['920100', { ids: [920100], noIds: [1] }]),
    one('misses', ['920100', { ids: [920101] }]),
    one('both stages', ['920100', { ids: [920100] }], ['920200', { ids: [920200] }]),
    one('second stage fails', ['920100', { ids: [920100] }], ['x', { ids: [920200] }]),
    one('refused', ['refused', { ids: [920300] }]),
    one('withheld', ['withheld', { statuses: [403] }]),
    one('no event', ['silent', { ids: [1] }]),
    { ...one('left out', ['x', {}]), skip: 'not for us' },
  ];
  let told = 0;
  const { port } = server.address() as AddressInfo;
  const options = {
    port,
    events,
    lanes: 4,
    timeoutMs: 3_000,
    ownAddresses: false,
    onResult: () => (told += 1),
  };
  const results = await runCases(cases, options);
  expect(results.map(({ title, result }) => `${title}: ${result}`)).toEqual([
    'matches: pass',
    'misses: fail',
    'both stages: pass',
    'second stage fails: fail',
    'refused: pass',
    'withheld: pass',
    'no event: fail',
    'left out: skip',
  ]);
  expect(results[3]?.reasons).toEqual(['stage 2: 920200 did not match']);
  expect(results[4]).toMatchObject({ refusal: 'bad_framing' });
  expect(results[5]).toMatchObject({ withheld: true });
  expect(told).toBe(cases.length);

  const report = summarize('test', results);
  expect(closingLine(report)).toBe('4 passed, 3 failed, 1 skipped');
  expect(familyTable(report).rows).toEqual([['family', '4', '3', '1', '1', '57.14 %']]);
});

test('a stage that asks for it gets a second chance', async () => {
  seen = 0;
  const { port } = server.address() as AddressInfo;
  const stage: [string, Partial<Expectation>] = ['second-time-920100', { ids: [920100] }];
  const options = {
    port,
    events,
    lanes: 1,
    timeoutMs: 60_000,
    ownAddresses: false,
    onResult: () => undefined,
  };
  const [once] = await runCases([one('once', stage)], options);
  expect(once?.result).toBe('fail');
  seen = 0;
  const [twice] = await runCases(
    [one('twice', [stage[0], { ...stage[1], retryOnce: true }])],
    options,
  );
  expect(twice?.result).toBe('pass');
});
