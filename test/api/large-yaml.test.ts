/**
 * Proves that the thread which answers calls stays free while a large document is read: another
 * call, made once the reading has begun, is answered before the document is. Runs the compiled
 * program, whose threads have entries of their own.
 */

import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { startControl } from '../../control/start.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';

/** Past the bound on keys of one text, and within the bound on bytes of a request. */
const keys = 500_000;
const large = Buffer.from(
  Array.from({ length: keys }, (_one, at) => `k${at}: 1`).join('\n'),
).toString('base64');
const openapi = 'openapi: 3.0.3\ninfo: { title: t, version: "1" }\npaths:\n';
/** Within all bounds: it is read to its end. */
const whole = Buffer.from(
  openapi +
    Array.from({ length: 4_000 }, (_one, at) => {
      const answer = '{ responses: { "200": { description: fine } } }';
      return `  /p${at}:\n    get: ${answer}\n`;
    }).join(''),
).toString('base64');

let waf: TestControl;
let siteId = '';

beforeAll(async () => {
  const { href } = new URL('../../.build/control/start.js', import.meta.url);
  const compiled = (await import(href)) as { startControl: typeof startControl };
  waf = await startTestControl({ demoOrigin: null }, undefined, compiled.startControl);
  const made = await waf.call('SiteService/CreateSite', {
    site: {
      name: 'shop',
      primaryHost: 'shop.example',
      upstreams: [{ inline: { url: 'http://127.0.0.1:9', weight: 1 } }],
    },
  });
  siteId = (made.body['site'] as { id: string }).id;
});
afterAll(() => waf.control.close());

const stage = (source: string) =>
  waf.call('ApiSchemaService/StageSchemaSource', { siteId, name: 'd', format: 'yaml', source });

/** The answers in the order in which they came. */
async function answersBeside(upload: () => ReturnType<typeof stage>): Promise<string[]> {
  const order: string[] = [];
  const other = new Promise<void>((resolve, reject) => {
    const begun = (_thread: Worker): void => {
      waf
        .call('SystemService/Version', {})
        .then(({ status }) => order.push(`another call: ${status}`))
        .then(() => resolve(), reject);
    };
    process.once('worker', begun);
  });
  const { status, body } = await upload();
  const message = (body['message'] ?? '') as string;
  order.push(`upload: ${status} ${message}`);
  // Without a thread of its own there is no other call to wait for.
  if (order.length > 1) await other;
  return order;
}

test('an API document of 500,000 keys is refused while another call is answered', async () => {
  expect(await answersBeside(() => stage(large))).toEqual([
    'another call: 200',
    expect.stringMatching(/^upload: 400 .*more than 250000 keys/) as string,
  ]);
});

test('an API document of 4,000 operations is read while another call is answered', async () => {
  expect(await answersBeside(() => stage(whole))).toEqual(['another call: 200', 'upload: 200 ']);
});

test('a manifest of 500,000 keys is refused while another call is answered', async () => {
  const apply = () => waf.call('SystemService/Apply', { manifestYaml: large });
  expect(await answersBeside(apply)).toEqual([
    'another call: 200',
    expect.stringMatching(/^upload: 400 .*more than 250000 keys/) as string,
  ]);
});
