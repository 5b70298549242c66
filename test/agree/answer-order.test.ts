/**
 * Which of two settings of a site answers a request that both would answer: every pair, through a
 * live front, in the one order that the code, this test and the guide have.
 */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { create } from '@bufbuild/protobuf';
import { hashPathPassword } from '../../base/path-password.ts';
import { makeIpSet } from '../../engine/bundle/ip-set.ts';
import { answerOrder, type AnswererName } from '../../engine/contract/answer-order.ts';
import { noDelivery, type DeliveryConfig } from '../../engine/contract/delivery.ts';
import type { RequestEvent } from '../../engine/contract/events.ts';
import type { SiteConfig } from '../../engine/contract/site.ts';
import { createFront } from '../../engine/front/threads/front.ts';
import {
  blockWith,
  Closing,
  httpOrigin,
  RawClient,
  ScriptedInspector,
  siteFor,
} from '../../engine/front/fixtures/fixture.ts';
import { linearPattern } from '../../engine/match/linear-pattern.ts';
import { checksOf, operation, parameter } from '../../engine/schema/fixture.ts';
import { RuntimeIpListSchema } from '../../proto/gen/waf/runtime/v1/access_pb.ts';
import { servicesOf, usual } from '../support/bot-gates.ts';

type Setting = Partial<SiteConfig> & { readonly deliver?: Partial<DeliveryConfig> };

const loopback = makeIpSet(create(RuntimeIpListSchema, { ipv4: Uint8Array.of(127, 0, 0, 0, 8) }));
const denies = { kind: 'deny', bypass: 'all_waf', source: 'client_ip', inverted: false } as const;
const limit = { requests: 1, windowSeconds: 3_600 };
const cors = {
  ...{ pathPrefix: '', allowedOrigins: ['https://a.example'], allowedMethods: ['PUT'] },
  ...{ allowedHeaders: [], exposedHeaders: [], allowCredentials: false, maxAgeSeconds: 0 },
};
const passwordHash = hashPathPassword('x', Buffer.alloc(16, 1));

/** What makes a site answer any request by itself, or by whom it has it answered. */
const settings: Readonly<Record<Exclude<AnswererName, 'connection'>, Setting>> = {
  security_txt: { deliver: { securityTxt: 'Contact: mailto:a@a.example\n' } },
  maintenance: {
    deliver: {
      maintenance: {
        ...{ retryAfterSeconds: 0, title: '', message: '' },
        ...{ allowedNetworks: [], allowedPaths: ['/open'] },
      },
    },
  },
  redirect: {
    deliver: {
      redirects: [{ host: '', path: '', under: true, target: '/elsewhere', status: 308 }],
    },
  },
  preflight: { deliver: { cors: [cors] } },
  body_length: { deliver: { bodyLimits: [{ pathPrefix: '', maxBytes: 1 }] } },
  bot: { bot: usual },
  rate_limit: {
    rates: {
      limits: [
        {
          ...{ id: 'r', pathPattern: '*', methods: [], action: 'block', observe: false },
          ...{ key: { kind: 'ip' }, budget: limit, verifiedBudget: limit },
          ...{ mitigationSeconds: 0, banGlobally: false },
        },
      ],
      globalBans: [],
    },
  },
  ip: {
    access: {
      ip: [{ ...denies, id: 'i', listId: 'l', set: loopback, pathPrefix: '' }],
      country: [],
    },
  },
  country: { access: { ip: [], country: [{ ...denies, id: 'c', countries: ['NL'] }] } },
  auth: {
    deliver: {
      basicAuth: [{ pathPrefix: '', realm: '', users: [{ name: 'a', passwordHash }], open: false }],
    },
  },
  rules: { waf: { enabled: true, mode: 'blocking', failPolicy: 'closed' } },
  // See `apiOf`.
  schema: {},
  schema_body: {},
};
const names = Object.keys(settings) as (keyof typeof settings)[];
type Name = (typeof names)[number];

