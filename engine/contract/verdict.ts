/** What inspection hands back: verdicts, matched rules and the record of a transaction. */

import type { ProcessorReading } from '../../base/body-family.ts';
import type { ValueSigns } from './detection-content.ts';

/** What is to become of a request. */
export type VerdictAction = 'pass' | 'block' | 'drop' | 'redirect';

/** What the front must do after a phase; `pass` means: continue. */
export interface Verdict {
  readonly action: VerdictAction;
  /** Response status for `block` and `redirect`; 0 for `pass` and `drop`. */
  readonly status: number;
  /** Target of a redirect. */
  readonly location?: string;
  /** The rule whose disruptive action decided; 0 when none did. */
  readonly ruleId: number;
  /** Phase in which it was decided, 1..5; 0 for `pass`. */
  readonly phase: number;
}

/** Continue. One shared object, because nearly every phase ends so. */
export const passVerdict: Verdict = { action: 'pass', status: 0, ruleId: 0, phase: 0 };

/** What the session needs of the request body after the head was inspected. */
export interface BodyNeed {
  /** False: forward without waiting. */
  readonly inspect: boolean;
  /** Bytes held for inspection. */
  readonly limitBytes: number;
  /** What happens past the limit: refuse with 413, or inspect the prefix and forward the rest. */
  readonly onExcess: 'reject' | 'prefix';
  /** What the rules read the body as, whoever chose it; absent where they look at none. */
  readonly readAs?: ProcessorReading;
  /** What is inspected after `limitBytes`, in windows; absent where longer bodies are refused. */
  readonly rest?: BodyRestNeed;
}

/** What the rules need of a body after the part that is held. */
export interface BodyRestNeed {
  /** True: verdicts on it are enforced. False: what matches is recorded. */
  readonly acts: boolean;
  /** Bytes of the body that are inspected in all, the held ones among them. */
  readonly limitBytes: number;
  /** Set for multipart bodies: what follows is read on in place of windows. */
  readonly files?: FilesNeed;
  /** Set for bodies of gRPC that are read as messages, as they stand or in base64. */
  readonly grpc?: 'binary' | 'base64';
}

/** How a long multipart body is inspected while the content of its files flows. */
export interface FilesNeed {
  /** Byte string; empty where readers may find different ones. */
  readonly boundary: string;
  /** Bytes that are kept of the body: all fields, and the beginnings of files. */
  readonly keptBytesMax: number;
  /** True: a body over `limitBytes` is refused. False: the rest is counted. */
  readonly refuses: boolean;
  /** True: past `keptBytesMax` the rest is counted. False: the body is refused. */
  readonly stops: boolean;
  /** Bytes of the body that all rules inspect; past them limits of uploads alone count. */
  readonly inspectedBytes: number;
}

/** A value that a rule matched, with its name. */
export interface MatchedVariable {
  /** For example `ARGS:q` (byte string). */
  readonly name: string;
  readonly value: string;
}

/** One rule (with its whole chain) that matched and is to be logged. */
export interface MatchedRule {
  readonly ruleId: number;
  readonly phase: number;
  readonly message: string;
  readonly data: string;
  /** 0 EMERGENCY .. 7 DEBUG; -1 when the rule states none. */
  readonly severity: number;
  readonly tags: readonly string[];
  readonly operator: string;
  readonly matched: readonly MatchedVariable[];
  readonly disruptive: boolean;
  /** Where the rule stands. */
  readonly file: string;
  readonly line: number;
  readonly rev: string;
  readonly ver: string;
  readonly maturity: number;
  readonly accuracy: number;
  /** The action list asked for the error log (`log`), and for the audit log (`auditlog`). */
  readonly log: boolean;
  readonly auditLog: boolean;
  /** What it added to the anomaly scores; absent for nothing. */
  readonly score?: number;
  /**
   * Where in the body the window begins in which it matched; absent for matches in the part that
   * is inspected as a whole, and in the head.
   */
  readonly bodyOffset?: number;
}

/** Why inspection failed; events and counters name it so. */
export type InspectionFailure =
  /** It took longer than it may, waiting included. */
  | 'deadline'
  /** The pool's queue is full. */
  | 'queue'
  /** The pool thread died, with the state of the request. */
  | 'worker'
  /** Hyperscan returned an error. */
  | 'native'
  /** A bound of memory was reached. */
  | 'memory'
  /** The node is overloaded and inspected other requests: see `contract/overload.ts`. */
  | 'overload'
  /** The site's policy does not serve: it compiles for the first time, or does not compile. */
  | 'policy'
  /** Our own mistake. */
  | 'internal';

/** What remains of a transaction when it ended; plain data. */
export interface TransactionRecord {
  /** What decided; with `detectionOnly` what would have, had the engine acted. */
  readonly verdict: Verdict;
  readonly matchedRules: readonly MatchedRule[];
  /** Logged matches that are not among them, because events came faster than they were taken. */
  readonly matchesLeftOut?: number;
  readonly inboundScore: number;
  readonly outboundScore: number;
  /** True when the engine was in detection-only mode and would have acted otherwise. */
  readonly detectionOnly: boolean;
  /** Inspection time over all phases, microseconds. */
  readonly inspectionUs: number;
  /** Names of values that no record may show (`args:password`), if sanitise actions gave some. */
  readonly hidden?: readonly string[];
  /** Limits of inspection that the request reached, if any (`cookies`, `arguments`). */
  readonly limitsReached?: readonly string[];
  /** Bytes of the body after the last one that was inspected; absent for none. */
  readonly uninspectedBytes?: number;
  /** Rules whose patterns ran into a PCRE2 limit: these searches found nothing. Absent for none. */
  readonly pcreLimitedRules?: readonly number[];
  /** Values of password-like fields, if rules matched; events must not show them. */
  readonly secrets?: readonly string[];
  /** Values that show signs, none of which proves an attack, where the score is recorded. */
  readonly valueSigns?: readonly ValueSigns[];
  /** Set when inspection failed and the fail policy decided. */
  readonly failure?: InspectionFailure;
}

/** True when something of the request was not inspected as the rules ask. */
export function isIncomplete({
  failure,
  pcreLimitedRules,
  limitsReached,
}: TransactionRecord): boolean {
  return failure !== undefined || pcreLimitedRules !== undefined || limitsReached !== undefined;
}
