/** Owns the messages between the engine's main thread and its front threads. Plain data. */

import type { CounterDelta } from './ops/counters.ts';
import type { RequestEvent } from './contract/events.ts';
import type { PolicySource } from './contract/policy.ts';
import type { RoutesConfig } from './contract/site.ts';
import type { InspectionPlace } from './pool/dispatch.ts';

/** A policy with the name under which threads share it: equal keys mean equal text and files. */
export interface KeyedPolicy {
  readonly key: string;
  readonly source: PolicySource;
}

/** One generation as threads get it; policies they hold already are known by key alone. */
export interface GenerationMessage {
  readonly sha256: string;
  readonly routes: RoutesConfig;
  readonly policies: readonly KeyedPolicy[];
  /** Policy key by site id. */
  readonly keyOfSite: ReadonlyMap<string, string>;
}

/** What a front thread is started with. */
export interface ThreadSettings {
  readonly host: string;
  readonly port: number;
  readonly listener: 'strict' | 'uws';
  readonly place: InspectionPlace;
  readonly poolThreads: number;
  readonly cacheFolder: string;
  readonly stateFolder: string;
  /** Report every finished request, not only those with something to tell. */
  readonly allEvents: boolean;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

export type ToThread =
  | { readonly type: 'listen'; readonly port: number }
  | { readonly type: 'apply'; readonly id: number; readonly generation: GenerationMessage }
  | { readonly type: 'drain'; readonly deadlineMs: number };

export type FromThread =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'applied'; readonly id: number; readonly error: string | null }
  | { readonly type: 'released'; readonly sha256: string }
  | {
      readonly type: 'observed';
      readonly events: readonly RequestEvent[];
      readonly counters: CounterDelta | null;
      /** Events not kept because the buffer was full. */
      readonly dropped: number;
    }
  | { readonly type: 'drained' }
  | { readonly type: 'failed'; readonly code: string; readonly message: string };
