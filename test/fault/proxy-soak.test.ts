/**
 * Random clients against random origins through one front, all of them failing in every way at any
 * byte. Afterwards every request has ended once, nothing is held, no socket is open, and no byte
 * went to anybody else. The seed is printed; WAF_SOAK_SEED repeats a run, WAF_SOAK_CLIENTS sets the
 * number of client connections of each kind.
 */

import { readdirSync, readlinkSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { RequestEvent } from '../../engine/contract/events.ts';
import type { Inspector } from '../../engine/contract/inspection.ts';
import type { BodySnapshot } from '../../engine/contract/message.ts';
import type { SiteConfig } from '../../engine/contract/site.ts';
import { passVerdict } from '../../engine/contract/verdict.ts';
import { Closing, ScriptedInspector, siteFor } from '../../engine/front/fixtures/fixture.ts';
import { createFront, type Front } from '../../engine/front/threads/front.ts';
import type { FrontContext } from '../../engine/front/front-context.ts';
import { makeCertificate } from '../../engine/upstream/test-certificate.ts';
import { eventually } from '../support/eventually.ts';
import { requestIdOf, runClient, type ClientReport } from './soak-client.ts';
import { judgeSeen, startRules } from './soak-rules.ts';
import { startOrigin } from './soak-origin.ts';
import { Random } from './soak-wire.ts';
import { draws } from '../support/soak.ts';

const seed = Number(process.env['WAF_SOAK_SEED'] ?? Date.now() % 0x7fffffff);
const clients = draws(120, 2_000, 'WAF_SOAK_CLIENTS');
const atOnce = 30;

const settings = {
  sweepIntervalMs: 10,
  headTimeoutMs: 3_000,
  bodyProgressTimeoutMs: 3_000,
  sendProgressTimeoutMs: 2_000,
  requestTotalTimeoutMs: 5_000,
  keepAliveTimeoutMs: 2_000,
  halfCloseGraceMs: 5_000,
  lingerTimeoutMs: 300,
};

const closing = new Closing();
afterEach(() => closing.run());

/** A body of which the inspected part is the work of one client's one request. */
function isOnes(body: BodySnapshot | null): boolean {
  const text = Buffer.from(body?.bytes ?? []).toString('latin1');
  const unit = /^<[aq]\d+>/.exec(text)?.[0] ?? text;
  return text === unit.repeat(Math.ceil(text.length / unit.length)).slice(0, text.length);
}

class Watched {
  foreign = 0;
  readonly inspector: ScriptedInspector;

  constructor(later: boolean) {
    const look = (body: BodySnapshot | null): void => {
      if (body !== null && body.bytes.length > 0 && !isOnes(body)) this.foreign++;
    };
    const pass = (body: BodySnapshot | null): typeof passVerdict => {
      look(body);
      return passVerdict;
    };
    this.inspector = new ScriptedInspector({
      later,
      bodyNeed: { inspect: true, limitBytes: 40_000, onExcess: 'prefix' },
      responseNeed: { inspect: true, limitBytes: 30_000, onExcess: 'prefix' },
      body: pass,
      responseBody: pass,
      end: look,
    });
  }
}

function certificate(): { key: string; cert: string } {
  const { certificatePem, privateKeyPem } = makeCertificate('soak.example');
  return { key: privateKeyPem, cert: certificatePem };
}

/** Descriptors of this process that are sockets. */
function openSockets(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

interface Soaked {
  readonly reports: readonly ClientReport[];
  readonly events: readonly RequestEvent[];
}

/** What the front of this thread still has; its parts are nobody else's business. */
function leftovers(front: Front): object {
  const { context } = front as unknown as { context: FrontContext };
  const holders = (context.deadlines as unknown as { holders: Set<unknown> }).holders.size;
  return { connections: front.connections, held: context.held.used, holders };
}

async function soak(site: (port: number) => SiteConfig, tls: boolean, inspector: Inspector | null) {
  const before = openSockets();
  const random = new Random(seed);
  const origin = await startOrigin(random, tls ? certificate() : null);
  closing.add(() => origin.close());
  const events: RequestEvent[] = [];
  let released = 0;
  const front = createFront({
    routes: { revision: 'r1', sites: [site(origin.port)] },
    inspectorOf: () => inspector,
    onReleased: () => released++,
    settings,
    onRequestDone: (event) => events.push(event),
  });
  closing.add(() => front.close());
  const port = await front.listen({ host: '127.0.0.1', port: 0 });
  const reports: ClientReport[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < clients) {
      const index = next++;
      reports.push(await runClient(port, seed + 7919 * index, 1 + index * 10));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, clients) }, worker));
  await eventually(() => front.connections === 0).catch(() => undefined);
  front.swap({ routes: { revision: 'r2', sites: [] }, inspectorOf: () => null });
  await eventually(() => released === 1).catch(() => undefined);
  const left = { ...leftovers(front), released };
  await front.close();
  origin.close();
  await eventually(() => openSockets() <= before).catch(() => undefined);
  return { reports, events, left, problems: origin.problems, sockets: openSockets() - before };
}

