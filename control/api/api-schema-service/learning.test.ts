/**
 * Proof of learning through the API: only what an endpoint that learns sent is kept, drafts are
 * immutable and seven, and a staged document activates nothing.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { toRuntimeConfig } from '../../../engine/bundle/runtime-config.ts';
import type { VerifiedBundle } from '../../../engine/bundle/signed-bundle.ts';
import type { ApiLearning } from '../../../engine/contract/api-learning.ts';
import type { ControllerLink } from '../../../engine/link/controller-link.ts';
import { eventually } from '../../../test/support/eventually.ts';
import {
  startTestControl,
  type Answer,
  type TestControl,
} from '../../../test/support/test-control.ts';
import { connectTestLink } from '../../../test/support/test-link.ts';

let waf: TestControl;
let link: ControllerLink;
let siteId = '';
let assetId = '';
let getId = '';
const applied: VerifiedBundle[] = [];

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  link = connectTestLink(waf.socket, applied, async (obtain, keep) => {
    applied.push(await obtain());
    await keep();
  });
  const upstreams = [{ inline: { url: 'http://127.0.0.1:1' } }];
  const site = { name: 'shop', primaryHost: 'shop.test', upstreams };
  const made = await waf.call('SiteService/CreateSite', { site });
  siteId = (made.body['site'] as { id: string }).id;
  const place = { host: 'shop.test', count: 9 };
  const post = { ...place, method: 'POST', path: '/a/{value}/b/{value}' };
  const endpoints = [post, { ...post, method: 'GET' }, { ...post, path: '/plain' }];
  link.learnEndpoints([{ siteId, endpoints, omitted: 0 }]);
  const assets = await eventually(async () => {
    const { body } = await waf.get(`/api/v1/telemetry/apitree?site=${siteId}&depth=9`, false);
    const found = JSON.stringify(body).match(/asset-[0-9a-f]{32}/g);
    return found !== null && new Set(found).size === 3 ? body : null;
  });
  const list = endpointsIn(assets);
  assetId = list.find(({ method, path }) => method === 'POST' && path !== '/plain')!.asset_id;
  getId = list.find(({ method }) => method === 'GET')!.asset_id;
});
afterAll(async () => {
  await link.close();
  await waf.control.close();
});

interface Shown {
  readonly asset_id: string;
  readonly method: string;
  readonly path: string;
}

/** Every endpoint of a tree. */
function endpointsIn(value: unknown): Shown[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'asset_id' in value ? [value as Shown] : [];
  return [...own, ...Object.values(value).flatMap((one) => endpointsIn(one))];
}

const rpc = (name: string, body: object): Promise<Answer> =>
  waf.call(`ApiSchemaService/${name}`, { siteId, assetId, ...body });
const change = (body: object): Promise<Answer> => rpc('ChangeSchemaLearning', body);

interface Draft {
  readonly revision_id: string;
  readonly revision: string;
  readonly sha256: string;
}
interface State {
  readonly enabled: boolean;
  readonly revision: string;
  readonly generation: string;
  readonly evidence: { readonly samples: string; readonly fields: readonly object[] };
  readonly coverage: object;
  readonly drafts: readonly Draft[];
}

function json<T>(answer: Answer, field: string): T {
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(Buffer.from(String(answer.body[field]), 'base64').toString('utf8')) as T;
}
const state = async (): Promise<State> =>
  json<State>(await rpc('GetSchemaLearning', {}), 'stateJson');

function learn(entries: Readonly<Record<string, number>>, generation = 1): void {
  link.learnBodies([{ siteId, assetId, generation, entries: new Map(Object.entries(entries)) }]);
}

const body = {
  requests: 25,
  samples: 21,
  'gap not_successful': 4,
  'type object ': 21,
  'type string /name': 21,
  'type integer /age': 10,
  'type number /age': 1,
  'type null /age': 1,
  'type array /tags': 5,
  'type string /tags[]': 9,
  'type object /extra': 2,
  'type boolean /extra{}': 4,
};

