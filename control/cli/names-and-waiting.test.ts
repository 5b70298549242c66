/** Proves what spares people guesses: names for ids, and word of when a change is served. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { keepPrinted, type Printed } from '../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import type { ApiClient } from './api-client.ts';
import { awaitServing, type ServingState } from './await-serving.ts';
import { loadCommands } from './commands.ts';
import { createOutput } from './output.ts';
import { runCommandLine } from './program.ts';

const commands = await loadCommands([]);

let waf: TestControl;
let printed: Printed;

beforeAll(async () => {
  waf = await startTestControl();
});
afterAll(() => waf.control.close());
beforeEach(() => {
  printed = keepPrinted();
});
afterEach(() => vi.restoreAllMocks());

const run = (...line: string[]): Promise<number> =>
  runCommandLine(commands, [...line, '--admin-socket', waf.socket]);

test('names stand for ids in arguments and flags', async () => {
  const origin = ['--upstream', 'http://127.0.0.1:1'];
  expect(await run('site', 'create', '--name', 'shop', '--host', 'shop.test', ...origin)).toBe(0);
  expect(printed.out).toMatch(/shop +shop\.test .* \(default\) +active/);
  expect(printed.err).toContain('No node is connected');
  expect(await run('policy', 'create', '--name', 'strict shop')).toBe(0);
  expect(await run('site', 'update', 'shop', '--policy', 'strict shop')).toBe(0);
  expect(await run('rule', 'override', 'strict shop', '942999', 'disable', '--site', 'shop')).toBe(
    0,
  );
  expect(await run('policy', 'get', 'Standard')).toBe(0);
  expect(printed.out).toContain('policy-standard');
  expect(await run('system', 'top', 'path', '--site', 'shop')).toBe(0);
  expect(await run('site', 'get', 'nobody')).toBe(1);
  expect(printed.err).toContain('No site named "nobody".');
  expect(await run('site', 'delete', 'shop', '--no-wait')).toBe(0);
  expect(printed.err.match(/No node is connected/g)).toHaveLength(3);
});

test('a wrong command line names the mistake, and where help is, in a few lines', async () => {
  expect(await run('site', 'create', '--name', 'x')).toBe(2);
  expect(printed.err).toContain("'--host <host>' not specified");
  expect(printed.err).toContain('waf site create --help');
  expect(await run('polcy')).toBe(2);
  expect(printed.err).toContain('Did you mean policy?');
  expect(await run('policy', 'lst')).toBe(2);
  expect(printed.err).toContain('waf policy --help');
  expect(printed.err.split('\n').length).toBeLessThan(14);
  expect(await run('--help')).toBe(0);
  expect(printed.out).not.toContain('commands on');
});

test('a file that cannot be read says why', async () => {
  expect(await run('apply', '-f', '/nonexistent/shop.yaml')).toBe(1);
  expect(printed.err).toContain('/nonexistent/shop.yaml: there is no such file');
  expect(await run('rule', 'preview', '--visual', '/tmp')).toBe(1);
  expect(printed.err).toContain('/tmp: it is a folder');
  expect(await run('bundle', 'build', '-f', '/nonexistent', '-o', '/nonexistent')).toBe(1);
  expect(printed.err).toContain('/nonexistent: there is no such file');
});

test('a visual rule with a field that means nothing is refused', async () => {
  const rule = (visualSpec: object) =>
    waf.call('CustomRuleService/PreviewCustomRule', {
      rule: { name: 'x', enabled: true, visualSpec },
    });
  const condition = { variable: 'REQUEST_URI', operator: 'beginsWith', value: '/admin' };
  const good = await rule({ conditions: [condition], action: 'block', status: 404 });
  expect(good.text).toContain('status:404');
  for (const [spec, field] of [
    [{ conditions: [condition], action: { type: 'deny' } }, 'rule.visualSpec.action'],
    [{ conditions: [condition], action: 'toString' }, 'rule.visualSpec.action'],
    [{ conditions: [condition], acton: 'log' }, 'rule.visualSpec'],
    [{ conditions: [condition], status: '404' }, 'rule.visualSpec.status'],
    [{ conditions: [{ ...condition, negated: true }] }, 'rule.visualSpec.conditions[0]'],
    [{ conditions: [{ ...condition, negate: 'no' }] }, 'rule.visualSpec.conditions[0].negate'],
  ] as const) {
    const { body } = await rule(spec);
    expect(body['message']).toContain(`${field}: `);
  }
});

const before: ServingState = {
  connected: true,
  target: 1n,
  publishing: false,
  serves: 1n,
  tried: 1n,
  failure: '',
};

/** A node whose configuration and state follow from how often it was asked. */
function nodeOf(states: readonly object[]): ApiClient {
  let asked = 0;
  const at = (): Record<string, unknown> =>
    states[Math.min(asked, states.length - 1)] as Record<string, unknown>;
  return {
    agents: {
      listNodes: () => Promise.resolve({ items: [{ connectionStatus: 'LOCAL', ...at() }] }),
      getNodeServingState: () => {
        const { targetRevision, publishing = false } = at();
        asked++;
        return Promise.resolve({ targetRevision, publishing });
      },
    },
  } as unknown as ApiClient;
}

async function notesOf(states: readonly object[]): Promise<string> {
  let notes = '';
  const output = createOutput('table', undefined, (text) => (notes += text));
  await awaitServing(nodeOf(states), output, before);
  return notes;
}

const old = { targetRevision: 1n, configRevision: 1n, attemptConfigRevision: 1n };
const next = { targetRevision: 2n, configRevision: 1n, attemptConfigRevision: 1n };

test('a change that is served at once, or changes nothing, needs no word', async () => {
  expect(await notesOf([old, next, { ...next, configRevision: 2n }])).toBe('');
  expect(await notesOf([old])).toBe('');
});

test('a command waits for a publication that takes long, and for the node then', async () => {
  const slow = Array.from({ length: 25 }, () => ({ ...old, publishing: true }));
  const notes = await notesOf([...slow, next, { ...next, configRevision: 2n }]);
  expect(notes).toMatch(/^Saved\. Compiling rules…\nserved after \d+ s\n$/);
});

test('a publication that was under way before is not taken for that of the change', async () => {
  const earlier = { targetRevision: 2n, configRevision: 2n, attemptConfigRevision: 2n };
  const own = { ...earlier, targetRevision: 3n };
  const failed = { ...own, attemptConfigRevision: 3n, applyResult: 'failure', applyError: 'b:2' };
  expect(await notesOf([{ ...earlier, publishing: true }, own, failed])).toBe(
    'the node cannot serve the change: b:2\n',
  );
});

test('a node that cannot serve the change says why', async () => {
  const failed = { ...next, attemptConfigRevision: 2n, applyResult: 'failure', applyError: 'a:1' };
  expect(await notesOf([next, failed])).toBe('the node cannot serve the change: a:1\n');
});

test('a command waits for a slow node and prints that it waits', async () => {
  const slow = Array.from({ length: 25 }, () => next);
  const notes = await notesOf([...slow, { ...next, configRevision: 2n }]);
  expect(notes).toMatch(/^Saved\. Compiling rules…\nserved after \d+ s\n$/);
});