function summary({ reports, events }: Soaked): string {
  const count = (values: readonly string[]): string => {
    const counts = new Map<string, number>();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    return [...counts].map(([name, times]) => `${name} ${times}`).join(', ');
  };
  return [
    `connections: ${count(reports.map(({ fault }) => fault))}`,
    `origins: ${count(reports.flatMap(({ behaviors }) => behaviors))}`,
    `events: ${count(events.map(({ outcome, refusal }) => (refusal === null ? outcome : refusal)))}`,
  ].join('\n');
}

function siteOf(tls: boolean, inspected: boolean): (port: number) => SiteConfig {
  const waf = { enabled: inspected, mode: 'blocking', failPolicy: 'closed' } as const;
  return (port) => {
    const endpoints = [{ host: '127.0.0.1', port, weight: 1 }];
    const scheme = tls ? 'https' : 'http';
    const upstream = { id: 'u', scheme, endpoints, ...(tls ? { verifyTls: false } : {}) } as const;
    return siteFor(port, { waf, upstream });
  };
}

function expectClean(result: Awaited<ReturnType<typeof soak>>): void {
  console.log(summary(result));
  expect(result.problems).toEqual([]);
  const eventOf = (id: number): string => {
    const event = result.events.find(({ requestId }) => requestId === requestIdOf(id));
    return `${event?.outcome} ${event?.status} ${event?.refusal}`;
  };
  const problems = result.reports.filter(({ problem }) => problem !== null);
  const told = problems.map(({ problem, problemAt }) => `${problem}: ${eventOf(problemAt)}`);
  expect(told).toEqual([]);
  expect(result.left).toEqual({ connections: 0, held: 0, holders: 0, released: 1 });
  expect(result.sockets).toBe(0);
  const ids = result.events.map(({ requestId }) => requestId);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  const owed = result.reports.flatMap((report) => report.owed);
  expect(owed.filter((id) => !ids.includes(requestIdOf(id)))).toEqual([]);
}

describe('fault soak', () => {
  console.log(`WAF_SOAK_SEED=${seed} WAF_SOAK_CLIENTS=${clients}`);
  const timeout = 240_000 + clients * 400;

  test('plain', { timeout }, async () => {
    expectClean(await soak(siteOf(false, false), false, null));
  });

  test.each([
    ['inspection at once', false, false],
    ['inspection later, TLS origin', true, true],
  ])('%s', { timeout }, async (_, tls, later) => {
    const watched = new Watched(later);
    const { inspector } = watched;
    expectClean(await soak(siteOf(tls, true), tls, inspector));
    expect(watched.foreign).toBe(0);
    expect(inspector.finished).toBe(inspector.opened);
  });

  test.each([
    ['rules on the thread', false],
    ['rules in the pool', true],
  ])('%s', { timeout }, async (_, pooled) => {
    const rules = await startRules(pooled);
    closing.add(() => rules.close());
    const result = await soak(siteOf(false, true), false, rules.inspector);
    expectClean(result);
    const { seen, foreign } = judgeSeen(result.events);
    expect(foreign).toEqual([]);
    expect(seen).toBeGreaterThan(clients / 4);
    expect(result.events.filter(({ transaction }) => transaction?.failure)).toEqual([]);
  });
});
