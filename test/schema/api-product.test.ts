/**
 * The sentences on API documents that concern requests, of the product as it is started: control
 * and engine are processes, steps are calls of the management API, requests come over the network.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Closing, httpOrigin, RawClient } from '../../engine/front/fixtures/fixture.ts';
import { adminCall } from '../support/admin-call.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';
import { idOf, Publishing, rows, wireOf } from './api-sentences.ts';

if (missingBuild !== null) console.log(missingBuild);
const rowMs = 240_000;

describe.skipIf(missingBuild !== null)('sentences on API documents, the product', () => {
  const closing = new Closing();
  let product: Product;
  let publishing: Publishing;
  let ran = 0;

  beforeAll(async () => {
    const port = await httpOrigin(closing, (asked, answer) => {
      asked.resume().once('end', () => answer.end('from the origin'));
    });
    product = await borrowProduct('--no-demo');
    const upstreams = [{ inline: { url: `http://127.0.0.1:${port}` } }];
    // Without rules each 403 is of a check.
    const site = { name: 'shop', primaryHost: 'shop.example', upstreams, waf: { enabled: false } };
    publishing = new Publishing(
      made,
      idOf((await made('SiteService/CreateSite', { site }))['site']),
    );
    await publishing.stage();
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    await closing.run();
  }, rowMs);

  async function made(rpc: string, body: object): Promise<Record<string, unknown>> {
    const answer = await adminCall(product.data, rpc, body);
    expect([rpc, answer.status, answer.body['message']]).toEqual([rpc, 200, undefined]);
    return answer.body;
  }

  test.each(rows.map((row) => [row.id, row.sentence, row] as const))(
    '%s: %s',
    async (_, __, row) => {
      if (row.step === undefined) {
        const answer = await new RawClient(product.proxyPort).send(wireOf(row.send!)).all();
        expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${row.status!}`);
        for (const text of row.lacks ?? []) expect(answer).not.toContain(text);
      } else await publishing.carryOut(row.id, row.step);
      ran++;
    },
    rowMs,
  );

  test('every row of the table ran', () => {
    expect(ran).toBe(rows.length);
    console.log(`sentences on API documents, the product: ${ran} of ${rows.length} rows ran`);
  });
});
