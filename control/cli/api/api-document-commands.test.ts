/** The single steps of an API document on the command line: each sentence is a row. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { apiDocuments } from '../../../test/support/api-documents.ts';
import { CommandLine } from '../../../test/support/command-line.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { connectTakingLink } from '../../../test/support/test-link.ts';
import type { ControllerLink } from '../../../engine/link/controller-link.ts';
import { apiDocumentSteps } from './api-document-commands.ts';
import { loadCommands } from '../commands.ts';

const commands = await loadCommands([]);
const folder = mkdtempSync(join(tmpdir(), 'waf-api-document-'));
let waf: TestControl;
let link: ControllerLink;
let siteId = '';
const line = new CommandLine(commands, () => waf.socket);

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  link = await connectTakingLink(waf.socket);
  const upstreams = [{ inline: { url: 'http://127.0.0.1:9', weight: 1 } }];
  const { body } = await waf.call('SiteService/CreateSite', {
    site: { name: 'shop', primaryHost: 'shop.example', upstreams },
  });
  siteId = (body['site'] as { id: string }).id;
});
afterAll(async () => {
  await link.close();
  await waf.control.close();
});
afterEach(() => vi.restoreAllMocks());

function file(name: string, text: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

type Answer = Record<string, Record<string, string>> & Record<string, string>;

async function step(name: string, request: object): Promise<Answer> {
  const path = file('request.json', JSON.stringify({ siteId, ...request }));
  return (await line.json('api-document', name, '-f', path)) as Answer;
}

const opened = (base64: string | undefined): Record<string, unknown> =>
  JSON.parse(Buffer.from(base64 ?? '', 'base64').toString('utf8')) as Record<string, unknown>;

test('the group has the subcommands of the specification, each with its own method', () => {
  const names = apiDocumentSteps.map(([name]) => name);
  expect(names.toSorted()).toEqual(
    (
      'binding bindings bindings-stage declaration declaration-preview declaration-stage ' +
      'declarations detection learning learning-change learning-export learning-snapshot ' +
      'learning-stage preview profile profile-stage profiles publish report reports source ' +
      'sources upload'
    ).split(' '),
  );
  expect(new Set(apiDocumentSteps.map(([, rpc]) => rpc)).size).toBe(23);
});

test('a document goes its whole way, and each step reads back', async () => {
  const source = Buffer.from(apiDocuments.pets ?? '').toString('base64');
  const kept = await step('upload', { name: 'pets', format: 'json', source });
  const sourceId = kept['source']!['id']!;
  const mappings = [{ host: 'shop.example', basePath: '/v1', approved: true }];
  const shown = await step('declaration-preview', { sourceId, mappings });
  const [scope] = opened(shown['declarationJson'])['scopes'] as { sha256: string }[];
  const { reportSha256, catalogSha256 } = shown;
  const decided = { scopeSha256: scope!.sha256, state: 'partial', acknowledged: true };
  const reviewed = { sourceId, mappings, reportSha256, catalogSha256, coverage: [decided] };
  const contractId = (await step('declaration-stage', reviewed))['contract']!['id']!;
  const compiled = await step('profile-stage', { sourceId, mappings });
  const profileId = compiled['profile']!['id']!;
  const operationKeys = ['POST shop.example/v1/pets'];
  const chosen = { declarationId: contractId, profileId, operationKeys };
  const bindingId = (await step('bindings-stage', chosen))['bindings']!['id']!;
  const preview = await step('preview', { action: 'activate', contractId, bindingId });
  const path = file(
    'publish.json',
    JSON.stringify({
      approval: preview['approval'],
      ...{ idempotencyKey: 'first', reason: 'reviewed' },
      ...{ impactAcknowledged: true, resourceAcknowledged: true },
    }),
  );
  const made = await line.json('api-document', 'publish', '-f', path);
  expect(made).toMatchObject({ state: 'pending', intent: { controlRevision: '1' } });
  const reads: readonly (readonly [string, object, object])[] = [
    ['source', { sourceId }, { sourceBytes: source }],
    ['sources', {}, { sources: [{ id: sourceId }] }],
    ['report', { reportId: compiled['reportId'], kind: 'operations' }, { stage: 'profile' }],
    ['declaration', { contractId }, { contract: { id: contractId } }],
    ['declarations', {}, { contracts: [{ id: contractId }] }],
    ['profile', { profileId }, { profile: { id: profileId } }],
    ['profiles', {}, { profiles: [{ id: profileId }] }],
    ['binding', { bindingId }, { bindings: { id: bindingId } }],
    ['bindings', {}, { bindings: [{ id: bindingId }] }],
  ];
  for (const [name, request, answer] of reads) {
    expect(await step(name, request), name).toMatchObject(answer);
  }
  const { reports } = (await step('reports', { sourceId })) as unknown as { reports: object[] };
  expect(reports.length).toBeGreaterThan(1);
  const detection = await step('detection', { lookbackSeconds: 3600 });
  expect(opened(detection['detectionJson'])).toMatchObject({ contract_id: contractId });
});

test('people see the fields of an answer, also those of the documents in it', async () => {
  const path = file('list.json', JSON.stringify({ siteId, lookbackSeconds: 3600 }));
  expect(await line.run('api-document', 'detection', '-f', path)).toBe(0);
  expect(line.out).toMatch(/^FIELD +VALUE/);
  expect(line.out).toMatch(/detectionJson\.site_id +site-/);
});

test.each([
  ['an unknown field', '{"siteId":"s","nonsense":1}', /request\.json: .*"nonsense"/],
  ['an unknown field inside', '{"mappings":[{"hosts":"a"}]}', /"hosts"/],
  ['a name that comes twice', '{"siteId":"a","siteId":"b"}', /request\.json:1:\d+: .*JSON/],
  ['a field in two spellings', '{"siteId":"a","site_id":"b"}', /siteId is given twice/],
  [
    'a field in two spellings inside',
    '{"mappings":[{"basePath":"","base_path":"/v1"}]}',
    /mappings\.basePath is given twice/,
  ],
  ['a list', '[]', /must hold one JSON object/],
  ['no text', '', /request\.json:1:1: /],
  ['a comment', '{} // no', /request\.json:1:4: /],
  ['a value of another type', '{"siteId":7}', /siteId|site_id/],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), /is not UTF-8/],
  ['more than 16 MiB', ' '.repeat(16 * 1024 * 1024 + 1), /larger than 16777216 bytes/],
] as const)('a request is refused for %s', async (_says, text, reason) => {
  const path = file('request.json', text);
  expect(await line.run('api-document', 'declaration-preview', '-f', path)).toBe(1);
  expect(line.err).toMatch(reason);
});

test('a document is uploaded from its file', async () => {
  const document = file('pets.yaml', apiDocuments.yaml ?? '');
  const made = await line.json(
    ...['api-document', 'upload', '--site', 'shop', '--document', document],
  );
  expect(made).toMatchObject({ source: { siteId, name: 'pets.yaml', format: 'yaml' } });
  const named = [
    '--site',
    'shop',
    '--name',
    'pets',
    '--document',
    file('a', apiDocuments.pets ?? ''),
  ];
  expect(await line.json('api-document', 'upload', ...named)).toMatchObject({
    source: { name: 'pets', format: 'json' },
  });
});

test.each([
  [['--site', 'shop'], /go with --document/],
  [['--document', 'x'], /--site is missing/],
  [['--document', 'x', '--site', 'shop', '-f', 'y'], /either -f or --document/],
  [['--document', '/nonexistent', '--site', 'shop'], /there is no such file/],
])('an upload is refused for %j', async (flags, reason) => {
  expect(await line.run('api-document', 'upload', ...flags)).toBe(1);
  expect(line.err).toMatch(reason);
});
