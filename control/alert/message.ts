/** What a channel sends: one message about one alert. Plain data. */

import type { AlertFacts, AlertText } from '../domain/alert/alert-records.ts';
import type { AlertEvent } from '../domain/alert/alert-states.ts';
import type { SendBounds } from './post.ts';

/** One message on its way. */
export interface OutgoingMessage {
  /** The same in every attempt: receivers can tell that they have it. */
  readonly id: string;
  readonly event: AlertEvent | 'test';
  readonly text: AlertText;
  readonly alert: AlertFacts;
  readonly nowMs: number;
}

/** What a driver works with. */
export interface SendContext {
  /** The configuration with its secrets. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly bounds: SendBounds;
  /** Where PagerDuty takes events. */
  readonly pagerDutyUrl: string;
}

/** Sends a message through a channel of its kind. Errors: SendError. */
export type SendMessage = (message: OutgoingMessage, context: SendContext) => Promise<void>;

/** A text of a configuration. */
export function textOf(config: SendContext['config'], name: string): string {
  const value = config[name];
  return typeof value === 'string' ? value : '';
}
