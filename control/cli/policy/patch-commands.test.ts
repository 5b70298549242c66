/** Proves that a file of patches that is refused half-way says which of them are applied. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { keepPrinted, type Printed } from '../../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

const commands = await loadCommands([]);
const folder = mkdtempSync(path.join(tmpdir(), 'waf-patches-'));
const file = path.join(folder, 'patches.yaml');
let waf: TestControl;
let printed: Printed;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  await run('policy', 'create', '--name', 'shop');
});
afterAll(async () => {
  await waf.control.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  printed = keepPrinted();
});
afterEach(() => vi.restoreAllMocks());

const run = (...line: string[]): Promise<number> =>
  runCommandLine(commands, [...line, '--admin-socket', waf.socket]);

const patch = (id: string, more = ''): string => `id: ${id}
title: a fault
references: [https://example.test/${id}]
severity: critical
${more}conditions:
  - { in: [uri], contains: ${id} }
requests:
  - { url: /${id}, expect: match }
  - { url: /, expect: pass }
`;

async function kept(): Promise<string[]> {
  printed.out = '';
  expect(await run('patch', 'list', 'shop')).toBe(0);
  return printed.out.match(/CVE-2020-\d+/g) ?? [];
}

test('a patch that is refused names those before and after it', async () => {
  const ids = Array.from({ length: 16 }, (_, at) => `CVE-2020-${1001 + at}`);
  const documents = ids.map((id) => patch(id, id === ids[2] ? 'expires: 2021-01-01\n' : ''));
  writeFileSync(file, documents.join('---\n'));
  expect(await run('patch', 'apply', 'shop', file)).toBe(1);
  expect(printed.err).toContain(`Refused: ${ids[2]} (${file}, document 3).`);
  expect(printed.err).toContain(`Applied before it: ${ids[0]}, ${ids[1]}.`);
  expect(printed.err).toContain(`Not tried after it: ${ids.slice(3, 13).join(', ')}, 3 more.`);
  expect(printed.err).toContain('expires: is over');
  expect(await kept()).toEqual(ids.slice(0, 2));
});

test('with --all-or-none those before a refused patch are taken back', async () => {
  const rules = async (): Promise<unknown> => {
    printed.out = '';
    expect(await run('patch', 'list', 'shop', '--output', 'json')).toBe(0);
    const { patches } = JSON.parse(printed.out) as { patches: readonly Record<string, unknown>[] };
    return patches.map(({ updatedAt: _updatedAt, ...rule }) => rule);
  };
  writeFileSync(file, patch('CVE-2020-4001'));
  expect(await run('patch', 'apply', 'shop', file)).toBe(0);
  const before = await rules();
  const changed = patch('CVE-2020-4001').replace('a fault', 'another title');
  const over = patch('CVE-2020-4003', 'expires: 2021-01-01\n');
  writeFileSync(file, [changed, patch('CVE-2020-4002'), over].join('---\n'));
  expect(await run('patch', 'apply', 'shop', file, '--all-or-none')).toBe(1);
  expect(printed.err).toContain('Refused: CVE-2020-4003');
  expect(printed.err).toContain('Taken back: 2.');
  expect(await rules()).toEqual(before);
});

test('a file that cannot be read as patches changes nothing', async () => {
  const before = await kept();
  writeFileSync(file, [patch('CVE-2020-2001'), 'id: CVE-2020-2002\n'].join('---\n'));
  expect(await run('patch', 'apply', 'shop', file)).toBe(1);
  expect(printed.err).toContain('document 2: title must be text');
  expect(await kept()).toEqual(before);
});

test('a patch that is removed is named with its rule and each of its sites', async () => {
  const { body } = await waf.call('PolicyService/ListPolicies', {});
  const items = body['items'] as readonly { readonly id: string; readonly name: string }[];
  const policyId = items.find(({ name }) => name === 'shop')!.id;
  const upstreams = [{ inline: { url: 'http://127.0.0.1:1' } }];
  const site = {
    name: 'one',
    primaryHost: 'one.test',
    upstreams,
    waf: { enabled: true, policyId },
  };
  expect(await waf.call('SiteService/CreateSite', { site })).toMatchObject({ status: 200 });
  writeFileSync(file, patch('CVE-2020-3001'));
  expect(await run('patch', 'apply', 'shop', file)).toBe(0);
  expect(await run('patch', 'apply', 'shop', file, '--site', 'one')).toBe(0);
  printed.out = '';
  expect(await run('patch', 'remove', 'shop', 'CVE-2020-3001', '--output', 'json')).toBe(0);
  const { id, removed, patches } = JSON.parse(printed.out) as {
    readonly id: string;
    readonly removed: boolean;
    readonly patches: readonly { readonly ruleId: string; readonly siteId?: string }[];
  };
  expect({ id, removed }).toEqual({ id: 'CVE-2020-3001', removed: true });
  expect(patches).toHaveLength(2);
  expect(patches.filter(({ siteId = '' }) => siteId === '')).toHaveLength(1);
  expect(patches.every(({ ruleId }) => Number(ruleId) > 0)).toBe(true);
  expect(await kept()).not.toContain('CVE-2020-3001');
});
