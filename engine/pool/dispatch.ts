/**
 * Owns where a request is inspected: on the front's own thread, in the pool, or by size. Hands out
 * sessions that look the same either way, and turns pool failures into the site's fail policy.
 */

import { inspectionDeadline } from '../base/errors.ts';
import { poolLimits } from '../base/limits.ts';
import type {
  InspectionPlace,
  InspectionSession,
  Inspector,
  MaybePromise,
} from '../contract/inspection.ts';
import { SPAN } from '../contract/message.ts';
import type {
  BodySnapshot,
  MessageHead,
  RequestSnapshot,
  ResponseSnapshot,
} from '../contract/message.ts';
import { passVerdict } from '../contract/verdict.ts';
import type { BodyNeed, TransactionRecord, Verdict } from '../contract/verdict.ts';
import { Lane } from './lane.ts';
import type { LaneOptions, LaneResult, PoolFailure } from './lane.ts';
import { ownHead } from './wire.ts';
import type { PoolOperation } from './wire.ts';
import { failVerdict } from './worker.ts';

/** How the pool is started. */
export interface PoolOptions extends LaneOptions {
  readonly threads: number;
}

/** How the pool inspects for one site. */
export interface PooledPolicy {
  /** Key under which the policy was loaded. */
  readonly policy: string;
  readonly failPolicy: 'closed' | 'open';
  /** Disruptive outcomes are recorded, not enforced. */
  readonly recordOnly: boolean;
}

/** The lanes of one front thread; started at first use. */
export class Pool {
  private readonly options: PoolOptions;
  private readonly lanes: Lane[] = [];
  private readonly policies = new Map<string, unknown>();
  private nextSession = 1;

  constructor(options: PoolOptions) {
    this.options = options;
  }

  /** Makes a policy known to every lane, present and future. */
  load(policy: string, source: unknown): void {
    this.policies.set(policy, source);
    for (const lane of this.lanes) void lane.send({ op: 'load', policy, source });
  }

  retire(policy: string): void {
    this.policies.delete(policy);
    for (const lane of this.lanes) void lane.send({ op: 'retire', policy });
  }

  /** Waits until every lane has handled what was sent so far. */
  async settled(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.send({ op: 'retire', policy: '' })));
  }

  open(request: RequestSnapshot, how: PooledPolicy): InspectionSession {
    return new PoolSession(this.lane(), this.nextSession++, request, how);
  }

  async close(): Promise<void> {
    await Promise.all(this.lanes.splice(0).map((lane) => lane.close()));
  }

  /** The lane with the least to do; a new one while there are fewer than wanted. */
  private lane(): Lane {
    let best = this.lanes[0];
    for (const lane of this.lanes) if (best && lane.depth < best.depth) best = lane;
    if (best && (best.depth === 0 || this.lanes.length >= this.options.threads)) return best;
    const lane = new Lane(this.options);
    for (const [policy, source] of this.policies) void lane.send({ op: 'load', policy, source });
    this.lanes.push(lane);
    return lane;
  }
}

/** Chooses the place per request. */
export function placeInspector(
  place: InspectionPlace,
  inline: Inspector,
  pool: Pool,
  how: PooledPolicy,
): Inspector {
  if (place === 'inline') return inline;
  const viaPool: Inspector = { open: (request) => pool.open(request, how) };
  if (place === 'pool') return viaPool;
  return {
    open: (request) => (announcesLargeBody(request.head) ? viaPool : inline).open(request),
  };
}

/** True for a Content-Length above the limit and for chunked bodies, whose size nobody knows. */
function announcesLargeBody(head: MessageHead): boolean {
  const length = bodyLength(head);
  return length < 0 || length > poolLimits.inlineBodyBytesMax;
}