test('an endpoint that never learned has an empty state', async () => {
  expect(await state()).toMatchObject({
    schema: 'waf.schema_learning.v1',
    enabled: false,
    revision: '0',
    evidence: { samples: '0', fields: [] },
    coverage: { state: 'none' },
    drafts: [],
  });
});

test.each([
  ['a revision that was not read', { enabled: true, expectedRevision: '7' }, 'aborted'],
  ['learning and purging at once', { enabled: true, purge: true }, 'invalid_argument'],
  ['no asset', { assetId: '', enabled: true }, 'invalid_argument'],
  ['an unknown asset', { assetId: 'asset-x', enabled: true }, 'not_found'],
])('refused: %s', async (_, fields, code) => {
  const answer = await change(fields);
  expect(answer.body['code'], answer.text).toBe(code);
});

test('only POST, PUT and PATCH learn; nothing is kept of an endpoint that does not', async () => {
  const answer = await change({ assetId: getId, enabled: true });
  expect(answer.body['code'], answer.text).toBe('failed_precondition');
  expect((await rpc('SnapshotSchemaLearning', {})).body['code']).toBe('failed_precondition');
});

test('a start reaches the node; a retry answers alike; another request needs another key', async () => {
  const asked = { enabled: true, expectedRevision: '0', idempotencyKey: 'start' };
  const first = await change(asked);
  expect(json<State>(first, 'stateJson')).toMatchObject({ enabled: true, revision: '1' });
  expect((await change(asked)).body).toEqual(first.body);
  expect((await change({ ...asked, purge: true })).body['code']).toBe('invalid_argument');
  const learning = await eventually(() => Promise.resolve(servedLearning()));
  expect(learning.endpoints).toMatchObject([
    {
      ...{ assetId, generation: 1, method: 'POST', host: 'shop.test', observed: true },
      path: [
        [{ literal: 'a' }],
        [{ parameter: 'value' }],
        [{ literal: 'b' }],
        [{ parameter: 'value2' }],
      ],
    },
  ]);
});

function servedLearning(): ApiLearning | null {
  const last = applied.at(-1);
  if (last === undefined) return null;
  return toRuntimeConfig(last).sites.find(({ id }) => id === siteId)?.learning ?? null;
}

test('reports add up; those of other generations and misshapen ones are left out', async () => {
  learn({ samples: 5, 'type string /late': 5 }, 2);
  learn({ 'type string /a b': 3, 'type text /c': 3, nonsense: 1 });
  learn(body);
  const shown = await eventually(async () => {
    const now = await state();
    return now.evidence.samples === '21' ? now : null;
  });
  expect(shown.evidence.fields).toEqual([
    { path: '', types: { object: '21' }, seen: '21' },
    { path: '/age', types: { integer: '10', number: '1', null: '1' }, seen: '12', of: '21' },
    { path: '/extra', types: { object: '2' }, seen: '2', of: '21' },
    { path: '/extra{}', types: { boolean: '4' }, seen: '4' },
    { path: '/name', types: { string: '21' }, seen: '21', of: '21' },
    { path: '/tags', types: { array: '5' }, seen: '5', of: '21' },
    { path: '/tags[]', types: { string: '9' }, seen: '9' },
  ]);
  expect(shown.coverage).toMatchObject({
    ...{ state: 'partial', requests: '25', samples: '21', dropped: {} },
    not_learned: { not_successful: '4' },
  });
});

test('a draft is kept once for the same evidence, and exported as a document', async () => {
  const draft = json<Draft>(await rpc('SnapshotSchemaLearning', {}), 'revisionJson');
  const again = json<Draft>(await rpc('SnapshotSchemaLearning', {}), 'revisionJson');
  expect(again).toEqual(draft);
  expect((await state()).drafts).toEqual([draft]);
  const { revision_id: revisionId, sha256 } = draft;
  const document = json<Record<string, unknown>>(
    await rpc('ExportLearnedDocument', { revisionId }),
    'documentJson',
  );
  expect(document).toMatchObject({
    openapi: '3.1.0',
    'x-waf-learning': { revision_sha256: sha256, coverage: { state: 'partial' } },
  });
  const paths = document['paths'] as Record<string, { post: { requestBody: object } }>;
  expect(Object.keys(paths)).toEqual(['/a/{value}/b/{value2}']);
  expect(paths['/a/{value}/b/{value2}']!.post.requestBody).toEqual({
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['name'],
          properties: {
            age: { type: ['null', 'number'] },
            extra: { type: 'object', additionalProperties: { type: 'boolean' } },
            name: { type: 'string' },
            tags: { type: 'array', items: { type: 'string' } },
          },
        },
      },
    },
  });
});

