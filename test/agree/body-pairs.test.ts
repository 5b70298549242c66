/**
 * Bounds of bodies by path and by policy, what follows the policy's, decision, engine state, mode
 * and fail policy of a site, and framing, every pair of values with traffic through a live front:
 * what each setting does does not depend on the others.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Inspector } from '../../engine/contract/inspection.ts';
import { noDelivery } from '../../engine/contract/delivery.ts';
import type { SiteConfig } from '../../engine/contract/site.ts';
import { Closing, httpOrigin, RawClient, siteFor } from '../../engine/front/fixtures/fixture.ts';
import { createFront } from '../../engine/front/threads/front.ts';
import { recordOnly } from '../../engine/policies/policy-registry.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import type { CrsCoreSettingsJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import { builtInCrsFolder } from '../../control/publish/rulesets/ruleset-folder.ts';
import { templateEngine } from './policy-in-process.ts';
import { missingPairs } from './settings-walk-table.ts';

const timeoutMs = 5 * 60_000;
const policyLimit = 1_000;

const settings = {
  /** Bound of the path, bytes; 0 for none. */
  path: [0, 500, 3_000],
  /** `BLOCK` refuses long bodies; the others take them and differ in what follows the limit. */
  body: ['BLOCK', 'OFF', 'RECORD', 'EXCESS'],
  decision: ['CRS', 'SCORE', 'BOTH'],
  engine: ['OFF', 'DETECTION_ONLY', 'ON'],
  mode: ['blocking', 'detection'],
  fails: ['open', 'closed'],
  framing: ['length', 'chunks'],
} as const;
type Combination = { readonly [Name in keyof typeof settings]: (typeof settings)[Name][number] };

const rows = [
  [0, 'BLOCK', 'CRS', 'ON', 'blocking', 'open', 'chunks'],
  [500, 'OFF', 'SCORE', 'OFF', 'detection', 'closed', 'length'],
  [3_000, 'EXCESS', 'BOTH', 'DETECTION_ONLY', 'blocking', 'closed', 'chunks'],
  [500, 'RECORD', 'BOTH', 'ON', 'detection', 'open', 'length'],
  [0, 'EXCESS', 'SCORE', 'ON', 'detection', 'open', 'length'],
  [0, 'RECORD', 'CRS', 'OFF', 'blocking', 'closed', 'length'],
  [3_000, 'BLOCK', 'SCORE', 'DETECTION_ONLY', 'detection', 'open', 'length'],
  [500, 'EXCESS', 'CRS', 'DETECTION_ONLY', 'blocking', 'open', 'length'],
  [3_000, 'OFF', 'CRS', 'ON', 'blocking', 'open', 'chunks'],
  [0, 'OFF', 'BOTH', 'DETECTION_ONLY', 'detection', 'closed', 'chunks'],
  [500, 'BLOCK', 'BOTH', 'ON', 'blocking', 'closed', 'length'],
  [3_000, 'RECORD', 'SCORE', 'ON', 'blocking', 'closed', 'length'],
  [3_000, 'BLOCK', 'BOTH', 'OFF', 'detection', 'closed', 'chunks'],
  [0, 'RECORD', 'BOTH', 'DETECTION_ONLY', 'blocking', 'open', 'chunks'],
  [500, 'EXCESS', 'SCORE', 'OFF', 'blocking', 'open', 'chunks'],
  [3_000, 'EXCESS', 'CRS', 'ON', 'detection', 'closed', 'chunks'],
  // Where a body is inspected and its verdict enforced, with each action and each decision.
  [0, 'EXCESS', 'BOTH', 'ON', 'blocking', 'closed', 'length'],
  [0, 'EXCESS', 'SCORE', 'ON', 'blocking', 'closed', 'chunks'],
  [3_000, 'EXCESS', 'CRS', 'ON', 'blocking', 'open', 'length'],
  [3_000, 'OFF', 'SCORE', 'ON', 'blocking', 'open', 'length'],
  [0, 'RECORD', 'CRS', 'ON', 'blocking', 'open', 'length'],
] as const;
const combinations = rows.map(
  ([path, body, decision, engine, mode, fails, framing]): Combination => {
    return { path, body, decision, engine, mode, fails, framing };
  },
);

const attack = `id=${encodeURIComponent(`1' or '1'='1`)}`;
/** A form of ordinary words with a length in bytes. */
const words = (bytes: number): string => `a=${'word+'.repeat(bytes / 5)}`.slice(0, bytes);

/** Bytes before the attack; null where there is none; and of the whole body. */
const bodies = {
  short: words(400),
  'short attack': `${words(300)}&${attack}`,
  middle: words(900),
  'middle attack': `${words(800)}&${attack}`,
  'cut attack': `${words(policyLimit - 10)}&${attack}`,
  long: words(1_500),
  'long after attack': `${attack}&${words(1_500)}`,
  'attack after limit': `${words(1_500)}&${attack}`,
  longest: words(3_500),
  'longest after attack': `${attack}&${words(3_500)}`,
} as const;
type BodyName = keyof typeof bodies;

