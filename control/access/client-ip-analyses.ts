/**
 * The analyses that run or ran since the start: in memory only, one a site. Samples come from the
 * engine, which is asked when somebody asks.
 */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { trustLimits } from '../../base/guard-limits.ts';
import type { SenderSample } from '../domain/site/trust-analysis.ts';

/** One analysis. */
export interface ClientIpSession {
  readonly id: string;
  readonly siteId: string;
  readonly tenantId: string;
  readonly state: 'collecting' | 'complete' | 'stopped';
  readonly startedMs: number;
  readonly endsMs: number;
  /** 0 while it collects. */
  readonly completedMs: number;
  readonly samples: readonly SenderSample[];
}

/** Asks the engine for samples; `count` > 0 begins, `end` ends. */
export type AskSamples = (
  siteId: string,
  count: number,
  end: boolean,
) => Promise<{ readonly samples: readonly SenderSample[]; readonly active: boolean }>;

/** Analyses by id. */
export class ClientIpAnalyses {
  private readonly sessions = new Map<string, ClientIpSession>();
  private readonly clock: Clock;
  private readonly ask: AskSamples;

  constructor(clock: Clock, ask: AskSamples) {
    this.clock = clock;
    this.ask = ask;
  }

  /** Begins one; an earlier one of the site is stopped. Errors: those of `ask`. */
  async start(siteId: string, tenantId: string): Promise<ClientIpSession> {
    for (const session of this.sessions.values()) {
      if (session.siteId === siteId && session.state === 'collecting') await this.stop(session.id);
    }
    await this.ask(siteId, trustLimits.clientSamplesMax, false);
    const startedMs = this.clock.nowMs();
    const session: ClientIpSession = {
      id: `analysis-${randomUUID()}`,
      siteId,
      tenantId,
      state: 'collecting',
      startedMs,
      endsMs: startedMs + trustLimits.clientSampleMs,
      completedMs: 0,
      samples: [],
    };
    this.sessions.set(session.id, session);
    const oldest = [...this.sessions.keys()][0];
    if (this.sessions.size > trustLimits.analysesMax && oldest !== undefined) {
      this.sessions.delete(oldest);
    }
    return session;
  }

  /** One as it stands now; undefined when there is none. Errors: those of `ask`. */
  async get(id: string): Promise<ClientIpSession | undefined> {
    const session = this.sessions.get(id);
    if (session?.state !== 'collecting') return session;
    const over = this.clock.nowMs() >= session.endsMs;
    const { samples, active } = await this.ask(session.siteId, 0, over);
    const kept = samples.length >= session.samples.length ? samples : session.samples;
    return this.keep({ ...session, samples: kept }, over || !active ? 'complete' : 'collecting');
  }

  /** Ends one early; one that has ended stays as it is. Errors: those of `ask`. */
  async stop(id: string): Promise<ClientIpSession | undefined> {
    const session = await this.get(id);
    if (session?.state !== 'collecting') return session;
    await this.ask(session.siteId, 0, true);
    return this.keep(session, 'stopped');
  }

  private keep(session: ClientIpSession, state: ClientIpSession['state']): ClientIpSession {
    const completedMs = state === 'collecting' ? 0 : this.clock.nowMs();
    const kept = { ...session, state, completedMs };
    this.sessions.set(kept.id, kept);
    return kept;
  }
}
