/**
 * Messages that go with the evidence of their request, which comes by a stream of its own: each
 * waits for it in turn, and leaves without it once it is clear, or late, that none comes.
 */

import { siemLimits } from '../limits/siem-limits.ts';

/** What is kept of a request itself. */
export interface RequestEvidence {
  readonly headers: readonly { readonly name?: string; readonly values?: readonly string[] }[];
  /** The captured body, at most as many bytes as a message takes. */
  readonly body: Uint8Array;
  /** Bytes of the body that came. */
  readonly bodyBytes: number;
  /** Header fields of the answer; empty where none are kept. */
  readonly answerHeaders: RequestEvidence['headers'];
  /** The part of the answer's body that the rules were given, coded as it came. */
  readonly answerBody: Uint8Array;
  /** Why that is nothing, or not all; '' for a whole body. */
  readonly answerBodyLack: string;
}

/** The request that is meant; ids of requests may come again. */
export interface EvidencedRequest {
  readonly requestId: string;
  readonly siteId: string;
  readonly tenantId: string;
  readonly receivedAtMs: number;
}

/** Evidence; `none` where none is kept or will come, `later` where it may still come. */
export type FindEvidence = (request: EvidencedRequest) => RequestEvidence | 'none' | 'later';

interface Waiting {
  readonly request: EvidencedRequest;
  readonly leave: (evidence: RequestEvidence | null) => void;
  readonly untilMs: number;
}

/** The messages that wait. */
export class EvidenceWait {
  private readonly find: FindEvidence;
  private readonly nowMs: () => number;
  private waiting: Waiting[] = [];
  private timer: NodeJS.Timeout | null = null;

  constructor(find: FindEvidence, nowMs: () => number) {
    this.find = find;
    this.nowMs = nowMs;
  }

  /** Calls `leave` once, after those that came before. */
  add(request: EvidencedRequest, leave: Waiting['leave']): void {
    const untilMs = this.nowMs() + siemLimits.evidenceWaitMs;
    this.waiting.push({ request, leave, untilMs });
    if (this.waiting.length > siemLimits.evidenceWaitingMax) this.waiting.shift()?.leave(null);
    // While the first one waits, the timer looks for it.
    if (this.timer === null) this.pass();
  }

  /** Lets all leave with what is there. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const rest = this.waiting;
    this.waiting = [];
    for (const { request, leave } of rest) {
      const found = this.find(request);
      leave(typeof found === 'string' ? null : found);
    }
  }

  private pass(): void {
    const nowMs = this.nowMs();
    let left = 0;
    for (const { request, leave, untilMs } of this.waiting) {
      const found = this.find(request);
      if (found === 'later' && nowMs < untilMs) break;
      left++;
      leave(typeof found === 'string' ? null : found);
    }
    if (left > 0) this.waiting.splice(0, left);
    if (this.waiting.length === 0) return;
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.pass();
    }, siemLimits.evidenceLookEveryMs).unref();
  }
}
