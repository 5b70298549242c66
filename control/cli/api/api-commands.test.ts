/** The checks of an API from a document to a node, as operators run the commands. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { apiDocuments } from '../../../test/support/api-documents.ts';
import { CommandLine } from '../../../test/support/command-line.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { connectTakingLink } from '../../../test/support/test-link.ts';
import type { ControllerLink } from '../../../engine/link/controller-link.ts';
import { loadCommands } from '../commands.ts';

const commands = await loadCommands([]);
const folder = mkdtempSync(join(tmpdir(), 'waf-api-'));
let waf: TestControl;
let link: ControllerLink;
const line = new CommandLine(commands, () => waf.socket);

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  link = await connectTakingLink(waf.socket);
  const upstreams = [{ inline: { url: 'http://127.0.0.1:9', weight: 1 } }];
  for (const name of ['shop', 'other']) {
    await waf.call('SiteService/CreateSite', {
      site: { name, primaryHost: `${name}.example`, upstreams },
    });
  }
});
afterAll(async () => {
  await link.close();
  await waf.control.close();
});
afterEach(() => vi.restoreAllMocks());

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const pets = file('pets.json', apiDocuments['pets'] ?? '');
const words = (text: string): string[] => text.split(' ');

/** Modes by method and path. */
async function modes(): Promise<Record<string, string>> {
  const { wanted } = await line.json('api', 'status', '--site', 'shop');
  const { operations } = wanted as { operations: { key: string; mode: string }[] };
  return Object.fromEntries(
    operations.map(({ key, mode }) => [key.replace(' shop.example/v1', ' '), mode]),
  );
}

test('without agreement everything is shown and nothing is published', async () => {
  expect(await line.run('api', 'status', '--site', 'shop')).toBe(0);
  expect(line.out).toContain('The site checks no API.');
  expect(await line.run('api', 'import', pets, '--site', 'shop')).toBe(1);
  expect(line.out).toMatch(/POST shop\.example\/v1\/pets +observe +off +[1-9]/);
  expect(line.out).toContain('is at shop.example/v1');
  expect(line.out).toContain('requests that no operation takes: allow');
  expect(line.err).toContain('--yes');
  expect(await line.run('api', 'import', pets, '--site', 'shop', '--output', 'json')).toBe(1);
  expect(JSON.parse(line.out)).toMatchObject({ published: false, intentId: '' });
  expect(line.err).toContain('Nothing is published. Add --yes');
  expect(await modes()).toEqual({});
});

test('an import observes, and its modes change by operation', async () => {
  expect(await line.run('api', 'import', pets, ...words('--site shop --yes'))).toBe(0);
  expect(await modes()).toMatchObject({ 'POST /pets': 'observe', 'GET /pets': 'observe' });
  expect(await line.run(...words('api enforce --site shop --yes'), 'POST /v1/pets'), line.err).toBe(
    0,
  );
  expect(await modes()).toMatchObject({ 'POST /pets': 'enforce', 'GET /pets': 'observe' });
  // A new version of the document does not weaken what is enforced.
  expect(
    await line.run('api', 'import', pets, ...words('--site shop --yes --undeclared block')),
  ).toBe(0);
  expect(line.out).toContain('requests that no operation takes: block (allow before)');
  expect(await modes()).toMatchObject({ 'POST /pets': 'enforce', 'GET /pets': 'observe' });
  expect(await line.run(...words('api enforce --site shop --yes'))).toBe(0);
  const all = Object.values(await modes()).filter((mode) => mode !== 'off');
  expect(new Set(all)).toEqual(new Set(['enforce']));
  expect(await line.run(...words('api enforce --site shop'))).toBe(0);
  expect(line.err).toContain('Nothing changes: each is in enforce already.');
  expect(await line.run(...words('api observe --site shop --yes'))).toBe(0);
  expect(new Set(Object.values(await modes()))).not.toContain('enforce');
});

test('a status tells the change, what nodes acknowledged, and the counts', async () => {
  await eventually(async () => {
    const { state } = await line.json('api', 'status', '--site', 'shop');
    return (state as { deploymentState: string }).deploymentState === 'converged';
  });
  expect(await line.run('api', 'status', '--site', 'shop')).toBe(0);
  expect(line.out).toMatch(/OPERATION +MODE +REQUESTS +VALID +VIOLATION +NOT EVALUATED/);
  expect(line.out).toMatch(/is converged: 1 of 1 nodes serve it, 0 failed/);
  expect(line.out).toContain('requests that no operation takes: block; 0 came');
});

test('what is checked in part is shown with its reason and is enforced only when accepted', async () => {
  const partial = file('partial.json', apiDocuments['partial'] ?? '');
  const names = ['--site', 'shop', '--new-entries', '--yes', '--output', 'json'];
  expect(await line.run('api', 'import', partial, '--enforce', ...names), line.err).toBe(0);
  const plan = JSON.parse(line.out) as {
    operations: { unchecked: number; after: string; key: string }[];
    diagnostics: { code: string }[];
    removed: string[];
  };
  const [part] = plan.operations.filter(({ unchecked }) => unchecked > 0);
  expect(part?.after).toBe('observe');
  expect(plan.diagnostics.map(({ code }) => code)).toContain('unchecked');
  expect(plan.removed.length).toBeGreaterThan(0);
  const enforce = ['api', 'enforce', '--site', 'shop', '--yes', part?.key ?? ''];
  expect(await line.run(...enforce)).toBe(1);
  expect(line.err).toContain('is checked in part: add --partial');
  expect(await line.run(...enforce, '--partial'), line.err).toBe(0);
});

test.each([
  ['api import /nonexistent --site shop', /there is no such file/],
  ['api import PETS --site nowhere', /No site named "nowhere"/],
  ['api import PETS --site shop --observe --enforce', /either --observe or --enforce/],
  ['api import PETS --site shop --host other.example', /must be a host of the site/],
  ['api import PETS --site shop --base-path v1', /basePath/],
  ['api import BROKEN --site shop', /broken\.yaml:2:/],
  ['api import EMPTY --site shop', /declares no operation/],
  ['api enforce --site other', /The site checks no API/],
  ['api enforce --site shop nonsense', /"nonsense" is no operation of the API/],
])('%s is refused', async (text, reason) => {
  const files: Readonly<Record<string, string>> = {
    PETS: pets,
    BROKEN: file('broken.yaml', 'openapi: 3.1.0\n\tpaths: {}\n'),
    EMPTY: file('empty.json', '{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}'),
  };
  expect(await line.run(...words(text).map((word) => files[word] ?? word))).toBe(1);
  expect(line.err).toMatch(reason);
});
