/** What a site's rate limits say, as the runtime bundle carries them; plain data. */

import type { ChallengeSettings } from './bot.ts';

/** What requests are counted by. */
export type RateKey =
  | { readonly kind: 'ip' }
  | { readonly kind: 'session' }
  /** `name` in lower case. */
  | { readonly kind: 'header'; readonly name: string };

/** Requests that are let through in any span of time of this length. */
export interface RateBudget {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** One limit, resolved for a site. */
export interface RateLimitConfig {
  readonly id: string;
  /** UTF-8, as the operator wrote it; stars stand for parts of it. */
  readonly pathPattern: string;
  /** In upper case; none for all. */
  readonly methods: readonly string[];
  readonly action: 'block' | 'ban' | 'challenge';
  /** Count and record only. */
  readonly observe: boolean;
  readonly key: RateKey;
  readonly budget: RateBudget;
  /** Of clients that solved a challenge; equal to `budget` without. */
  readonly verifiedBudget: RateBudget;
  /** How long the action lasts after the limit was passed; 0: as long as it is. */
  readonly mitigationSeconds: number;
  /** For action `challenge`. */
  readonly challenge?: ChallengeSettings;
  /** A ban holds on all sites. */
  readonly banGlobally: boolean;
}

/** The limits of a site, in order. */
export interface RateLimits {
  readonly limits: readonly RateLimitConfig[];
  /** Keys by which bans of any site hold on all of them. */
  readonly globalBans: readonly RateKey[];
}

/** Counts that survive a restart: rows of a fixed number of sets. */
export interface SavedSets {
  /** Sets that changed since the last call; at most `most` of them. */
  takeChanged(most: number): number[];
  /** The rows of a set that still count; empty for none. */
  readSet(set: number, nowMs: number): Uint8Array;
  /** Takes over rows that were read before; false when they do not fit. */
  restoreSet(set: number, rows: Uint8Array, nowMs: number): boolean;
}

/** Hash of a key under which requests are counted. */
export interface KeyHash {
  readonly low: number;
  readonly high: number;
}

/** What a thread noted of a key: that a request was counted, or until when it is turned away. */
export type RateNote =
  | {
      readonly kind: 'count';
      readonly key: KeyHash;
      readonly windowSeconds: number;
      readonly atMs: number;
    }
  | { readonly kind: 'hold'; readonly key: KeyHash; readonly untilS: number };

/** Counts that nodes tell each other. */
export interface SharedCounts {
  /** What this node counted since the last call, at most `most` notes, and notes that were lost. */
  takeNotes(most: number, nowMs: number): { readonly notes: RateNote[]; readonly lost: number };
  /** Adds requests that other nodes counted in the span of this number. */
  addOthers(key: KeyHash, windowSeconds: number, span: number, count: number, nowMs: number): void;
  /** Turns a key away as another node does; never for less long than it is turned away here. */
  holdAsOthers(key: KeyHash, untilS: number, nowMs: number): void;
}

/** Where Redis is and how one signs in. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** '' for the default user. */
  readonly user: string;
  readonly password: string;
  readonly database: number;
}