/** Announced body length: 0 without a body, -1 when it is chunked. */
export function bodyLength({ bytes, spans }: MessageHead): number {
  const count = spans[SPAN.fieldCount]!;
  for (let i = 0; i < count; i++) {
    const at = SPAN.fields + 4 * i;
    const size = spans[at + 1]! - spans[at]!;
    if (size === 17 && nameIs(bytes, spans[at]!, 'transfer-encoding')) return -1;
    if (size === 14 && nameIs(bytes, spans[at]!, 'content-length')) {
      return decimal(bytes, spans[at + 2]!, spans[at + 3]!);
    }
  }
  return 0;
}

function nameIs(bytes: Uint8Array, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    if ((bytes[start + i]! | 32) !== (name.charCodeAt(i) | 32)) return false;
  }
  return true;
}

function decimal(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) value = value * 10 + (bytes[i]! - 48);
  return Number.isFinite(value) && value >= 0 ? value : -1;
}

const noNeed: BodyNeed = { inspect: false, limitBytes: 0, onExcess: 'prefix' };

class PoolSession implements InspectionSession {
  bodyNeed: BodyNeed = noNeed;
  responseNeed: BodyNeed = noNeed;
  private readonly lane: Lane;
  private readonly session: number;
  private readonly request: RequestSnapshot;
  private readonly how: PooledPolicy;
  private failure: PoolFailure | null = null;
  private bodyVerdict: Verdict | null = null;
  private lastVerdict: Verdict = passVerdict;

  constructor(lane: Lane, session: number, request: RequestSnapshot, how: PooledPolicy) {
    this.lane = lane;
    this.session = session;
    this.request = request;
    this.how = how;
  }

  requestHead(): Promise<Verdict> {
    const { session } = this;
    const { policy, recordOnly } = this.how;
    const request = ownHead(this.request);
    const bodyless = bodyLength(request.head) === 0;
    return this.step({ op: 'open', session, policy, recordOnly, request, bodyless }, (need) => {
      this.bodyNeed = need;
    });
  }

  requestBody(body: BodySnapshot | null): MaybePromise<Verdict> {
    if (this.failure) return failVerdict(this.how.failPolicy);
    if (body === null && this.bodyVerdict) return (this.lastVerdict = this.bodyVerdict);
    return this.step({ op: 'requestBody', session: this.session, body: ownBody(body) });
  }

  responseHead(response: ResponseSnapshot): MaybePromise<Verdict> {
    if (this.failure) return passVerdict;
    const operation = {
      op: 'responseHead',
      session: this.session,
      response: ownHead(response),
    } as const;
    return this.step(operation, (need) => {
      this.responseNeed = need;
    });
  }

  responseBody(body: BodySnapshot | null): MaybePromise<Verdict> {
    if (this.failure) return passVerdict;
    return this.step({ op: 'responseBody', session: this.session, body: ownBody(body) });
  }

  async finish(): Promise<TransactionRecord> {
    const result = await this.lane.send({ op: 'finish', session: this.session });
    if (result.kind === 'record') {
      return this.failure ? { ...result.record, failure: this.failure } : result.record;
    }
    return {
      verdict: this.lastVerdict,
      matchedRules: [],
      inboundScore: 0,
      outboundScore: 0,
      detectionOnly: false,
      inspectionUs: 0,
      failure: this.failure ?? (result.kind === 'lost' ? result.failure : 'internal'),
    };
  }

  private async step(
    operation: PoolOperation,
    take: (need: BodyNeed) => void = () => undefined,
  ): Promise<Verdict> {
    const result: LaneResult = await this.lane.send(operation);
    if (result.kind === 'verdict') {
      take(result.need);
      this.bodyVerdict = result.bodyVerdict;
      return (this.lastVerdict = result.verdict);
    }
    this.failure = failureOf(result);
    return (this.lastVerdict = failVerdict(this.how.failPolicy));
  }
}

function failureOf(result: LaneResult): PoolFailure {
  if (result.kind === 'lost') return result.failure;
  const late = result.kind === 'failed' && result.reason === inspectionDeadline;
  return late ? 'deadline' : 'internal';
}

function ownBody(body: BodySnapshot | null): BodySnapshot | null {
  return body === null ? null : { bytes: new Uint8Array(body.bytes), truncated: body.truncated };
}