interface Asked {
  readonly method: string;
  readonly path: string;
}
/** All answer it but security.txt, which answers no such method. */
const preflight: Asked = { method: 'OPTIONS', path: '/x' };
const security: Asked = { method: 'GET', path: '/.well-known/security.txt' };

/** A document that a request breaks in its head, in its body, or in both. */
function apiOf(host: string, given: readonly Name[]): SiteConfig['api'] {
  const inHead = given.includes('schema');
  if (!inHead && !given.includes('schema_body')) return undefined;
  const media = [{ range: 'application/json', kind: 'json', check: 0, pointer: '/j' }] as const;
  const operations = [preflight, security].map(({ method, path }) =>
    operation(method, path, {
      host,
      ...(inHead && { parameters: [parameter('query', 'q', { required: true })] }),
      ...(given.includes('schema_body') && { body: { required: true, media, pointer: '/body' } }),
    }),
  );
  return checksOf(operations, '() => false');
}

function siteOf(port: number, given: readonly Name[]): SiteConfig {
  const id = given.join('-').replaceAll('_', '');
  const host = `${id}.test`;
  const parts = given.map((name) => settings[name]);
  const delivery: DeliveryConfig = Object.assign(
    { ...noDelivery },
    ...parts.map(({ deliver }) => deliver),
  );
  const access = {
    ip: parts.flatMap((part) => part.access?.ip ?? []),
    country: parts.flatMap((part) => part.access?.country ?? []),
  };
  const { deliver: _, ...rest } = Object.assign({}, ...parts) as Setting;
  const api = apiOf(host, given);
  const whole = { ...rest, id, hosts: [host], delivery, access, ...(api && { api }) };
  return siteFor(port, whole);
}

const single = names.map((name) => [name] as const);
/** Pairs that one request meets both of: a preflight has another method than security.txt. */
const pairs = names.flatMap((one, at) =>
  names
    .slice(at + 1)
    .filter((other) => one !== 'security_txt' || other !== 'preflight')
    .map((other) => [one, other] as const),
);

const closing = new Closing();
const answered = new Map<string, RequestEvent>();
let port: number;

beforeAll(async () => {
  const origin = await httpOrigin(closing, (request, response) => {
    request.resume().on('end', () => response.end('ok'));
  });
  const rules = new ScriptedInspector({
    body: () => blockWith(406, 2),
    bodyNeed: { inspect: true, limitBytes: 1_000, onExcess: 'prefix' },
  });
  const sitesOfPairs = [...single, ...pairs].map((given) => siteOf(origin, given));
  const sitesOfMeetings = Object.entries(meetings).map(([id, { deliver, ...rest }]) =>
    siteFor(origin, {
      ...rest,
      id,
      hosts: [`${id}.test`],
      delivery: { ...noDelivery, ...deliver },
    }),
  );
  const front = createFront({
    routes: { revision: 'r', sites: [...sitesOfPairs, ...sitesOfMeetings] },
    inspectorOf: () => rules,
    guardServices: { ...servicesOf(), countryOf: () => 'NL' },
    schemaServices: { pattern: linearPattern, onFault: () => undefined },
    onRequestDone: (event) => void answered.set(event.requestId, event),
  });
  port = await front.listen({ host: '127.0.0.1', port: 0 });
  closing.add(() => front.close());
});
afterAll(() => closing.run());

