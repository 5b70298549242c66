/** The records in which rules, alerts, channels, silences and their messages are kept. */

import type {
  AlertChannelKindJson,
  AlertNotificationJson,
  AlertSeverityJson,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import type { AlertEvent, AlertState, ClosedReason } from './alert-states.ts';
import type { ResourceBase } from '../records.ts';

/** A rule as it is kept. */
export interface AlertRuleRecord extends ResourceBase {
  readonly name: string;
  readonly enabled: boolean;
  readonly severity: AlertSeverityJson;
  /** Checked, with every standard value stated. */
  readonly expression: string;
  readonly channelIds: readonly string[];
  readonly notification?: AlertNotificationJson;
}

/** An alert as it is kept; ids sort by the order of opening. */
export interface AlertRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly ruleId: string;
  readonly ruleName: string;
  readonly kind: string;
  /** Its subject among those of the rule: a site, a node, a certificate; one live alert a key. */
  readonly key: string;
  readonly siteId: string;
  readonly agentId: string;
  /** What it is about, for people. */
  readonly subject: string;
  readonly severity: AlertSeverityJson;
  readonly state: AlertState;
  readonly payload: Readonly<Record<string, unknown>>;
  /** RFC 3339, as all times here; '' for not yet. */
  readonly openedAt: string;
  readonly firingAt: string;
  readonly ackedAt: string;
  readonly resolvedAt: string;
  readonly lastMatchedAt: string;
  readonly closedReason: ClosedReason | '';
  /** When the last message about it was decided on; '' for none, also while it was silenced. */
  readonly notifiedAt: string;
  /** The silence that kept it quiet last; its timeline names it once. */
  readonly silencedBy: string;
  /** Notes on its timeline. */
  readonly notes: number;
}

/** One entry of a timeline; ids of an alert sort by time. */
export interface AlertNoteRecord {
  readonly id: string;
  readonly alertId: string;
  readonly kind: 'ack' | 'resolve' | 'system';
  readonly body: string;
  /** '' for the service itself. */
  readonly actorUserId: string;
  readonly createdAt: string;
}

/** A channel as it is kept; what is secret in it lies in a record of its own. */
export interface AlertChannelRecord extends ResourceBase {
  readonly name: string;
  readonly kind: AlertChannelKindJson;
  readonly enabled: boolean;
  /** Secrets stand as `configured`. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Secrets of a channel by their path in its configuration; never leaves control but to send. */
export interface AlertChannelSecretRecord {
  readonly id: string;
  readonly secrets: Readonly<Record<string, string>>;
}

/** How sending through a channel went. The id is the channel's. */
export interface AlertChannelStateRecord {
  readonly id: string;
  readonly sent: number;
  readonly failed: number;
  /** Attempts after which another one follows; absent before the first. */
  readonly retried?: number;
  /** Attempts that failed since the last success. */
  readonly failuresInRow: number;
  readonly lastSuccessAt: string;
  readonly lastFailureAt: string;
  /** In our words; '' after a success. */
  readonly lastError: string;
}

/** A silence as it is kept. */
export interface AlertSilenceRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly matchers: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly createdBy: string;
  readonly reason: string;
  readonly createdAt: string;
}

/** A text in one language. */
export interface AlertText {
  readonly title: string;
  readonly message: string;
  readonly markdown: string;
}

/** What a message tells of its alert; it no longer changes once the message is decided on. */
export interface AlertFacts {
  readonly id: string;
  readonly ruleId: string;
  readonly siteId: string;
  readonly agentId: string;
  readonly severity: string;
  readonly status: string;
  readonly kind: string;
  readonly title: string;
  readonly message: string;
  readonly openedAt: string;
  readonly resolvedAt: string;
}

/** One message to one channel; ids sort by the order in which they were decided on. */
export interface AlertDeliveryRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly alertId: string;
  readonly channelId: string;
  readonly event: AlertEvent;
  readonly text: AlertText;
  readonly alert: AlertFacts;
  readonly state: 'waiting' | 'sent' | 'failed';
  readonly attempts: number;
  readonly createdAt: string;
  /** Not before this time, RFC 3339. */
  readonly dueAt: string;
  /** Why the last attempt failed, in our words. */
  readonly error: string;
}

/** How far rules were evaluated: one record. */
export interface AlertProgressRecord {
  readonly id: string;
  readonly evaluatedToMs: number;
  /** Number of the last change of the counts that was evaluated. */
  readonly countsSeen: number;
}

/** Id of the one record of progress. */
export const alertProgressId = 'progress';
