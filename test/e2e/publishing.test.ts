/** Traffic right after changes, with rules that nothing has compiled before: no 404, no 503. */

import { mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminCall } from '../support/admin-call.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

type Json = Record<string, unknown>;

describe.skipIf(missingBuild !== null)('traffic right after a change', () => {
  let product: Product;
  let origin: Server;

  beforeAll(async () => {
    origin = createServer((_request, response) => response.end('from the origin'));
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    product = await startProduct('--workers', '2');
    // From here on nothing is compiled already.
    rmSync(join(product.data, 'engine', 'databases'), { force: true, recursive: true });
    mkdirSync(join(product.data, 'engine', 'databases'), { mode: 0o700 });
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    origin.close();
  });

  /** A change holds when its answer comes, or, where that says `publishing`, a while later. */
  const call = async (rpc: string, body: Json): Promise<Json> => {
    const answer = await adminCall(product.data, rpc, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    if (answer.body['publishing'] === true) await eventually(isServed);
    return answer.body;
  };
  const isServed = async (): Promise<boolean> => {
    const node = { nodeId: 'local' };
    const { body } = await adminCall(product.data, 'AgentService/GetNodeServingState', node);
    return body['publishing'] !== true && body['acknowledged'] === true;
  };
  const ask = async (path = '/', host = 'new.example'): Promise<number> => {
    const url = `http://127.0.0.1:${product.proxyPort}${path}`;
    const headers = { host };
    const { statusCode, body } = await request(url, { headers, headersTimeout: 120_000 });
    await body.dump();
    return statusCode;
  };
  /** Statuses of a harmless request and of an attack, asked together. */
  const both = (): Promise<number[]> =>
    Promise.all([ask('/'), ask("/?id=1'+or+1=1--+-"), ask('/?page=2')]);
  /** Statuses that were seen while `work` was done, each once. */
  const during = async (work: () => Promise<unknown>): Promise<number[]> => {
    const asked: Promise<number>[] = [];
    const coming = setInterval(() => asked.push(ask('/')), 50);
    await work();
    clearInterval(coming);
    return [...new Set(await Promise.all(asked))];
  };
  const site = async (): Promise<Json> => {
    const { items } = (await call('SiteService/ListSites', { page: { pageSize: 50 } })) as {
      items: Json[];
    };
    return items.find(({ name }) => name === 'new')!;
  };
  let policy: { id: string; revision: string };

  test('a created site with a policy that was never compiled', async () => {
    const made = (await call('PolicyService/CreatePolicy', {
      policy: { name: 'first', crsCore: { blockingParanoiaLevel: 3, detectionParanoiaLevel: 3 } },
    })) as { policy: typeof policy };
    ({ policy } = made);
    const { port } = origin.address() as AddressInfo;
    await call('SiteService/CreateSite', {
      site: {
        name: 'new',
        primaryHost: 'new.example',
        upstreams: [{ inline: { url: `http://127.0.0.1:${port}`, weight: 1 } }],
        waf: { enabled: true, policyId: policy.id, mode: 'WAF_MODE_BLOCKING' },
      },
    });
    expect(await both()).toEqual([200, 403, 200]);
  }, 300_000);

  test('a change of its policy, and another policy', async () => {
    const statuses = await during(async () => {
      const before = (await call('PolicyService/GetPolicy', { id: policy.id }))['policy'] as Json;
      await call('PolicyService/UpdatePolicy', {
        policy: { id: policy.id, crsCore: { blockingParanoiaLevel: 2, detectionParanoiaLevel: 2 } },
        revision: before['revision'],
        updateMask: 'crsCore',
      });
      const other = await call('PolicyService/CreatePolicy', {
        policy: {
          name: 'second',
          crsCore: { blockingParanoiaLevel: 1, detectionParanoiaLevel: 3 },
        },
      });
      const { id, revision } = await site();
      const policyId = (other['policy'] as Json)['id'];
      await call('SiteService/UpdateSite', {
        site: { id, waf: { enabled: true, policyId, mode: 'WAF_MODE_BLOCKING' } },
        revision,
        updateMask: 'waf',
      });
      expect(await both()).toEqual([200, 403, 200]);
    });
    expect(statuses).toEqual([200]);
  }, 300_000);

  test('an engine that starts again without anything compiled', async () => {
    const before = product.childPid('engine/main.js');
    rmSync(join(product.data, 'engine', 'databases'), { force: true, recursive: true });
    process.kill(before, 'SIGKILL');
    await eventually(() => {
      const now = product.childPid('engine/main.js');
      return now !== 0 && now !== before;
    });
    const statuses = await both();
    expect(statuses, product.output().slice(-4000)).toEqual([200, 403, 200]);
  }, 300_000);

  test('switched off and on again', async () => {
    const { id, revision } = await site();
    const off = await call('SiteService/DisableSite', { id, revision });
    expect(await ask()).toBe(404);
    const { revision: next } = off['site'] as Json;
    await call('SiteService/EnableSite', { id, revision: next });
    expect(await both()).toEqual([200, 403, 200]);
  }, 300_000);
});
