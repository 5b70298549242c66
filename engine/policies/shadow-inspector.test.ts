/** The proof of shadow runs: a second policy is compared and counted, and changes nothing. */

import { afterAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { poolLimits, shadowLimits } from '../base/limits.ts';
import type { InspectionSession, Inspector } from '../contract/inspection.ts';
import type { BodySnapshot, RequestSnapshot } from '../contract/message.ts';
import type { TransactionRecord } from '../contract/verdict.ts';
import { fullCatalog } from '../rules/features/full-catalog.ts';
import { loadText } from '../rules/language/include.ts';
import { requestFrom } from '../rules/load/test-sample.ts';
import { buildPlan } from '../rules/plan/build-plan.ts';
import { buildProgram } from '../rules/program/build-program.ts';
import { PolicyEngine } from '../rules/run/policy-engine.ts';
import type { CollectionStore, RulePorts } from '../rules/transaction/ports.ts';
import { shadowInspector } from './shadow-inspector.ts';
import { ShadowTally } from './shadow-tally.ts';

const update = vi.fn<CollectionStore['update']>();
const ports: RulePorts = {
  clock: systemClock,
  collections: { load: () => null, update },
  geo: null,
  rbl: null,
  env: new Map(),
};
const engines: PolicyEngine[] = [];
afterAll(() => engines.forEach((engine) => engine.retire()));

function engineFor(rules: string): PolicyEngine {
  const { program, diagnostics } = buildProgram(loadText(rules, 't.conf'), fullCatalog, () => null);
  if (!program) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  const log = createLogger('test', 'error');
  const cache = { get: () => null, put: () => undefined };
  const engine = new PolicyEngine(buildPlan(program, { cache, log, ports }), ports);
  engines.push(engine);
  return engine;
}

const settings = 'SecRuleEngine On\nSecRequestBodyAccess On\n';
const counting = `SecAction "id:9,phase:1,pass,nolog,initcol:ip=%{REMOTE_ADDR},setvar:ip.n=+1"\n`;
const current = engineFor(
  `${settings}${counting}SecRule ARGS "@contains both" "id:1,phase:2,deny,status:403"
SecRule ARGS "@contains mine" "id:2,phase:2,deny,status:403"
SecRule REQUEST_HEADERS:x-early "@contains mine" "id:3,phase:1,deny,status:403"`,
);
const other = engineFor(
  `${settings}${counting}SecRule ARGS "@contains both" "id:11,phase:2,deny,status:403"
SecRule ARGS "@contains other" "id:12,phase:2,deny,status:403"`,
);
const detection = engineFor(
  `SecRuleEngine DetectionOnly\nSecRule ARGS "@contains mine" "id:2,phase:2,deny,status:403"`,
);

const request = (target: string, fields = ''): RequestSnapshot => ({
  ...requestFrom(`GET ${target} HTTP/1.1\r\nHost: a${fields}`),
  siteId: 's',
  requestId: 'r',
});

interface Setup {
  readonly inner?: Inspector;
  readonly untilMs?: number;
  readonly sharePercent?: number;
  readonly random?: () => number;
}

function shadowed({
  inner = current,
  untilMs = Infinity,
  sharePercent = 100,
  random = () => 0.999,
}: Setup = {}) {
  const tally = new ShadowTally();
  const shadow = { runId: 'run', policyId: 'p~shadow', untilMs, sharePercent };
  const clock = { nowMs: () => 1000 };
  const parts = { shadow, engine: other, tally, clock, random };
  return { tally, inspector: shadowInspector(inner, parts) };
}

async function run(
  inspector: Inspector,
  asked: RequestSnapshot,
  body: BodySnapshot | null = null,
): Promise<TransactionRecord> {
  const session: InspectionSession = inspector.open(asked);
  const head = await session.requestHead();
  if (head.action === 'pass') await session.requestBody(body);
  return session.finish();
}

const countsOf = (tally: ShadowTally): Record<string, number> =>
  Object.fromEntries(tally.drain()[0]?.counts ?? []);

describe('a second policy', () => {
  test.each([
    ['/?a=1', 'both_passed'],
    ['/?a=both', 'both_blocked'],
    ['/?a=mine', 'only_current'],
    ['/?a=other', 'only_new'],
  ])('%s counts as %s', async (target, outcome) => {
    const { tally, inspector } = shadowed();
    await run(inspector, request(target));
    expect(countsOf(tally)).toEqual({ [outcome]: 1 });
    expect(tally.drain()).toEqual([]);
  });

  test('leaves verdicts, records and collections as they are', async () => {
    for (const target of ['/?a=1', '/?a=both', '/?a=mine', '/?a=other']) {
      update.mockClear();
      const alone = await run(current, request(target));
      const stored = update.mock.calls.length;
      update.mockClear();
      const beside = await run(shadowed().inspector, request(target));
      expect({ ...beside, inspectionUs: 0 }).toEqual({ ...alone, inspectionUs: 0 });
      expect([stored, update.mock.calls.length]).toEqual([1, 1]);
    }
  });

  test('is compared with what a policy in detection would have done', async () => {
    const { tally, inspector } = shadowed({ inner: detection });
    await run(inspector, request('/?a=mine'));
    expect(countsOf(tally)).toEqual({ only_current: 1 });
  });

  test('sees the body, also where the first inspection takes its time', async () => {
    const inner: Inspector = {
      open: (asked) => {
        const session = current.open(asked);
        return {
          bodyNeed: session.bodyNeed,
          responseNeed: session.responseNeed,
          requestHead: () => Promise.resolve(session.requestHead()),
          requestBody: (body) => Promise.resolve(session.requestBody(body)),
          responseHead: (answer) => session.responseHead(answer),
          responseBody: (body) => session.responseBody(body),
          finish: () => Promise.resolve(session.finish()),
        };
      },
    };
    const { tally, inspector } = shadowed({ inner });
    const form = '\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7';
    const body = { bytes: Buffer.from('a=other'), truncated: false };
    await run(inspector, request('/', form), body);
    expect(countsOf(tally)).toEqual({ only_new: 1 });
  });

  test('is not compared where it cannot see all, and not asked after its time', async () => {
    const { tally, inspector } = shadowed();
    const bytes = Buffer.alloc(poolLimits.inlineBodyBytesMax + 1, 'a');
    await run(inspector, request('/'), { bytes, truncated: false });
    await run(inspector, request('/', '\r\nX-Early: mine'));
    expect(countsOf(tally)).toEqual({ not_compared: 2 });
    const message = { ...request('/?a=other'), messageBytes: 0 };
    await run(inspector, message);
    const rest = { begins: new Uint8Array(), inCdata: false };
    await run(inspector, request('/'), { bytes: Buffer.from('x'), truncated: true, rest });
    expect(tally.drain()).toEqual([]);
    const over = shadowed({ untilMs: 1000 });
    await run(over.inspector, request('/?a=other'));
    expect(over.tally.drain()).toEqual([]);
  });

  test('inspects its share of the requests, and counts those that are not drawn', async () => {
    const drawn = [0, 0.049, 0.05, 0.5, 0.999];
    const { tally, inspector } = shadowed({ sharePercent: 5, random: () => drawn.shift()! });
    const opened = vi.spyOn(other, 'open');
    for (let at = 0; at < 5; at++) await run(inspector, request('/?a=other'));
    expect(opened).toHaveBeenCalledTimes(2);
    opened.mockRestore();
    expect(countsOf(tally)).toEqual({ only_new: 2, not_selected: 3 });
  });

  test('examples name method, path and rules, never the query, in bounded number', async () => {
    const { tally, inspector } = shadowed();
    for (let at = 0; at <= shadowLimits.examplesMax; at++) {
      await run(inspector, request('/page?a=other'));
    }
    const [delta] = tally.drain();
    expect(delta?.counts.get('only_new')).toBe(shadowLimits.examplesMax + 1);
    expect(delta?.examples).toHaveLength(shadowLimits.examplesMax);
    expect(delta?.examples[0]).toEqual({
      outcome: 'only_new',
      requestId: 'r',
      method: 'GET',
      path: '/page',
      ruleIds: [12],
    });
  });
});