function coreOf({ decision, body }: Combination): CrsCoreSettingsJson {
  const observed = body !== 'BLOCK';
  const excess = body === 'EXCESS' ? 'BLOCK' : body;
  return {
    decision: `DECISION_${decision}`,
    requestBodyLimitEnabled: true,
    requestBodyLimit: String(policyLimit),
    requestBodyLimitAction: `REQUEST_BODY_LIMIT_ACTION_${observed ? 'OBSERVE' : 'BLOCK'}`,
    ...(observed && { requestBodyExcessAction: `REQUEST_BODY_EXCESS_ACTION_${excess}` as const }),
  };
}

/** Statuses that are right, from each setting by itself. */
function expectedOf(one: Combination, name: BodyName): readonly number[] {
  const { path, body, engine, mode } = one;
  const { length } = bodies[name];
  const acts = engine === 'ON' && mode === 'blocking';
  const tooLong = path > 0 && length > path;
  const found = name.includes('attack');
  const at = name === 'cut attack' || name === 'attack after limit' ? 'after' : 'before';
  const refuses = acts && body === 'BLOCK' && length > policyLimit;
  const blocks = acts && found && !refuses && (at === 'before' || body === 'EXCESS');
  // An announced length is known before the rules; chunks are counted meanwhile.
  if (tooLong && (one.framing === 'length' || path < policyLimit)) return [413];
  if (tooLong) return refuses || !blocks ? [413] : [403, 413];
  return [refuses ? 413 : blocks ? 403 : 200];
}

/** An inspection that fails in phase 2 for paths that ask for it. */
function failing(inspector: Inspector): Inspector {
  return {
    open: (request) => {
      const session = inspector.open(request);
      const { bytes } = request.head;
      if (!Buffer.from(bytes).toString('latin1').startsWith('POST /fails')) return session;
      return {
        bodyNeed: session.bodyNeed,
        responseNeed: session.responseNeed,
        requestHead: () => session.requestHead(),
        requestBody: () => {
          throw new Error('planted');
        },
        responseHead: (answer) => session.responseHead(answer),
        responseBody: (body) => session.responseBody(body),
        finish: () => session.finish(),
      };
    },
  };
}

const closing = new Closing();
const engines = new Map<string, PolicyEngine>();
let port: number;
/** Bodies that the origin got whole. */
let whole = 0;

const policyKey = ({ body, decision, engine }: Combination): string =>
  `${body} ${decision} ${engine}`;

function siteOf(origin: number, one: Combination, at: number): SiteConfig {
  const bodyLimits = one.path === 0 ? [] : [{ pathPrefix: '', maxBytes: one.path }];
  return siteFor(origin, {
    ...{ id: `s${at}`, hosts: [`s${at}.test`], delivery: { ...noDelivery, bodyLimits } },
    waf: { enabled: true, mode: one.mode, failPolicy: one.fails },
  });
}

beforeAll(async () => {
  for (const one of combinations) {
    const key = policyKey(one);
    if (engines.has(key)) continue;
    const engine = await templateEngine('Standard', builtInCrsFolder, (policy) => ({
      ...policy,
      engineState: `ENGINE_STATE_${one.engine}`,
      crsCore: { ...policy.crsCore, ...coreOf(one) },
    }));
    engines.set(key, engine);
    closing.add(() => engine.retire());
  }
  const origin = await httpOrigin(closing, (request, response) => {
    request.resume().on('end', () => {
      whole++;
      response.end('ok');
    });
  });
  const front = createFront({
    routes: { revision: 'r', sites: combinations.map((one, at) => siteOf(origin, one, at)) },
    inspectorOf: ({ id, waf }) => {
      const engine = engines.get(policyKey(combinations[Number(id.slice(1))]!))!;
      return failing(waf.mode === 'detection' ? recordOnly(engine) : engine);
    },
    onRequestDone: () => undefined,
  });
  port = await front.listen({ host: '127.0.0.1', port: 0 });
  closing.add(() => front.close());
}, timeoutMs);
afterAll(() => closing.run());

async function send(at: number, path: string, body: string): Promise<number> {
  const isChunked = combinations[at]!.framing === 'chunks';
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: s${at}.test`,
    ...['User-Agent: Mozilla/5.0', 'Accept: */*', 'Connection: close'],
    ...['Content-Type: application/x-www-form-urlencoded', framing],
  ];
  const pieces = body.match(/[^]{1,300}/g) ?? [];
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('');
  const content = isChunked ? `${chunks}0\r\n\r\n` : body;
  const text = await new RawClient(port).send(`${lines.join('\r\n')}\r\n\r\n${content}`).all();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
}

test('each pair of values is walked', () => {
  expect(missingPairs(settings, combinations)).toEqual([]);
  expect(missingPairs(settings, combinations.slice(1, 16)).length).toBeGreaterThan(0);
});

describe('bounds of bodies and policies', () => {
  const titled = combinations.map((one, at) => [Object.values(one).join(', '), one, at] as const);

  test.each(titled)('%s', { timeout: timeoutMs }, async (_, one, at) => {
    const wrong: string[] = [];
    for (const name of Object.keys(bodies) as BodyName[]) {
      const before = whole;
      const status = await send(at, '/', bodies[name]);
      const expected = expectedOf(one, name);
      if (!expected.includes(status)) wrong.push(`${name}: ${status}, not ${expected.join(' ')}`);
      if (whole - before !== (status === 200 ? 1 : 0)) wrong.push(`${name}: the origin got it`);
    }
    expect(wrong).toEqual([]);
    expect(await send(at, '/fails', bodies.short)).toBe(one.fails === 'open' ? 200 : 503);
  });
});
