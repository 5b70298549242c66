/**
 * Sends the messages that wait, channel by channel in their order, with bounded attempts. A message
 * is taken from the store and its end written there: a kill repeats an attempt, under the same id,
 * and loses none.
 */

import type { Clock } from '../../base/clock.ts';
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { missingSecrets, withSecrets } from '../domain/alert/alert-channel.ts';
import type {
  AlertChannelRecord,
  AlertChannelStateRecord,
  AlertDeliveryRecord,
} from '../domain/alert/alert-records.ts';
import { allowedNetworksOf } from '../domain/settings/outgoing-settings.ts';
import { alertLimits } from '../limits/alert-limits.ts';
import {
  alertChannels,
  alertChannelSecrets,
  alertChannelStates,
  alertDeliveries,
  alerts,
  settingsId,
  systemSettings,
} from '../store/collections.ts';
import { ownDuties, type Duties } from '../store/duties.ts';
import type { ReadStore, Store, WriteStore } from '../store/store.ts';
import { addNotes } from './keep-changes.ts';
import type { OutgoingMessage, SendContext } from './message.ts';
import { pagerDutyUrl } from './pagerduty.ts';
import { explainSend, SendError } from './post.ts';
import { send } from './send.ts';

/** What sending works with. */
export interface DeliveryParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly duties?: Duties;
  /** Where PagerDuty takes events; elsewhere in tests. */
  readonly pagerDutyUrl?: string;
  /** Time for one attempt where it differs. */
  readonly sendTimeoutMs?: number;
}

/** Sends until it is closed. */
export interface Deliveries {
  /** Sends what is due now; resolves when it is sent or has failed. Never rejects. */
  deliver(): Promise<void>;
  /** Sends one message, whatever waits, and stores nothing. Errors: SendError. */
  sendNow(
    channel: AlertChannelRecord,
    secrets: Readonly<Record<string, string>>,
    message: OutgoingMessage,
  ): Promise<void>;
  close(): Promise<void>;
}

/** Starts to send; with `everyMs` 0 only when asked. */
export function startDeliveries(
  parts: DeliveryParts,
  everyMs: number = alertLimits.deliverEveryMs,
): Deliveries {
  const { logger, duties = ownDuties(parts.store) } = parts;
  const ending = new AbortController();
  const active = new Map<string, Promise<void>>();
  const sendNow: Deliveries['sendNow'] = (channel, secrets, message) =>
    sendThrough(parts, channel, secrets, message, ending.signal);
  const work = async (store: Store, channelId: string): Promise<void> => {
    try {
      while (!ending.signal.aborted) {
        if (!(await deliverNext({ ...parts, store }, channelId, sendNow, ending.signal))) break;
      }
    } catch (error) {
      logger.error('messages of alerts could not be sent; they are tried again', {
        reason: toAppError(error).message,
      });
    }
  };
  const deliver = async (): Promise<void> => {
    const store = await duties.begin();
    if (store === null) return;
    for (const { id } of store.list(alertChannels)) {
      if (active.size >= alertLimits.channelsAtOnceMax || ending.signal.aborted) break;
      if (active.has(id) || store.count(alertDeliveries, 'waiting', id) === 0) continue;
      const run = work(store, id).finally(() => active.delete(id));
      active.set(id, run);
    }
    await Promise.all(active.values());
  };
  const timer = everyMs === 0 ? null : setInterval(() => void deliver(), everyMs).unref();
  return {
    deliver,
    sendNow,
    close: async () => {
      if (timer !== null) clearInterval(timer);
      ending.abort();
      await Promise.all(active.values());
    },
  };
}

/** Sends the first message of a channel if it is due; false when there is nothing to do now. */
async function deliverNext(
  parts: DeliveryParts,
  channelId: string,
  sendNow: Deliveries['sendNow'],
  ending: AbortSignal,
): Promise<boolean> {
  const { store, clock } = parts;
  const nowMs = clock.nowMs();
  const [next] = [...store.walkIndex(alertDeliveries, 'waiting', { value: channelId, limit: 1 })];
  if (next === undefined || Date.parse(next.dueAt) > nowMs) return false;
  const channel = store.get(alertChannels, channelId);
  if (channel === undefined) return false;
  const { id, event, text, alert } = next;
  const failure = channel.enabled
    ? await sendNow(channel, secretsOf(store, channelId), { id, event, text, alert, nowMs }).then(
        () => null,
        (error: unknown) => explainSend(error),
      )
    : new SendError('the channel was disabled', false);
  // An attempt that the end of control broke off is none.
  if (failure !== null && ending.aborted) return false;
  const endMs = clock.nowMs();
  await store.write((tx) => settle(tx, next, channel, failure, endMs));
  return failure === null || !failure.again;
}

