/**
 * The states of an alert and what moves it, as one table. A state says both what people did (open,
 * acknowledged, resolved) and what the evaluation finds (pending, firing, cleared). Pure.
 */

import type { AlertStatusJson } from '../../../proto/gen/waf/v1/alert_pb.ts';

/** Messages that are sent. */
export type AlertEvent = 'firing' | 'repeat' | 'resolved';

/** Why an alert ended. */
export type ClosedReason =
  'condition_cleared' | 'operator' | 'rule_changed' | 'rule_disabled' | 'rule_deleted';

/**
 * `closed`: an operator resolved it while its cause persists; it opens nothing new meanwhile.
 * `resolved`: it ended; nothing moves it any more.
 */
export type AlertState =
  'pending' | 'pending_acked' | 'firing' | 'acked' | 'closed_pending' | 'closed' | 'resolved';

/** What moves an alert: what the evaluation finds, what operators do, what becomes of its rule. */
export type AlertMove =
  /** The condition holds, not yet for as long as it must. */
  | 'match'
  /** The condition holds, for as long as it must. */
  | 'due'
  | 'clear'
  | 'ack'
  | 'resolve'
  /** Closed by an operator, and the cause persists for longer than messages repeat. */
  | 'persist'
  | 'rule_changed'
  | 'rule_disabled'
  | 'rule_deleted';

/** What a move does beside changing the state. */
export type AlertEffect =
  /** It fires: firingAt is set. */
  | 'fire'
  /** Nobody works on it: a firing message is wanted, and repeats. */
  | 'notify'
  /** It ended for everybody: resolvedAt and the reason are set. */
  | 'close'
  /** Channels that had its firing message get a recovery message. */
  | 'recover';

/** Where a move leads. */
export interface AlertStep {
  readonly to: AlertState;
  readonly does: readonly AlertEffect[];
}

const stay = (to: AlertState, ...does: readonly AlertEffect[]): AlertStep => ({ to, does });
const ended = stay('resolved', 'close');
const recovered = stay('resolved', 'close', 'recover');
/** The operator has closed it already, with its recovery message. */
const left = stay('resolved');

/** Every state and move; null where the move is refused. */
export const alertTable: Readonly<
  Record<AlertState, Readonly<Record<AlertMove, AlertStep | null>>>
> = {
  pending: {
    ...{ match: stay('pending'), due: stay('firing', 'fire', 'notify'), clear: ended },
    ...{ ack: stay('pending_acked'), resolve: stay('closed_pending', 'close'), persist: null },
    ...{ rule_changed: ended, rule_disabled: ended, rule_deleted: ended },
  },
  pending_acked: {
    ...{ match: stay('pending_acked'), due: stay('acked', 'fire'), clear: ended },
    ...{ ack: null, resolve: stay('closed_pending', 'close'), persist: null },
    ...{ rule_changed: ended, rule_disabled: ended, rule_deleted: ended },
  },
  firing: {
    ...{ match: stay('firing', 'notify'), due: stay('firing', 'notify'), clear: recovered },
    ...{ ack: stay('acked'), resolve: stay('closed', 'close', 'recover'), persist: null },
    ...{ rule_changed: recovered, rule_disabled: recovered, rule_deleted: recovered },
  },
  acked: {
    ...{ match: stay('acked'), due: stay('acked'), clear: recovered },
    ...{ ack: null, resolve: stay('closed', 'close', 'recover'), persist: null },
    ...{ rule_changed: recovered, rule_disabled: recovered, rule_deleted: recovered },
  },
  closed_pending: {
    ...{ match: stay('closed_pending'), due: stay('closed'), clear: left },
    ...{ ack: null, resolve: null, persist: left },
    ...{ rule_changed: left, rule_disabled: left, rule_deleted: left },
  },
  closed: {
    ...{ match: stay('closed'), due: stay('closed'), clear: left },
    ...{ ack: null, resolve: null, persist: left },
    ...{ rule_changed: left, rule_disabled: left, rule_deleted: left },
  },
  resolved: {
    ...{ match: null, due: null, clear: null, ack: null, resolve: null, persist: null },
    ...{ rule_changed: null, rule_disabled: null, rule_deleted: null },
  },
};

const shown: Readonly<
  Record<AlertState, readonly [AlertStatusJson, 'pending' | 'firing' | 'cleared']>
> = {
  pending: ['ALERT_STATUS_OPEN', 'pending'],
  pending_acked: ['ALERT_STATUS_ACKED', 'pending'],
  firing: ['ALERT_STATUS_OPEN', 'firing'],
  acked: ['ALERT_STATUS_ACKED', 'firing'],
  closed_pending: ['ALERT_STATUS_RESOLVED', 'pending'],
  closed: ['ALERT_STATUS_RESOLVED', 'firing'],
  resolved: ['ALERT_STATUS_RESOLVED', 'cleared'],
};

/** The state as the API shows it. */
export function shownState(state: AlertState): {
  readonly status: AlertStatusJson;
  readonly evaluationState: 'pending' | 'firing' | 'cleared';
} {
  const [status, evaluationState] = shown[state];
  return { status, evaluationState };
}

/** Whether an alert is open or acknowledged. */
export function isActive(state: AlertState): boolean {
  return shown[state][0] !== 'ALERT_STATUS_RESOLVED';
}

/** Whether the evaluation still has to do with an alert. */
export function isLive(state: AlertState): boolean {
  return state !== 'resolved';
}
