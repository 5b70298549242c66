/** What is kept of requests beside counts: the log policy as the traffic path runs on it. */

/** How many details are kept: none, some of each kind in a window, all. */
export type DetailMode = 'none' | 'exemplars' | 'all';

/** The log policy of a site. */
export interface LogSettings {
  readonly accessMode: DetailMode;
  readonly securityMode: DetailMode;
  /** A request with a security event is kept as an access event, too, unless none are. */
  readonly pairing: boolean;
  /** Requests kept in a window: of each status, of each method with path, of each first rule. */
  readonly statusK: number;
  readonly apiK: number;
  readonly securityK: number;
  readonly windowMs: number;
  /** What is kept of requests themselves; null for nothing. */
  readonly evidence: EvidenceSettings | null;
}

/** What is kept of requests themselves, beside their events. */
export interface EvidenceSettings {
  /** Requests with a security event, or all that are kept as an event. */
  readonly mode: 'security' | 'retained';
  readonly headerBytesMax: number;
  readonly body: 'none' | 'prefix' | 'whole';
  /** Of the beginning of a body. */
  readonly bodyBytesMax: number;
  /** Bytes held for requests that still run, all threads together. */
  readonly inflightBytesMax: number;
  /** Bytes of finished evidence that waits for control. */
  readonly queueBytesMax: number;
}

/** The log policies of one generation. */
export interface LoggingConfig {
  /** Revision of the global policy. */
  readonly revision: number;
  readonly standard: LogSettings;
  /** Sites with a policy of their own. */
  readonly sites: ReadonlyMap<string, LogSettings>;
  /** Every request is handed on, whatever the policies keep: other systems want all of them. */
  readonly exportAccess: boolean;
  /** Evidence holds bodies of answers, as far as it holds bodies: other systems want them. */
  readonly exportAnswerBodies: boolean;
  /** Traces; absent or null: requests are in none of ours. */
  readonly tracing?: TracingSettings | null;
}

/** Which requests are sampled for traces. */
export interface TracingSettings {
  /** Share of requests whose client decides nothing, 0 to 1. */
  readonly ratio: number;
  /** The `sampled` flag of clients that a trust profile proves decides for them. */
  readonly parents: boolean;
  /** Sampled requests of one second, all threads of a node together. */
  readonly perSecond: number;
}

/** Without a policy: every security event whole, access events by example. */
export const standardLogSettings: LogSettings = {
  accessMode: 'exemplars',
  securityMode: 'all',
  pairing: true,
  statusK: 10,
  apiK: 10,
  securityK: 10,
  windowMs: 60_000,
  evidence: {
    mode: 'security',
    headerBytesMax: 16 * 1024,
    body: 'none',
    bodyBytesMax: 64 * 1024,
    inflightBytesMax: 64 * 1024 * 1024,
    queueBytesMax: 256 * 1024 * 1024,
  },
};

/** The policies of a generation that brings none. */
export const standardLogging: LoggingConfig = {
  revision: 0,
  standard: standardLogSettings,
  sites: new Map(),
  exportAccess: false,
  exportAnswerBodies: false,
};

/** Why a request is kept as an access event, in the order of their bits. */
export const captureReasons = ['all', 'status', 'api', 'security'] as const;
/** The bit of a request that is handed on and, by this bit alone, not kept. */
export const exportBit = 16;

/** What the log policy decided of one request. */
export interface EventSelection {
  /** Bits of `captureReasons`, and `exportBit`; 0: no access event. */
  readonly access: number;
  /** The security event keeps values and texts of its matches. */
  readonly securityDetail: boolean;
  /** Start of the window, milliseconds since the Unix epoch; 0 without sampling. */
  readonly windowMs: number;
  /** Of the requests of a window and kind, those with the highest scores are the sample. */
  readonly score: number;
  /** Revision of the policy. */
  readonly revision: number;
}
