/** Proves that tuning a rule on the command line loses nothing that was written before. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { keepPrinted, type Printed } from '../../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';
import { inFlags } from './rule-override-commands.ts';

const commands = await loadCommands([]);
let waf: TestControl;
let printed: Printed;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  await run('policy', 'create', '--name', 'shop');
});
afterAll(() => waf.control.close());
beforeEach(() => {
  printed = keepPrinted();
});
afterEach(() => vi.restoreAllMocks());

const run = (...line: string[]): Promise<number> =>
  runCommandLine(commands, [...line, '--admin-socket', waf.socket]);

const override = (...line: string[]): Promise<number> =>
  run('rule', 'override', 'shop', '942999', ...line);

async function overrides(): Promise<object[]> {
  const { body } = await waf.call('PolicyService/ListPolicies', { query: 'shop' });
  const policyId = (body['items'] as { id: string }[])[0]?.id;
  const listed = await waf.call('RuleOverrideService/ListRuleOverrides', { policyId });
  return (listed.body['items'] ?? []) as object[];
}

test('exclusions add up; the old word for them is taken', async () => {
  expect(await override('default', '--without', 'ARGS:id', '--rationale', 'one')).toBe(0);
  expect(await override('exclude', '--without', 'ARGS:q', '--rationale', 'two')).toBe(0);
  expect(await overrides()).toMatchObject([
    {
      removedTargets: ['ARGS:id', 'ARGS:q'],
      actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT',
      rationale: 'one\ntwo',
    },
  ]);
  expect(printed.out).toMatch(/exclude +!ARGS:id\|!ARGS:q/);
});

test('an action keeps the exclusions, an exclusion keeps the action', async () => {
  expect(await override('log-only')).toBe(0);
  expect(await override('exclude', '--without', 'ARGS:r')).toBe(0);
  expect(await overrides()).toMatchObject([
    {
      removedTargets: ['ARGS:id', 'ARGS:q', 'ARGS:r'],
      actionEnum: 'RULE_OVERRIDE_ACTION_LOG_ONLY',
    },
  ]);
});

test('naming nothing changes nothing and says what could be taken away', async () => {
  expect(await override('exclude')).toBe(1);
  expect(printed.err).toContain('log-only, without ARGS:id, without ARGS:q, without ARGS:r');
  expect(await override('exclude', '--remove')).toBe(1);
  expect(await overrides()).toMatchObject([{ removedTargets: ['ARGS:id', 'ARGS:q', 'ARGS:r'] }]);
});

test('removing and replacing are explicit, and say what they take away', async () => {
  expect(await override('exclude', '--remove', '--without', 'ARGS:q')).toBe(0);
  expect(printed.err).toContain('taken away: without ARGS:q');
  expect(await override('exclude', '--remove', '--without', 'ARGS:q')).toBe(1);
  expect(printed.err).toContain('is not part of the override');
  expect(await override('exclude', '--replace', '--without', 'ARGS:z')).toBe(0);
  expect(printed.err).toContain('taken away: log-only, without ARGS:id, without ARGS:r');
  expect(await overrides()).toMatchObject([{ removedTargets: ['ARGS:z'] }]);
  expect(await override('exclude', '--replace', '--remove')).toBe(1);
  expect(await override('exclude', '--replace')).toBe(0);
  expect(await overrides()).toEqual([]);
});

test('an override without effect is refused with the reason', async () => {
  const origin = ['--upstream', 'http://127.0.0.1:1'];
  const create = ['site', 'create', '--name', 'other', '--host', 'other.test', ...origin];
  expect(await run(...create)).toBe(0);
  expect(await override('disable', '--site', 'other')).toBe(1);
  expect(printed.err).toContain('the site uses the policy Light');
  expect(await override('exclude', '--without', 'REQUEST_BODY')).toBe(1);
  expect(printed.err).toContain('the rule does not read it');
  expect(printed.err).toContain('it reads ARGS');
  expect(printed.err).toContain('--without REQUEST_BODY: the rule does not read it');
  expect(printed.err).not.toContain('removedTargets');
  expect(await override('disable', '--scope', '/api/*')).toBe(1);
  expect(printed.err).toContain('is a prefix and no pattern');
  expect(await override('disable', '--scope', '/a/../b')).toBe(1);
  expect(await overrides()).toEqual([]);
});

test('an unknown variable is named with its flag', () => {
  const compiled = 'override: the rules do not compile: policy.conf:98:34: unknown variable "FOO"';
  const asked = { removedTargets: ['ARGS:a'], addedTargets: ['FOO:b'] };
  expect(inFlags(compiled, asked)).toMatch(/^Unknown variable FOO in --with\. Write a variable/);
  expect(inFlags(compiled, { removedTargets: ['!FOO'], addedTargets: [] })).toMatch(
    /^Unknown variable FOO in --without\./,
  );
  expect(inFlags('override.scope: is a prefix', asked)).toBe('--scope: is a prefix');
});