/** Who answers the second of two requests: the first is within the rate. */
async function answererOf(given: readonly Name[]): Promise<string> {
  const { method, path } = given.includes('security_txt') ? security : preflight;
  let text = '';
  for (let sent = 0; sent < 2; sent++) {
    const lines = [
      `${method} ${path} HTTP/1.1`,
      `Host: ${given.join('-').replaceAll('_', '')}.test`,
      'Origin: https://a.example',
      'Access-Control-Request-Method: PUT',
      'Content-Type: application/json',
      'Content-Length: 2',
      'Connection: close',
    ];
    text = await new RawClient(port).send(`${lines.join('\r\n')}\r\n\r\n{}`).all();
  }
  if (text.includes('\r\nAccess-Control-Allow-Methods:')) return 'preflight';
  if (text.includes('Contact: ')) return 'security_txt';
  if (text.includes('\r\nLocation: /elsewhere')) return 'redirect';
  const id = /^X-Request-Id: (\S+)/im.exec(text)?.[1] ?? '';
  const { refusal, status, guards = [] } = answered.get(id)!;
  const finding = guards.find((one) => one.finding !== undefined)?.finding;
  if (finding !== undefined) return finding.location === 'body' ? 'schema_body' : 'schema';
  return status === 406 ? 'rules' : (reasons[refusal ?? ''] ?? `${status} ${refusal}`);
}

const reasons: Readonly<Record<string, Name>> = {
  maintenance: 'maintenance',
  body_too_large: 'body_length',
  bot_challenge_required: 'bot',
  rate_limit: 'rate_limit',
  ip_deny: 'ip',
  country_deny: 'country',
  auth_required: 'auth',
};

test('all that may answer is tried', () => {
  expect(names.toSorted()).toEqual(answerOrder.filter((one) => one !== 'connection').toSorted());
  expect(pairs).toHaveLength((names.length * (names.length - 1)) / 2 - 1);
});

test.each(single)('%s answers by itself', async (name) => {
  expect(await answererOf([name])).toBe(name);
});

test.each(pairs)('%s and %s: the earlier one answers', async (one, other) => {
  const first = answerOrder.indexOf(one) < answerOrder.indexOf(other) ? one : other;
  expect(await answererOf([one, other])).toBe(first);
});

/** Sites with two settings that meet in other ways, and what single requests get. */
const meetings: Readonly<Record<string, Setting>> = {
  closed: { ...settings.maintenance, ...settings.bot },
  silent: settings.maintenance,
  allowed: {
    ...settings.maintenance,
    access: { ip: [{ ...settings.ip.access!.ip[0]!, kind: 'allow' }], country: [] },
  },
  users: settings.auth,
};

test.each([
  ['closed', 'GET /', 503, 'maintenance'],
  ['closed', 'GET /open', 403, 'bot_challenge_required'],
  ['closed', 'GET /.waf-check/check.js', 200, 'bot_asset'],
  ['closed', 'GET /.waf-check/../x', 404, 'bot_path'],
  ['silent', 'GET /open', 200, undefined],
  ['silent', 'GET /.waf-check/check.js', 503, 'maintenance'],
  ['allowed', 'GET /', 503, 'maintenance'],
  ['users', 'OPTIONS /', 401, 'auth_required'],
])('%s: %s gets %s %s', async (site, line, status, refusal) => {
  const fields = 'Origin: https://a.example\r\nAccess-Control-Request-Method: PUT';
  const head = `${line} HTTP/1.1\r\nHost: ${site}.test\r\n${fields}\r\nConnection: close\r\n\r\n`;
  const text = await new RawClient(port).send(head).all();
  const id = /^X-Request-Id: (\S+)/im.exec(text)?.[1] ?? '';
  expect(Number(text.slice(9, 12))).toBe(status);
  if (id !== '') expect(answered.get(id)?.refusal ?? undefined).toBe(refusal);
});

test('the guide has the same order', () => {
  const guide = new URL('../../deploy/guides/delivery.md', import.meta.url);
  const section = readFileSync(guide, 'utf8').split('## Which setting answers')[1] ?? '';
  const rows = [...section.split('\n## ')[0]!.matchAll(/^\| +(\d+) \| `(\w+)`/gm)];
  expect(rows.map(([, , name]) => name)).toEqual(answerOrder);
  expect(rows.map(([, place]) => Number(place))).toEqual(answerOrder.map((_, at) => at + 1));
});
