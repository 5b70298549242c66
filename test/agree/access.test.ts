/**
 * Proof that IP lists and countries decide as the specification says: every row of the table, from
 * the bundle as control publishes it, through a live front and its connections.
 */

import { create } from '@bufbuild/protobuf';
import { afterEach, expect, test } from 'vitest';
import {
  RuntimeCountryRuleSchema,
  RuntimeIpBindingSchema,
  RuntimeIpListSchema,
} from '../../proto/gen/waf/runtime/v1/access_pb.ts';
import {
  RuntimeBundleSchema,
  SignedRuntimeBundleSchema,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { parseNetwork } from '../../base/ip-address.ts';
import { toRuntimeConfig } from '../../engine/bundle/runtime-config.ts';
import { passVerdict } from '../../engine/contract/verdict.ts';
import type { RequestEvent } from '../../engine/contract/events.ts';
import {
  blockWith,
  Closing,
  httpOrigin,
  RawClient,
  ScriptedInspector,
  startFront,
} from '../../engine/front/fixtures/fixture.ts';
import { noGuardServices } from '../../engine/guard/guard.ts';
import { accessTable, type AccessRow, type Binding } from './access-table.ts';

const closing = new Closing();
afterEach(() => closing.run());

/** Proxies that may name the client. */
const trustedPeer = '127.0.0.9';
const startMs = 1_000_000;

function packed(networks: readonly string[], family: '4' | '6'): Uint8Array {
  const keys = networks.map((text) => parseNetwork(text)!).sort();
  return Buffer.concat(
    keys.filter((key) => key.startsWith(family)).map((key) => Buffer.from(key.slice(1), 'hex')),
  );
}

function listOf(id: string, { list = [], lapses = [] }: Binding) {
  const networks = [...list, ...lapses.map(([network]) => network)];
  return create(RuntimeIpListSchema, {
    id,
    etag: '',
    ipv4: packed(networks, '4'),
    ipv6: packed(networks, '6'),
    expiries: lapses.map(([, atMs], index) => ({ index, atMs: BigInt(startMs + atMs) })),
  });
}

function choiceOf(one: Binding, at: number) {
  const { policyId = '', siteId = '' } = one.place ?? {};
  const scope = siteId !== '' ? 'site' : policyId !== '' ? 'policy' : 'global';
  const kind = one.kind ?? 'deny';
  return {
    id: `b${at}`,
    kind,
    bypassMode: kind === 'allow' ? (one.bypass ?? 'ip_lists_only') : '',
    addressSource: one.source ?? 'client_ip',
    matchMode: one.match ?? 'in_list',
    sortOrder: one.order ?? 0,
    tenantId: one.tenantId ?? 't',
    place: { scope, policyId, siteId },
  };
}

function bundleOf(row: AccessRow, port: number) {
  const { bindings, policyId = 'p' } = row;
  const lists = bindings.map((one, at) => listOf(`l${at}`, one));
  const isCountry = (one: Binding): boolean => one.countries !== undefined;
  const trust = {
    siteId: '',
    edges: [
      { from: 'internet', to: 'n' },
      { from: 'n', to: 'waf' },
    ],
  };
  const rule = { id: 'r', header: 'x-forwarded-for', parser: 'xff', nodeIds: ['n'], enabled: true };
  return create(RuntimeBundleSchema, {
    formatVersion: 1,
    revision: 1n,
    sites: [
      {
        id: 's',
        name: 's',
        hosts: ['*'],
        upstreamId: 'u',
        wafEnabled: policyId !== '',
        policyId,
        sharedPolicyId: policyId.split('~', 1)[0]!,
        tenantId: 't',
      },
    ],
    upstreams: [{ id: 'u', endpoints: [{ host: '127.0.0.1', port, weight: 1 }] }],
    policies: policyId === '' ? [] : [{ id: policyId, name: policyId, revision: 1n }],
    ipLists: [...lists, listOf('trusted', { list: [trustedPeer] })],
    ipBindings: bindings.flatMap((one, at) =>
      isCountry(one)
        ? []
        : [
            create(RuntimeIpBindingSchema, {
              ...choiceOf(one, at),
              ipListId: `l${at}`,
              pathPrefix: one.path ?? '',
            }),
          ],
    ),
    countryRules: bindings.flatMap((one, at) => {
      if (!isCountry(one)) return [];
      const { place, ...choice } = choiceOf(one, at);
      const countryCodes = [...one.countries!];
      return [create(RuntimeCountryRuleSchema, { ...choice, countryCodes, places: [place] })];
    }),
    trustProfiles: [
      { ...trust, nodes: [{ id: 'n', ipListIds: ['trusted'], xffMode: 'append' }], rules: [rule] },
    ],
  });
}

const attackInspector = new ScriptedInspector({
  head: (head) => (head.includes('attack') ? blockWith(406, 1) : passVerdict),
});
/** Loopback lies in Germany here. */
const countryOf = (ip: string): string => (ip.startsWith('127.') ? 'DE' : '');

async function ask(row: AccessRow): Promise<{ text: string; event: RequestEvent; hits: string[] }> {
  const port = await httpOrigin(closing, (_, response) => response.end('ok'));
  const { sites } = toRuntimeConfig({
    bundle: bundleOf(row, port),
    sha256: '',
    signed: create(SignedRuntimeBundleSchema),
  });
  const inspector = row.policyId === '' ? null : attackInspector;
  const nowMs = (): number => startMs + (row.atMs ?? 0);
  const hits: string[] = [];
  const countListHit = (id: string, ip: string) => void hits.push(`${id} ${ip}`);
  const running = await startFront(closing, sites, inspector, {}, 'strict', {
    guardServices: { ...noGuardServices, countryOf, countListHit },
    clock: { nowMs, monotonicUs: () => Math.round(performance.now() * 1000) },
  });
  const { path = '/', client, attack, peer } = row;
  const target = attack === true ? `${path}${path.includes('?') ? '&' : '?'}attack` : path;
  const named = client === undefined ? '' : `X-Forwarded-For: ${client}\r\n`;
  const head = `GET ${target} HTTP/1.1\r\nHost: a.example\r\n${named}Connection: close\r\n\r\n`;
  const text = await new RawClient(running.port, peer).send(head).all();
  const [event] = await running.eventsReach(1);
  return { text, event: event!, hits };
}

test('every row has a sentence of its own', () => {
  expect(new Set(accessTable.map(({ says }) => says)).size).toBe(accessTable.length);
  expect(accessTable.length).toBeGreaterThanOrEqual(56);
});

test.each(accessTable)('$says', async (row) => {
  const { text, event, hits } = await ask(row);
  expect(Number(text.slice(9, 12))).toBe(row.status);
  const { guards = [] } = event;
  const notes = guards.map(({ guard, action, ruleId }) => `${guard} ${action} ${ruleId.slice(1)}`);
  if (row.notes !== undefined) expect(notes).toEqual(row.notes);
  // Each decision by an entry of a list is counted for the address that the entry holds.
  const counted = guards.flatMap(({ guard, ruleId }) => {
    const binding = row.bindings[Number(ruleId.slice(1))];
    if (guard !== 'ip' || binding?.match === 'not_in_list') return [];
    const peer = row.peer ?? '127.0.0.1';
    return `${ruleId} ${binding?.source === 'peer_ip' ? peer : event.clientIp}`;
  });
  expect(hits).toEqual(counted);
  if (row.skipped !== undefined) {
    // Kinds of guards that this site has no use for are not there to be skipped.
    expect(guards.at(-1)?.skipped.join(' ')).toBe(row.skipped);
  }
  if (row.status !== 403) return;
  // A refusal has its reason, its page and its place in the counters.
  const last = guards.at(-1)!;
  expect(event).toMatchObject({ outcome: 'blocked', blocked: true, refusal: last.reason });
  expect(last.reason).toBe(`${last.guard}_deny`);
  expect(last.detail).toMatch(/(?:client_ip|peer_ip) (?:not )?in /);
  expect(text).toContain(`"kind":"${last.reason}"`);
  expect(text).not.toContain(last.detail);
});
