/** What conditions of alerts look at, and what they find there. Plain data. */

/** Security events that agree in all of this. */
export interface EventCount {
  readonly siteId: string;
  readonly agentId: string;
  readonly blocked: boolean;
  /** One of `eventSeverities`; '' for none. */
  readonly severity: string;
  readonly attackTypes: readonly string[];
  readonly ruleIds: readonly string[];
  /** Not all of their rules or families of attacks are known: there were too many of them. */
  readonly limited: boolean;
  readonly count: number;
}

/** Counts of one step of time. */
export interface CountStep {
  readonly atMs: number;
  readonly counts: readonly EventCount[];
}

/** One thing for which a condition holds. */
export interface AlertMatch {
  readonly key: string;
  readonly siteId: string;
  readonly agentId: string;
  /** What it is, for people. */
  readonly subject: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What a condition finds. Of keys in `unknown` nothing is known now: their alerts stay. */
export interface AlertFinding {
  readonly matches: readonly AlertMatch[];
  readonly unknown: (key: string) => boolean;
}

/** A node as alerts see it. */
export interface NodeFact {
  readonly id: string;
  readonly name: string;
  /** Null while nothing can be known: control has only just started. */
  readonly online: boolean | null;
  readonly lastSeenAt: string;
  /** Whether it serves the latest configuration; null where nothing was published. */
  readonly current: boolean | null;
  /** Why it refused the latest configuration it answered to; '' when it did not. */
  readonly applyError: string;
  readonly applyFailed: boolean;
  readonly revision: string;
}

/** A certificate as alerts see it. */
export interface CertificateFact {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly endsAtMs: number;
  readonly siteIds: readonly string[];
}

/** An origin address on a node. */
export interface OriginFact {
  readonly nodeId: string;
  readonly upstreamId: string;
  /** Sites that ask it. */
  readonly siteIds: readonly string[];
  readonly owner: string;
  readonly endpoint: string;
  /** Null where its reports are too old to tell. */
  readonly healthy: boolean | null;
  readonly error: string;
}

/** What is known at one moment. */
export interface AlertFactSet {
  readonly nodes: readonly NodeFact[];
  readonly certificates: readonly CertificateFact[];
  readonly origins: readonly OriginFact[];
  readonly storage: {
    readonly status: 'unknown' | 'healthy' | 'warning' | 'critical';
    readonly availableBytes: string;
    readonly estimatedRemainingSeconds: string;
  };
  /** Names of sites and nodes by id. */
  readonly names: ReadonlyMap<string, string>;
  /** Steps of counts, oldest first. */
  readonly counts: readonly CountStep[];
  /** Windows that end after this time are looked at; those before were looked at earlier. */
  readonly countsFromMs: number;
  readonly nowMs: number;
}
