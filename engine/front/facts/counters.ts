/**
 * Counts finished requests in one front thread: exact, whatever becomes of their events. Memory:
 * one set of counts per site and policy that had traffic since the last `drain`.
 */

import { durationBoundsUs, listHitKey, servedKeys, slowUs } from '../../contract/counters.ts';
import { countLimits } from '../../base/observation-limits.ts';
import type { CounterDelta, CounterFamily } from '../../contract/counters.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type { TransactionRecord } from '../../contract/verdict.ts';
import { countForAlerts } from './alert-counts.ts';
import { isSecurity } from './log-sampler.ts';

/** Why a client is closed when it is accepted: all places are taken, or it floods the proxy. */
export type ClientRefusal = 'connection_limit' | 'reconnect_limit';

/** Counts of one thread. */
export class FrontCounters {
  private bySite = new Map<string, CounterDelta[]>();

  /** Counts a request. `policyId` is '' where nothing inspects. */
  add(event: RequestEvent, policyId: string): void {
    const delta = this.deltaOf(event.siteId, policyId);
    const { outcome, transaction, refusal } = event;
    delta.requests++;
    delta.bytesIn += event.bytesIn;
    delta.bytesOut += event.bytesOut;
    delta.durationUs += event.durationUs;
    delta.durations[durationClass(event.durationUs)]!++;
    count(delta, 'outcome', outcome);
    count(delta, 'status', event.status);
    if (outcome === 'served') countServed(delta, event);
    if (refusal !== null) {
      count(delta, outcome === 'origin_error' ? 'origin_error' : 'refusal', refusal);
    }
    if (event.guards !== undefined) {
      for (const { guard, action, ruleId } of event.guards) {
        count(delta, 'guard', `${guard}:${action}`);
        if (ruleId !== '') count(delta, 'guard_rule', ruleId);
      }
    }
    if (transaction !== null) countInspection(delta, transaction, event.blocked);
    if (isSecurity(event)) countForAlerts(delta.entries.get('alert')!, event);
  }

  /** Counts an inspected message of a WebSocket, which is no request. */
  addMessage(event: RequestEvent, policyId: string): void {
    const delta = this.deltaOf(event.siteId, policyId);
    const { transaction } = event;
    count(delta, 'message', fateOf(event));
    if (transaction !== null) countFindings(delta, transaction);
    if (isSecurity(event)) countForAlerts(delta.entries.get('alert')!, event);
  }

  /**
   * Counts an event that nobody will see, or that tells less than it could; a request that the
   * bound of a second leaves out of traces; or a fault in reporting one.
   */
  addFate(fate: 'shortened' | 'lost' | 'trace_left_out' | 'fault'): void {
    count(this.deltaOf('', ''), 'event', fate);
  }

  /** Counts a client that was closed when it was accepted: it sent no request. */
  addRefusedClient(why: ClientRefusal): void {
    count(this.deltaOf('', ''), 'refusal', why);
  }

  /** Counts a TLS handshake that ended without a connection, by why. */
  addFailedHandshake(why: string): void {
    count(this.deltaOf('', ''), 'refusal', `tls_${why}`);
  }

  /** Counts a client that was closed for its PROXY header. */
  addRefusedProxyHeader(): void {
    count(this.deltaOf('', ''), 'refusal', 'proxy_header');
  }

  /**
   * Counts a request that an IP list decided about, by binding and address; past the bound, by
   * binding alone.
   */
  addListHit(bindingId: string, address: string): void {
    const delta = this.deltaOf('', '');
    const hits = delta.entries.get('list_hit')!;
    const key = listHitKey(bindingId, address);
    const room = hits.size < countLimits.listHitsMax || hits.has(key);
    count(delta, 'list_hit', room ? key : listHitKey(bindingId, ''));
  }

  /** What was counted since the last call; [] when there was nothing. */
  drain(): CounterDelta[] {
    const deltas = [...this.bySite.values()].flat();
    this.bySite = new Map();
    return deltas;
  }

  private deltaOf(siteId: string, policyId: string): CounterDelta {
    let deltas = this.bySite.get(siteId);
    if (deltas === undefined) this.bySite.set(siteId, (deltas = []));
    for (const delta of deltas) if (delta.policyId === policyId) return delta;
    const delta = emptyDelta(siteId, policyId);
    deltas.push(delta);
    return delta;
  }
}

function emptyDelta(siteId: string, policyId: string): CounterDelta {
  return {
    siteId,
    policyId,
    requests: 0,
    bytesIn: 0,
    bytesOut: 0,
    durationUs: 0,
    durations: new Array<number>(durationBoundsUs.length + 1).fill(0),
    inspected: 0,
    inspectionUs: 0,
    inspections: new Array<number>(durationBoundsUs.length + 1).fill(0),
    entries: new Map([
      ['outcome', new Map()],
      ['status', new Map()],
      ['served', new Map()],
      ['verdict', new Map()],
      ['refusal', new Map()],
      ['origin_error', new Map()],
      ['failure', new Map()],
      ['limit', new Map()],
      ['event', new Map()],
      ['guard', new Map()],
      ['guard_rule', new Map()],
      ['list_hit', new Map()],
      ['message', new Map()],
      ['alert', new Map()],
      ['rule', new Map()],
    ]),
  };
}

function durationClass(durationUs: number): number {
  let at = 0;
  while (at < durationBoundsUs.length && durationUs > durationBoundsUs[at]!) at++;
  return at;
}

function count(delta: CounterDelta, family: CounterFamily, key: string | number, amount = 1): void {
  const counts = delta.entries.get(family)!;
  counts.set(key, (counts.get(key) ?? 0) + amount);
}

/** What origins answered, apart from what the product answered itself. */
function countServed(delta: CounterDelta, { status, durationUs }: RequestEvent): void {
  count(delta, 'served', status);
  count(delta, 'served', servedKeys.time, Math.round(durationUs));
  if (durationUs >= slowUs.slow) count(delta, 'served', servedKeys.slow);
  if (durationUs >= slowUs.verySlow) count(delta, 'served', servedKeys.verySlow);
}

/** `detected`: a verdict that the policy or the site only records. `failed`: there was none. */
function countInspection(delta: CounterDelta, record: TransactionRecord, blocked: boolean): void {
  // What was shed took no time, and would make inspection look quick.
  if (record.failure !== 'overload') {
    delta.inspected++;
    delta.inspectionUs += record.inspectionUs;
    delta.inspections[durationClass(record.inspectionUs)]!++;
  }
  const { action } = record.verdict;
  const detected = action !== 'pass' && (record.detectionOnly || !blocked);
  const failed = action === 'pass' && record.failure !== undefined;
  count(delta, 'verdict', failed ? 'failed' : detected ? 'detected' : action);
  countFindings(delta, record);
}

/** `refused`: longer than the policy takes. */
function fateOf({ outcome, transaction }: RequestEvent): string {
  if (outcome !== 'served') return outcome;
  if (transaction?.failure !== undefined) return 'inspection_failed';
  return transaction !== null && transaction.verdict.action !== 'pass' ? 'detected' : 'passed';
}

function countFindings(delta: CounterDelta, record: TransactionRecord): void {
  if (record.failure !== undefined) count(delta, 'failure', record.failure);
  for (const name of record.limitsReached ?? []) count(delta, 'limit', name);
  for (const { log, ruleId } of record.matchedRules) if (log) count(delta, 'rule', ruleId);
}
