/**
 * Runs one request in two ways: through a live front with its connections, and through a
 * simulation. What both say is put in one form, so that it can be compared.
 */

import type { ApiChecks } from '../../engine/contract/api-checks.ts';
import type { ArrayNames } from '../../engine/contract/array-names.ts';
import type { RequestEvent } from '../../engine/contract/events.ts';
import type { GuardTraceEntry } from '../../engine/contract/guard.ts';
import type { Inspector } from '../../engine/contract/inspection.ts';
import type { SiteConfig } from '../../engine/contract/site.ts';
import {
  httpOrigin,
  RawClient,
  siteFor,
  startFront,
  type Closing,
} from '../../engine/front/fixtures/fixture.ts';
import { noGuardServices, type GuardKind } from '../../engine/guard/guard.ts';
import { compileGuards } from '../../engine/guard/guard-chain.ts';
import { linearPattern } from '../../engine/match/linear-pattern.ts';
import { SchemaRegistry } from '../../engine/schema/schema-registry.ts';
import { simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { simulatedHead } from '../support/simulated-head.ts';

/** A request with all that decides about it. */
export interface BothCase {
  readonly wire: string;
  readonly kinds?: readonly GuardKind[];
  readonly inspector?: Inspector | null;
  readonly waf?: Partial<SiteConfig['waf']>;
  /** Checks of API documents. */
  readonly api?: ApiChecks;
  readonly arrayNames?: ArrayNames;
}

/** What became of it. */
export interface Seen {
  /** Of an answer of our own; 0 otherwise. */
  readonly status: number;
  readonly outcome: string;
  readonly refusal: string;
  readonly guards: readonly (readonly [guard: string, action: string, reason: string])[];
  /** Why inspection failed; '' when it did not. */
  readonly failure: string;
}

/** Through a live front; with the event and what the client got. */
export async function live(
  closing: Closing,
  one: BothCase,
): Promise<{ seen: Seen; event: RequestEvent; text: string }> {
  const port = await httpOrigin(closing, (request, response) => {
    request.resume();
    request.on('end', () => response.end('ok'));
  });
  const { inspector = null, kinds = [] } = one;
  const guards = { guardKinds: kinds, schemaServices };
  const sites = [siteOf(port, one)];
  const running = await startFront(closing, sites, inspector, {}, 'strict', guards);
  const text = await new RawClient(running.port).send(one.wire).all();
  const [event] = await running.eventsReach(1);
  const { outcome, refusal, guards: notes = [], transaction, status } = event!;
  const seen = {
    status: outcome === 'served' ? 0 : status,
    outcome,
    refusal: refusal ?? '',
    guards: notes.map(({ guard, action, reason }) => [guard, action, reason] as const),
    failure: transaction?.failure ?? '',
  };
  return { seen, event: event!, text };
}

/** The same request, simulated. */
export function simulated(one: BothCase): { seen: Seen; trace: readonly GuardTraceEntry[] } {
  const site = siteOf(1, one);
  const bytes = Buffer.from(one.wire, 'latin1');
  const { head, snapshot } = simulatedHead(bytes, site.id);
  const body = bytes.subarray(head.headEnd);
  const guards = compileGuards(site, noGuardServices, one.kinds ?? []);
  const schema = new SchemaRegistry(schemaServices).prepare([site]).get(site.id) ?? null;
  const found = simulateRequest(
    { site, inspector: one.inspector ?? null, guards, schema },
    {
      snapshot,
      head,
      host: /^host: *([^:\r]*)/im.exec(one.wire)?.[1]?.toLowerCase() ?? '',
      headRefusal: head.refusal,
      body: body.length === 0 ? null : body,
    },
  );
  const { status, outcome, refusal, notes, record, guardTrace } = found;
  const seen = {
    status,
    outcome,
    refusal,
    guards: notes.map(({ guard, action, reason }) => [guard, action, reason] as const),
    failure: record?.failure ?? '',
  };
  return { seen, trace: guardTrace };
}

const schemaServices = { pattern: linearPattern, onFault: (): void => undefined };

function siteOf(port: number, { inspector = null, waf, api, arrayNames }: BothCase): SiteConfig {
  return siteFor(port, {
    ...(api && { api }),
    ...(arrayNames && { arrayNames }),
    waf: { enabled: inspector !== null, mode: 'blocking', failPolicy: 'closed', ...waf },
  });
}
