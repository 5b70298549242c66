/**
 * Body controls in the running product: requests get what was approved, and a control process that
 * is killed at any step leaves all of a change or nothing of it.
 */

import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminCall, type AdminAnswer } from '../support/admin-call.ts';
import { apiDocuments } from '../support/api-documents.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';

interface Intent {
  readonly id: string;
  readonly controlRevision: string;
  readonly snapshotSha256: string;
  readonly snapshotJson: string;
}

/** A killed program starts again, which a loaded machine takes its time for. */
const patienceMs = 120_000;
const testMs = 480_000;

describe.skipIf(missingBuild !== null)('body controls', () => {
  let product: Product;
  let origin: Server;
  let siteId = '';
  let apiAssetId = '';

  beforeAll(async () => {
    origin = createServer((asked, answer) => {
      asked.resume().once('end', () => answer.end('from the origin'));
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    product = await startProduct('--no-demo', '--workers', '1');
    const { port } = origin.address() as AddressInfo;
    const upstreams = [{ inline: { url: `http://127.0.0.1:${port}` } }];
    const site = { name: 'shop', primaryHost: 'shop.example', upstreams };
    siteId = ((await made('SiteService/CreateSite', { site }))['site'] as { id: string }).id;
    apiAssetId = await declare();
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    origin?.close();
  });

  const call = (rpc: string, body: object): Promise<AdminAnswer> =>
    adminCall(product.data, rpc, body);

  async function made(rpc: string, body: object): Promise<Record<string, unknown>> {
    const answer = await call(rpc, body);
    expect([rpc, answer.status, answer.body['message']]).toEqual([rpc, 200, undefined]);
    return answer.body;
  }

  /** Puts a declaration to use; gives the catalog entry of POST /v1/pets. */
  async function declare(): Promise<string> {
    const service = 'ApiSchemaService';
    const source = Buffer.from(apiDocuments['pets']!).toString('base64');
    const document = { siteId, name: 'pets', format: 'json', source };
    const staged = await made(`${service}/StageSchemaSource`, document);
    const sourceId = (staged['source'] as { id: string }).id;
    const mappings = [{ host: 'shop.example', basePath: '/v1', approved: true }];
    const place = { siteId, sourceId, mappings };
    const preview = await made(`${service}/PreviewApiDeclaration`, place);
    const { reportSha256, catalogSha256 } = preview;
    const { scopes } = readJson(preview['declarationJson']) as { scopes: { sha256: string }[] };
    const state = { state: 'partial', acknowledged: true };
    const coverage = scopes.map(({ sha256 }) => ({ scopeSha256: sha256, ...state }));
    const declaration = { ...place, reportSha256, catalogSha256, coverage };
    const { contract } = await made(`${service}/StageApiDeclaration`, declaration);
    const { id: contractId } = contract as { id: string };
    const selection = { siteId, action: 'activate', contractId };
    const { approval } = await made(`${service}/PreviewSchemaControl`, selection);
    const change = { approval, reason: 'first', idempotencyKey: 'd', impactAcknowledged: true };
    await made(`${service}/ChangeSchemaControl`, change);
    const kept = await made(`${service}/GetSchemaContract`, { siteId, contractId });
    const { operations } = readJson(kept['contractJson']) as {
      operations: { key: string; assetId: string }[];
    };
    return operations.find(({ key }) => key === 'POST shop.example/v1/pets')!.assetId;
  }

  const preview = (profile: string): Promise<Record<string, unknown>> =>
    made('OperationControlService/PreviewBodyControl', {
      draft: { siteId, apiAssetId, profile, controlMode: 'enforce', mismatchAction: 'block' },
    });
  const apply = (approval: unknown, idempotencyKey: string): Promise<AdminAnswer> =>
    call('OperationControlService/ApplyBodyControl', { approval, idempotencyKey, reason: 'test' });
  const wanted = async (): Promise<Intent | null> => {
    const { status, body } = await call('OperationControlService/GetOperationControlState', {
      siteId,
    });
    return status === 200 ? (body['intent'] as Intent) : null;
  };

  async function post(contentType: string): Promise<number> {
    const { statusCode, body } = await request(`http://127.0.0.1:${product.proxyPort}/v1/pets`, {
      method: 'POST',
      headers: { host: 'shop.example', 'content-type': contentType },
      body: '{}',
    });
    await body.dump();
    return statusCode;
  }

  async function killControl(): Promise<void> {
    const before = product.childPid('control/main.js');
    process.kill(before, 'SIGKILL');
    await eventually(() => {
      const now = product.childPid('control/main.js');
      return now !== 0 && now !== before;
    }, patienceMs);
    // What the node can do is part of every review.
    await eventually(async () => {
      const { body } = await call('AgentService/GetNodeServingState', { nodeId: 'local' });
      return body['acknowledged'] === true;
    }, patienceMs);
  }

  test(
    'a body of another family is refused where that is approved',
    async () => {
      await eventually(async () => (await post('text/plain')) === 200, patienceMs);
      const { approval } = await preview('json');
      expect((await apply(approval, 'first')).status).toBe(200);
      await eventually(async () => (await post('text/plain')) === 403, patienceMs);
      expect(await post('application/json')).toBe(200);
    },
    testMs,
  );

  test(
    'an approval outlives a killed control process, and is used once',
    async () => {
      const { approval } = await preview('text');
      await killControl();
      expect(await post('text/plain')).toBe(403);
      expect((await apply(approval, 'after-kill')).status).toBe(200);
      await killControl();
      await eventually(async () => (await post('text/plain')) === 200, patienceMs);
      expect(await post('application/json')).toBe(403);
      expect((await apply(approval, 'again')).body).toMatchObject({ code: 'aborted' });
    },
    testMs,
  );

  test.each(['json', 'text', 'json'])(
    'a kill during an application to %s',
    async (profile) => {
      const before = (await wanted())!;
      const { approval } = await preview(profile);
      const key = `killed-${before.controlRevision}`;
      const underway = apply(approval, key);
      await Promise.all([underway, killControl()]);
      const after = (await wanted())!;
      expect(Number(after.controlRevision) - Number(before.controlRevision)).toBeLessThanOrEqual(1);
      // The retry finds what was done, or does it: never twice, never a part of it.
      const retried = await apply(approval, key);
      expect(retried.status).toBe(200);
      const { id } = retried.body['intent'] as Intent;
      const last = (await wanted())!;
      expect(last.id).toBe(id);
      expect(Number(last.controlRevision)).toBe(Number(before.controlRevision) + 1);
      const snapshot = Buffer.from(last.snapshotJson, 'base64');
      expect(createHash('sha256').update(snapshot).digest('hex')).toBe(last.snapshotSha256);
      const [other, own] = profile === 'json' ? [plain, json] : [json, plain];
      await eventually(async () => (await post(other)) === 403, patienceMs);
      expect(await post(own)).toBe(200);
    },
    testMs,
  );
});

const json = 'application/json';
const plain = 'text/plain';

function readJson(base64: unknown): unknown {
  return JSON.parse(Buffer.from(String(base64), 'base64').toString('utf8'));
}
