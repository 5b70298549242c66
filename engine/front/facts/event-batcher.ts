/**
 * The batches in which a front thread hands finished requests over; never blocks a request, and
 * never holds more than its bound in bytes: first evidence is shortened, then events are lost.
 */

import { frontLimits } from '../../../base/delivery-limits.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type { EventSelection } from '../../contract/logging.ts';
import type { MatchedRule, TransactionRecord } from '../../contract/verdict.ts';
import { EventPacker, type EventBatch } from './event-wire.ts';

/** What became of an event: `shortened` keeps the gravest matches only and counts the others. */
export type EventFate = 'kept' | 'shortened' | 'lost';

/**
 * Gathers events; sends when a batch is full or old enough, and waits while the receiver is busy.
 */
export class EventBatcher {
  private readonly send: (batch: EventBatch) => void;
  private open = new EventPacker();
  private readonly sealed: { readonly batch: EventBatch; readonly bytes: number }[] = [];
  /** Bytes of batches on their way, in their order. */
  private readonly sent: number[] = [];
  /** Of sealed and sent batches. */
  private bytes = 0;
  private dropped = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(send: (batch: EventBatch) => void) {
    this.send = send;
  }

  /**
   * Takes an event and what the log policy keeps of it, as far as there is room. Throws for one
   * that cannot be packed; what waited in the same batch is lost: half of an event may be among it.
   */
  add(event: RequestEvent, selection: EventSelection | null = null): EventFate {
    const waiting = this.bytes + this.open.bytes;
    if (waiting >= frontLimits.eventQueueBytesMax) {
      this.dropped++;
      return 'lost';
    }
    const short = waiting >= frontLimits.eventQueueBytesMax / 2 ? shortened(event) : event;
    try {
      this.open.add(short, selection);
    } catch (thrown) {
      this.dropped += this.open.count + 1;
      this.open = new EventPacker();
      throw thrown;
    }
    const { count, bytes } = this.open;
    if (count >= frontLimits.eventBatchMax || bytes >= frontLimits.eventBatchBytesMax) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), frontLimits.eventBatchDelayMs);
    return short === event ? 'kept' : 'shortened';
  }

  /** The receiver has taken a batch. */
  taken(): void {
    this.bytes -= this.sent.shift() ?? 0;
    if (this.sealed.length > 0) this.flush();
  }

  /** Sends what there is, as far as the receiver keeps up; `all` sends the rest whatever. */
  flush(all = false): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.open.count > 0) this.seal();
    while (this.sealed.length > 0 && (all || this.sent.length < frontLimits.eventBatchesSentMax)) {
      const { batch, bytes } = this.sealed.shift()!;
      this.sent.push(bytes);
      this.send(batch);
    }
  }

  private seal(): void {
    const { bytes } = this.open;
    this.sealed.push({ batch: this.open.take(this.dropped), bytes });
    this.bytes += bytes;
    this.dropped = 0;
  }
}

/** The event with its gravest matches only, one value of each; itself where it says little. */
function shortened(event: RequestEvent): RequestEvent {
  const record = event.transaction;
  if (record === null || record.matchedRules.length === 0) return event;
  const logged = record.matchedRules.filter(({ log }) => log);
  const kept = gravest(logged);
  const transaction: TransactionRecord = {
    ...record,
    matchedRules: kept.map((rule) => ({
      ...rule,
      operator: '',
      matched: rule.matched.slice(0, 1),
    })),
    matchesLeftOut: logged.length - kept.length,
  };
  return { ...event, transaction };
}

/** In their order: those that decided, then by severity. */
function gravest(rules: readonly MatchedRule[]): readonly MatchedRule[] {
  const grade = ({ disruptive, severity }: MatchedRule): number =>
    disruptive ? -1 : severity < 0 ? Number.MAX_SAFE_INTEGER : severity;
  const chosen = rules.toSorted((left, right) => grade(left) - grade(right));
  const kept = new Set(chosen.slice(0, frontLimits.eventMatchesShortened));
  return rules.filter((rule) => kept.has(rule));
}
