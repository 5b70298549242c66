/** Checks of an API in the running product: enforced requests are refused, observed ones pass. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminCall } from '../support/admin-call.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';

const document = {
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1' },
  servers: [{ url: '/v1' }],
  paths: {
    '/orders': {
      post: {
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['item'],
                properties: { item: { type: 'integer' } },
              },
            },
          },
        },
        responses: { '200': { description: 'Fine.' } },
      },
    },
  },
};

describe.skipIf(missingBuild !== null)('waf api', () => {
  let product: Product;
  let origin: Server;

  beforeAll(async () => {
    origin = createServer((asked, answer) => {
      asked.resume().once('end', () => answer.end('from the origin'));
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    product = await borrowProduct('--no-demo');
    const { port } = origin.address() as AddressInfo;
    const upstream = `http://127.0.0.1:${port}`;
    const site = ['--name', 'shop', '--host', 'shop.example', '--upstream', upstream];
    await product.wafBeside('site', 'create', ...site);
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    origin.close();
  });

  async function order(item: unknown): Promise<number> {
    const { statusCode, body } = await request(`http://127.0.0.1:${product.proxyPort}/v1/orders`, {
      method: 'POST',
      headers: { host: 'shop.example', 'content-type': 'application/json' },
      body: JSON.stringify({ item }),
    });
    await body.dump();
    return statusCode;
  }

  async function call(rpc: string, body: object): Promise<Record<string, unknown>> {
    const answer = await adminCall(product.data, rpc, body);
    expect([rpc, answer.status, answer.body['message']]).toEqual([rpc, 200, undefined]);
    return answer.body;
  }

  async function siteOf(): Promise<string> {
    const { items } = await call('SiteService/ListSites', {});
    return (items as { id: string }[])[0]!.id;
  }

  /** What TestPolicy says of an order under the site's policy. */
  async function simulated(item: unknown) {
    const found = await call('PolicyService/ListPolicies', {});
    const policies = found['items'] as { id: string; isDefault?: boolean }[];
    const body = await call('PolicyService/TestPolicy', {
      policyId: policies.find(({ isDefault }) => isDefault === true)!.id,
      siteId: await siteOf(),
      method: 'POST',
      url: '/v1/orders',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ item })).toString('base64'),
    });
    const { refusal } = body['transaction'] as { refusal: string };
    return { refusal, blocked: body['blocked'] ?? false, status: body['status'] };
  }

  test('a request that breaks the schema passes in observe and is refused in enforce', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'waf-api-')), 'orders.json');
    writeFileSync(path, JSON.stringify(document));
    await product.wafBeside('api', 'import', path, '--site', 'shop', '--yes');
    const [observed, valid] = [await order('three'), await order(3)];
    expect([observed, valid]).toEqual([200, 200]);
    await product.wafBeside('api', 'enforce', '--site', 'shop', '--yes', 'POST /v1/orders');
    await eventually(async () => (await order('three')) === 403);
    expect(await order(3)).toBe(200);
    // A simulated request meets the same checks, which are there once the main thread has them.
    await eventually(async () => (await simulated('three')).refusal === 'schema_violation');
    expect(await simulated('three')).toMatchObject({ blocked: true, status: 403 });
    expect(await simulated(3)).toMatchObject({ blocked: false, refusal: '' });
    const status = await eventually(async () => {
      const text = await product.wafBeside('api', 'status', '--site', 'shop');
      return /is converged/.test(text) ? text : null;
    });
    expect(status).toMatch(/POST shop\.example\/v1\/orders +enforce/);
    await product.wafBeside('api', 'observe', '--site', 'shop', '--yes');
    await eventually(async () => (await order('three')) === 200);
  });

  test('samples of violations are kept once the log policy wants them', async () => {
    expect((await detailsOfOrders()).samples_state).toBe('unavailable');
    const policy = { schemaViolationDetails: true };
    const change = { policy, expectedRevision: '1' };
    expect(await call('LogService/UpdateGlobalLogPolicy', change)).not.toHaveProperty('warnings');
    const details = await eventually(async () => {
      expect(await order('canary')).toBe(200);
      const found = await detailsOfOrders();
      return found.samples_state === 'available' ? found : null;
    });
    expect(details).toMatchObject({ location: 'body', keyword: 'type' });
    const [sample] = details.samples;
    expect(sample).toMatchObject({ action: 'monitor', status: '200', node_id: 'local' });
    expect(JSON.stringify(details)).not.toContain('canary');
    expect(sample!.request_id).not.toBe('');
  });

  /** Details of the kind of violation that orders with a text make, once it is counted. */
  async function detailsOfOrders(): Promise<Details> {
    const siteId = await siteOf();
    const {
      operations,
      query_start: windowStart,
      query_end: windowEnd,
    } = await eventually(async () => {
      const found = await detection({ siteId, lookbackSeconds: 3_600 });
      return found.operations.some(({ violations }) => violations.length > 0) ? found : null;
    });
    const [{ fingerprint } = { fingerprint: '' }] = operations.flatMap((one) => one.violations);
    const asked = { fingerprint, pageSize: 1, includeViolationDetails: true };
    return (await detection({ siteId, windowStart, windowEnd, ...asked })).details;
  }

  async function detection(fields: object): Promise<Detection> {
    const answer = await call('ApiSchemaService/GetSchemaDetection', fields);
    const text = Buffer.from(String(answer['detectionJson']), 'base64').toString('utf8');
    return JSON.parse(text) as Detection;
  }
});

interface Details {
  readonly samples_state: string;
  readonly samples: readonly { readonly request_id: string }[];
}

interface Detection {
  readonly query_start: string;
  readonly query_end: string;
  readonly operations: readonly { readonly violations: readonly { fingerprint: string }[] }[];
  readonly details: Details;
}