/** Secrets of a channel. */
export function secretsOf(store: ReadStore, channelId: string): Readonly<Record<string, string>> {
  return store.get(alertChannelSecrets, channelId)?.secrets ?? {};
}

async function sendThrough(
  parts: DeliveryParts,
  { kind, config }: AlertChannelRecord,
  secrets: Readonly<Record<string, string>>,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<void> {
  const missing = missingSecrets({ config, secrets });
  if (missing.length > 0) {
    const problem = `config.${missing[0]} of the channel has no value; set it`;
    throw new SendError(problem, false);
  }
  const values = parts.store.get(systemSettings, settingsId)?.values ?? {};
  const { sendTimeoutMs: timeoutMs = alertLimits.sendTimeoutMs } = parts;
  const context: SendContext = {
    config: withSecrets({ config, secrets }),
    bounds: { allowedNetworks: allowedNetworksOf(values), timeoutMs, signal },
    pagerDutyUrl: parts.pagerDutyUrl ?? pagerDutyUrl,
  };
  await send(kind, message, context);
}

/** Writes how an attempt ended: on the message, its channel, and the timeline when it is over. */
function settle(
  tx: WriteStore,
  sent: AlertDeliveryRecord,
  channel: AlertChannelRecord,
  failure: SendError | null,
  nowMs: number,
): void {
  const attempts = sent.attempts + 1;
  const error = failure?.message ?? '';
  const again = failure?.again === true && attempts < alertLimits.attemptsMax;
  const state = failure === null ? 'sent' : again ? 'waiting' : 'failed';
  const dueAt = new Date(nowMs + retryAfterMs(attempts)).toISOString();
  // A channel that was removed meanwhile took its messages along.
  if (tx.get(alertDeliveries, sent.id) === undefined) return;
  tx.put(alertDeliveries, { ...sent, attempts, state, error, ...(again ? { dueAt } : {}) });
  tx.put(alertChannelStates, stateAfter(tx, channel.id, failure, again, nowMs));
  if (!again) {
    noteEnd(tx, sent, channel, failure, nowMs);
    forgetOld(tx);
  }
}

function stateAfter(
  tx: ReadStore,
  id: string,
  failure: SendError | null,
  again: boolean,
  nowMs: number,
): AlertChannelStateRecord {
  const none = { sent: 0, failed: 0, failuresInRow: 0, lastSuccessAt: '', lastFailureAt: '' };
  const before = tx.get(alertChannelStates, id) ?? { id, ...none, lastError: '' };
  const now = new Date(nowMs).toISOString();
  if (failure === null) {
    const sent = before.sent + 1;
    return { ...before, sent, failuresInRow: 0, lastSuccessAt: now, lastError: '' };
  }
  return {
    ...before,
    failed: before.failed + (again ? 0 : 1),
    retried: (before.retried ?? 0) + (again ? 1 : 0),
    failuresInRow: before.failuresInRow + 1,
    ...{ lastFailureAt: now, lastError: failure.message },
  };
}

function noteEnd(
  tx: WriteStore,
  { alertId, event }: AlertDeliveryRecord,
  { name }: AlertChannelRecord,
  failure: SendError | null,
  nowMs: number,
): void {
  const alert = tx.get(alerts, alertId);
  if (alert === undefined) return;
  const body =
    failure === null
      ? `${event} message sent through ${name}`
      : `${event} message not sent through ${name}: ${failure.message}`;
  tx.put(alerts, addNotes(tx, alert, [{ kind: 'system', body, actorUserId: '' }], nowMs));
}

/** Wait before attempt `attempts` + 1: doubling up to a bound. */
function retryAfterMs(attempts: number): number {
  const { retryFirstMs, retryLongestMs } = alertLimits;
  return Math.min(retryLongestMs, retryFirstMs * 2 ** (attempts - 1));
}

function forgetOld(tx: WriteStore): void {
  const excess = tx.count(alertDeliveries, 'done', 'done') - alertLimits.deliveriesKeptMax;
  if (excess <= 0) return;
  const old = tx.walkIndex(alertDeliveries, 'done', { value: 'done', limit: excess });
  for (const { id } of [...old]) tx.remove(alertDeliveries, id);
}