test('a staged document is a draft that activates nothing, and names where it came from', async () => {
  const { drafts } = await state();
  const { revision_id: revisionId, sha256 } = drafts[0]!;
  const wrong = await rpc('StageLearnedDocument', { revisionId, expectedContractId: 'contract-x' });
  expect(wrong.body['code'], wrong.text).toBe('aborted');
  const asked = { revisionId, expectedContractId: '', idempotencyKey: 'stage' };
  const staged = await rpc('StageLearnedDocument', asked);
  expect(staged.body['source'], staged.text).toMatchObject({
    learnedRevisionId: revisionId,
    learnedSha256: sha256,
    documentFamily: 'openapi',
  });
  expect((await rpc('StageLearnedDocument', asked)).body).toEqual(staged.body);
  const validation = await waf.call('ApiSchemaService/GetSchemaValidation', { siteId });
  expect(json<object>(validation, 'validationJson')).not.toMatchObject({ intent_id: /./ });
  const { learnedMappingsJson } = staged.body['source'] as Record<string, string>;
  const mappings = JSON.parse(Buffer.from(learnedMappingsJson!, 'base64').toString()) as object[];
  expect(mappings).toMatchObject([{ host: 'shop.test', basePath: '', approved: true }]);
});

test('seven drafts are kept; those that stay do not change', async () => {
  const before = (await state()).drafts;
  for (let count = 0; count < 8; count++) {
    learn({ samples: 1 });
    const samples = String(22 + count);
    await eventually(async () => (await state()).evidence.samples === samples);
    await rpc('SnapshotSchemaLearning', {});
  }
  const { drafts } = await state();
  expect(drafts.map(({ revision }) => revision)).toEqual(['3', '4', '5', '6', '7', '8', '9']);
  const gone = await rpc('ExportLearnedDocument', { revisionId: before[0]!.revision_id });
  expect(gone.body['code']).toBe('not_found');
});

test('a stop keeps what was learned; a purge forgets it, also what comes late', async () => {
  const stopped = json<State>(await change({ enabled: false, expectedRevision: '1' }), 'stateJson');
  expect(stopped).toMatchObject({ enabled: false, revision: '2', evidence: { samples: '29' } });
  await eventually(() => Promise.resolve(servedLearning() === null));
  const purged = json<State>(await change({ purge: true, expectedRevision: '2' }), 'stateJson');
  expect(purged).toMatchObject({
    ...{ enabled: false, revision: '3', generation: '2', drafts: [] },
    evidence: { samples: '0', fields: [] },
  });
  learn({ samples: 5 });
  await change({ enabled: true, expectedRevision: '3' });
  learn({ samples: 2 }, 2);
  await eventually(async () => (await state()).evidence.samples === '2');
});

test('an endpoint that only traffic showed is staged for the catalog at once', async () => {
  const { body } = await waf.get(`/api/v1/telemetry/apitree?site=${siteId}&depth=9`, false);
  const { asset_id } = endpointsIn(body).find(({ path }) => path === '/plain')!;
  const asked = { assetId: asset_id, expectedContractId: '', action: 'add' };
  const staged = await rpc('StageApiCatalogChange', {
    ...asked,
    ...{ expectedAssetRevision: '0', idempotencyKey: 'stage-plain' },
  });
  expect(staged.body).toMatchObject({ selectedOperationKey: 'POST shop.test/plain' });
  const other = await rpc('StageApiCatalogChange', {
    ...asked,
    ...{ expectedAssetRevision: '3', idempotencyKey: 'stage-plain-again' },
  });
  expect(other.body).toMatchObject({ code: 'aborted' });
});
