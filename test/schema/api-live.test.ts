/**
 * The sentences on API documents that concern requests: steps change what is published, through a
 * control with its store; the others send a request to a front that serves the signed bundle that
 * its node got.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toRuntimeConfig } from '../../engine/bundle/runtime-config.ts';
import type { VerifiedBundle } from '../../engine/bundle/signed-bundle.ts';
import {
  Closing,
  httpOrigin,
  RawClient,
  siteFor,
  startFront,
} from '../../engine/front/fixtures/fixture.ts';
import { linearPattern } from '../../engine/match/linear-pattern.ts';
import { connectTakingLink } from '../support/test-link.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import { idOf, Publishing, rows, wireOf } from './api-sentences.ts';

describe('sentences on API documents, live', () => {
  const closing = new Closing();
  const applied: VerifiedBundle[] = [];
  let waf: TestControl;
  let originPort = 0;
  let proxyPort = 0;
  let siteId = '';
  let publishing: Publishing;
  let ran = 0;

  beforeAll(async () => {
    originPort = await httpOrigin(closing, (asked, answer) => {
      asked.resume().once('end', () => answer.end('from the origin'));
    });
    waf = await startTestControl();
    closing.add(() => waf.control.close());
    const link = await connectTakingLink(waf.socket, applied);
    closing.add(() => link.close());
    const upstreams = [{ inline: { url: `http://127.0.0.1:${originPort}` } }];
    const site = { name: 'shop', primaryHost: 'shop.example', upstreams };
    siteId = idOf((await made('SiteService/CreateSite', { site }))['site']);
    publishing = new Publishing(made, siteId);
    await publishing.stage();
  });
  afterAll(() => closing.run());

  async function made(rpc: string, body: object): Promise<Record<string, unknown>> {
    const answer = await waf.call(rpc, body);
    expect([rpc, answer.status, answer.body['message']]).toEqual([rpc, 200, undefined]);
    return answer.body;
  }

  /** A front with the checks that the node has now; no rules, so that each 403 is of a check. */
  async function serve(): Promise<void> {
    const { sites } = toRuntimeConfig(applied.at(-1)!);
    const { api, apiCode } = sites.find(({ id }) => id === siteId)!;
    if (apiCode !== undefined) expect(apiCode.buffer).toBeInstanceOf(SharedArrayBuffer);
    const checks = api === undefined || apiCode === undefined ? {} : { api, apiCode };
    const site = siteFor(originPort, checks);
    const services = { schemaServices: { pattern: linearPattern, onFault: () => undefined } };
    proxyPort = (await startFront(closing, [site], null, {}, 'strict', services)).port;
  }

  test.each(rows.map((row) => [row.id, row.sentence, row] as const))(
    '%s: %s',
    async (_, __, row) => {
      if (row.step !== undefined) {
        await publishing.carryOut(row.id, row.step);
        await serve();
      } else {
        const answer = await new RawClient(proxyPort).send(wireOf(row.send!)).all();
        expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${row.status!}`);
        for (const text of row.lacks ?? []) expect(answer).not.toContain(text);
      }
      ran++;
    },
  );

  test('every row of the table ran', () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(rows.filter(({ send }) => send !== undefined).length).toBeGreaterThanOrEqual(70);
    expect(ran).toBe(rows.length);
    console.log(`sentences on API documents, live: ${ran} of ${rows.length} rows ran`);
  });
});
