/**
 * `waf rule exclude` of a POST whose body is not kept tries the exclusion on the event's values;
 * the application is named by what the request sent.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';

if (missingBuild !== null) console.log(missingBuild);

describe.skipIf(missingBuild !== null)('an exclusion from a POST without its body', () => {
  let origin: Server;
  let product: Product;
  beforeAll(async () => {
    origin = createServer((request, response) => {
      request.resume();
      request.on('end', () => response.end('saved\n'));
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    product = await borrowProduct('--no-demo');
    const upstream = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
    const policy = ['--name', 'of the shop', '--template', 'template-light'];
    await product.wafBeside('policy', 'create', ...policy);
    const site = ['--name', 'shop', '--host', '127.0.0.1', '--policy', 'of the shop'];
    await product.wafBeside('site', 'create', ...site, '--upstream', upstream);
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    origin.close();
  });

  const post = (fields: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`http://127.0.0.1:${product.proxyPort}/save`, {
      method: 'POST',
      body: new URLSearchParams(fields),
    });

  test('it says what would pass and how to keep bodies, and is right', async () => {
    const refused = await post({ note: "1' OR '1'='1", title: 'ordinary' });
    expect(refused.status).toBe(403);
    const id = refused.headers.get('x-request-id') ?? '';
    const exclude = (...words: string[]) => product.waf('rule', 'exclude', '--from', id, ...words);
    await eventually(() => exclude().code === 0);
    const { stdout } = exclude();
    expect(stdout).toContain('This request cannot be sent again: its body was not kept.');
    expect(stdout).toMatch(/A request with the matched values is blocked today \(.*942100.*\)/);
    expect(stdout).toMatch(/\) and would pass\./);
    expect(stdout).toContain('waf log policy-set --evidence-body prefix');
    const applied = exclude('--apply');
    expect([applied.code, applied.stderr]).toEqual([0, expect.stringContaining('Added.')]);
    expect((await post({ note: "1' OR '1'='1", title: 'ordinary' })).status).toBe(200);
    expect((await post({ title: "1' OR '1'='1" })).status).toBe(403);
  });

  test('the application is named by the cookies of the request', async () => {
    const refused = await fetch(`http://127.0.0.1:${product.proxyPort}/save`, {
      method: 'POST',
      headers: { cookie: 'a=1; wordpress_logged_in_0a1b2c=ann' },
      body: new URLSearchParams({ text: "1' OR '1'='1" }),
    });
    expect(refused.status).toBe(403);
    const id = refused.headers.get('x-request-id') ?? '';
    const explain = () => product.waf('log', 'explain', id).stdout;
    await eventually(() => explain().includes('This looks like WordPress'));
    expect(explain()).toMatch(/waf site applications site-[\w-]+ --names wordpress/);
    expect(product.waf('rule', 'exclude', '--from', id).stdout).toContain('looks like WordPress');
  });
});
