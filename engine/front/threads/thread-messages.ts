/** The messages between the main thread and its front threads; structured-cloneable data. */

import type { ShadowDelta } from '../../contract/shadow.ts';
import type { ApiCountDelta, EndpointDelta } from '../../contract/api-counts.ts';
import type { LearningDelta } from '../../contract/api-learning.ts';
import type { ClientsDelta } from '../../contract/detection-content.ts';
import type { FactFault } from '../../contract/fact-fault.ts';
import type { UseAnswer } from '../../contract/bot.ts';
import type { CounterDelta, RankingDelta } from '../../contract/counters.ts';
import type { SharedImages } from '../../contract/shared-images.ts';
import type { OriginNote } from '../../contract/health.ts';
import type { ListenerKind } from '../../../base/listener.ts';
import type { OverloadStatus } from '../../contract/overload.ts';
import type { TallyPlace } from '../../contract/run-tally.ts';
import type { RoutesConfig } from '../../contract/site.ts';
import type { ClientNotes } from '../../contract/trust.ts';
import type { UnhealthyAddresses } from '../../upstream/upstream.ts';
import type { EventBatch } from '../facts/event-wire.ts';
import type { EvidenceBatch } from '../facts/evidence-wire.ts';
import type { SharedQuota } from '../facts/exemplar-quota.ts';
import type { FrontSettings } from '../front-context.ts';
import type { ListenAddress } from '../listener.ts';
import type { FrontAnswer, FrontQuestion } from './thread-questions.ts';

/**
 * What a front thread starts with; `extra` is for the thread's own composition. Routes come as a
 * message: what stands here is never freed.
 */
export interface FrontThreadData {
  /** With `fd`: an inherited socket, of which the thread takes a descriptor of its own. */
  readonly listen: ListenAddress;
  /** As `listen`, for clients that speak TLS; null for none. */
  readonly listenSecure: ListenAddress | null;
  readonly settings: Partial<FrontSettings>;
  readonly listener: ListenerKind;
  /** Front threads of the process. */
  readonly threads: number;
  readonly extra: unknown;
  /** Where it counts beside its counters; null for nowhere. */
  readonly tally: TallyPlace | null;
  /** Where the threads of a node count the examples that they keep. */
  readonly quota: SharedQuota;
}

/** From the main thread. */
export type ToFrontThread =
  | { readonly kind: 'routes'; readonly id: number; readonly routes: RoutesConfig }
  | { readonly kind: 'events_taken' }
  | { readonly kind: 'evidence_taken' }
  | { readonly kind: 'databases'; readonly groups: SharedImages }
  | { readonly kind: 'health'; readonly unhealthy: UnhealthyAddresses }
  | { readonly kind: 'failing'; readonly failing: UnhealthyAddresses }
  | { readonly kind: 'sample'; readonly siteId: string; readonly count: number }
  | { readonly kind: 'ticket_keys'; readonly keys: Uint8Array }
  | {
      readonly kind: 'acme';
      /** Answered with `applied`. */
      readonly id: number;
      readonly token: string;
      readonly keyAuthorization: string | null;
    }
  | { readonly kind: 'question'; readonly id: number; readonly question: FrontQuestion }
  | { readonly kind: 'used'; readonly id: number; readonly answer: UseAnswer }
  | { readonly kind: 'drain' };

/** Uses a challenge up at all nodes; answered with `used`. */
export interface UseQuestion {
  readonly kind: 'use';
  readonly id: number;
  readonly challenge: string;
  readonly seconds: number;
}

/** From a front thread. */
export type FromFrontThread =
  | { readonly kind: 'listening'; readonly port: number; readonly securePort: number }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly code: string;
      readonly message: string;
    }
  | { readonly kind: 'applied'; readonly id: number }
  | { readonly kind: 'released'; readonly revision: string }
  | { readonly kind: 'events'; readonly batch: EventBatch }
  | { readonly kind: 'evidence'; readonly batch: EvidenceBatch }
  | { readonly kind: 'counters'; readonly deltas: readonly CounterDelta[] }
  | { readonly kind: 'rankings'; readonly deltas: readonly RankingDelta[] }
  | { readonly kind: 'endpoints'; readonly deltas: readonly EndpointDelta[] }
  | { readonly kind: 'learning'; readonly deltas: readonly LearningDelta[] }
  | { readonly kind: 'clients'; readonly deltas: readonly ClientsDelta[] }
  | { readonly kind: 'shadows'; readonly deltas: readonly ShadowDelta[] }
  | { readonly kind: 'api_counts'; readonly deltas: readonly ApiCountDelta[] }
  | { readonly kind: 'connections'; readonly count: number }
  | { readonly kind: 'overload'; readonly status: OverloadStatus }
  | { readonly kind: 'client_notes'; readonly notes: ClientNotes }
  | { readonly kind: 'origins'; readonly notes: readonly OriginNote[] }
  | { readonly kind: 'fact_faults'; readonly faults: readonly FactFault[] }
  | { readonly kind: 'answer'; readonly answer: FrontAnswer }
  | UseQuestion
  | { readonly kind: 'drained' };

/** `id` of the routes a thread starts with; it listens once it can serve them. */
export const FIRST_ROUTES = 0;
