/**
 * What one front thread counts, keeps and tells of finished requests. A fault in any part of it is
 * noted and costs that part of that request: the other parts and the thread continue.
 */

import type { RequestEvent } from '../../contract/events.ts';
import type { EvidenceSource } from '../../contract/evidence.ts';
import type { FactPart } from '../../contract/fact-fault.ts';
import type { EventSelection } from '../../contract/logging.ts';
import type { CaptureRoom } from './body-capture.ts';
import type { FrontCounters } from './counters.ts';
import type { FrontEndpoints } from './endpoints.ts';
import type { EventBatcher } from './event-batcher.ts';
import type { EvidenceBatcher } from './evidence-batcher.ts';
import type { FactFaults } from './fact-faults.ts';
import { hideValues } from './hide-values.ts';
import { isSecurity, type LogSampler } from './log-sampler.ts';
import type { FrontRankings } from './rankings.ts';
import type { TallySlot } from './tally-slot.ts';

/** Chooses what is kept of requests. */
export type EventSampler = Pick<LogSampler, 'use' | 'select'>;

/** What finished requests go through. */
export interface FactParts {
  readonly counters: FrontCounters;
  readonly tally: TallySlot;
  readonly rankings: FrontRankings;
  readonly endpoints: FrontEndpoints;
  /** Null where no log policy chooses. */
  readonly sampler: EventSampler | null;
  readonly captures: CaptureRoom;
  readonly evidence: EvidenceBatcher;
  readonly batcher: EventBatcher;
  readonly faults: FactFaults;
  /** False for finished requests that nobody asks about; they stay in the thread. */
  readonly wantsEvent: (event: RequestEvent) => boolean;
}

/** Takes finished requests and messages; never throws. */
export class RequestFacts {
  private readonly parts: FactParts;

  constructor(parts: FactParts) {
    this.parts = parts;
  }

  /** A request has ended. */
  requestDone(event: RequestEvent, policyId: string, source: EvidenceSource): void {
    const { counters, tally, rankings, endpoints } = this.parts;
    try {
      counters.add(event, policyId);
      tally.requestEnded(event);
      rankings.add(event);
      endpoints.add(event);
    } catch (thrown) {
      this.failed('counts', thrown);
    }
    this.keep(event, this.selectionOf(event, true), source);
  }

  /** A message of a WebSocket was inspected; it is no access of its own. */
  messageDone(event: RequestEvent, policyId: string, source: EvidenceSource): void {
    try {
      this.parts.counters.addMessage(event, policyId);
      if (!isSecurity(event)) return;
    } catch (thrown) {
      this.failed('counts', thrown);
    }
    this.keep(event, this.selectionOf(event, false), source);
  }

  /** Notes the part that failed for a request. */
  failed(part: FactPart, thrown: unknown): void {
    this.parts.faults.note(part, thrown);
    this.parts.counters.addFate('fault');
  }

  /** Without an answer of the policy a security event is kept whole, and no access event. */
  private selectionOf(event: RequestEvent, access: boolean): EventSelection | null {
    try {
      return this.parts.sampler?.select(event, access) ?? null;
    } catch (thrown) {
      this.failed('log_policy', thrown);
      return null;
    }
  }

  private keep(
    event: RequestEvent,
    selection: EventSelection | null,
    source: EvidenceSource,
  ): void {
    const { sampler, captures, evidence, batcher, tally, counters } = this.parts;
    try {
      const { siteId } = event;
      if (sampler !== null) evidence.add(event, captures.settingsOf(siteId), selection, source);
    } catch (thrown) {
      this.failed('evidence', thrown);
    }
    try {
      const kept = event.trace !== undefined || (selection !== null && selection.access !== 0);
      if (!kept && !this.parts.wantsEvent(event)) return;
      const fate = batcher.add(hideValues(event), selection);
      if (fate !== 'lost') tally.eventTold(event);
      if (fate !== 'kept') counters.addFate(fate);
    } catch (thrown) {
      this.failed('event', thrown);
    }
  }
}
