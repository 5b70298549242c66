/** What control may ask the engine beside traffic: to compile a policy, to try a request. */

import type { SiteAnswerName } from './answer-order.ts';
import type { GuardTraceEntry } from './guard.ts';
import type { FirstPage, ProbedAddress } from './health.ts';
import type { PolicySource } from './policy.ts';
import type { UpstreamConfig } from './site.ts';
import type { ClientIpFinding, ClientSample, SpoofNote, TrustConfig } from './trust.ts';
import type { InspectionFailure, TransactionRecord } from './verdict.ts';

/** A remark on one place of a policy's files. */
export interface PolicyDiagnostic {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
}

/** What is done beside compiling. */
export interface CompileOptions {
  /** Make the databases and keep them on disk, for a quick start later. */
  readonly plan: boolean;
  /** Build the patterns of the rule set on trial, too: it is new here. */
  readonly tryRuleset: boolean;
}

/** What compiling a policy found. */
export interface CompileOutcome {
  readonly ok: boolean;
  readonly diagnostics: readonly PolicyDiagnostic[];
  readonly ruleCount: number;
}

/** One request to try. */
export interface EvaluationInput {
  readonly siteId: string;
  /** Request line and fields as on the wire, with the empty line at the end. */
  readonly head: Uint8Array;
  /** Body without transfer coding; empty for none. */
  readonly body: Uint8Array;
  readonly clientIp: string;
  readonly peerIp: string;
}

/** What a site answers in place of its origin. */
export interface SiteAnswered {
  /** `unrouted`: no origin is set for the path. */
  readonly name: SiteAnswerName | 'unrouted';
  readonly status: number;
  /** '' for none. */
  readonly location: string;
}

/** What trying a request gave. */
export interface EvaluationOutcome {
  /** Null when the policy did not compile or the head was refused. */
  readonly record: TransactionRecord | null;
  readonly diagnostics: readonly PolicyDiagnostic[];
  /** Code with which the front or a guard would refuse the request; empty otherwise. */
  readonly refusal: string;
  /** Status of that refusal; 0 when the connection is closed without an answer. */
  readonly refusalStatus: number;
  /** What each guard of the site saw and decided, in order. */
  readonly guards: readonly GuardTraceEntry[];
  /** Null where the site leaves the answer to its origin. */
  readonly siteAnswer: SiteAnswered | null;
  /** Why inspection failed; absent when it did not. */
  readonly failure?: InspectionFailure;
}

/** What trying several requests gave. */
export interface BatchOutcome {
  /** One a request, in their order; none when the policy did not compile. */
  readonly outcomes: readonly EvaluationOutcome[];
  readonly diagnostics: readonly PolicyDiagnostic[];
}

/** What an engine serves. */
export interface EngineStatus {
  /** Revision that serves; '0' when nothing does. */
  readonly revision: string;
  readonly sha256: string;
  readonly version: string;
  readonly uptimeMs: number;
  /** Versions of the libraries that it runs with, by name. */
  readonly libraries: Readonly<Record<string, string>>;
}

/** What the composition root supplies to answer control. */
export interface EngineHandler {
  /**
   * Also builds the operator's own patterns, in a bounded time; what cannot be built is an error.
   * Errors: AppError resource_exhausted while too many of these calls wait.
   */
  compile(policy: PolicySource, options: CompileOptions): Promise<CompileOutcome>;
  evaluate(policy: PolicySource, input: EvaluationInput): Promise<EvaluationOutcome>;
  /** Rules only, guards are not asked; other work gets its turn between two requests. */
  evaluateBatch(policy: PolicySource, inputs: readonly EvaluationInput[]): Promise<BatchOutcome>;
  status(): EngineStatus;
  /** Whose address a request has; header names in lower case. */
  explainTrust(
    config: TrustConfig,
    peer: string,
    headers: Readonly<Record<string, string>>,
  ): ClientIpFinding;
  /** Begins (`count` > 0) or ends sampling the clients of a site; returns what it has. */
  sampleClients(siteId: string, count: number, end: boolean): ClientSamples;
  /** Asks every address of a pool once, whether any site uses it or not. */
  probeUpstream(upstream: UpstreamConfig): Promise<readonly ProbedAddress[]>;
  /** The page that an origin has under `/`; null where none comes soon. */
  readFirstPage(upstream: UpstreamConfig, host: string): Promise<FirstPage | null>;
  /** Forged address headers of the last hour, oldest first. */
  spoofNotes(): readonly SpoofNote[];
}

/** Samples of the clients of a site. */
export interface ClientSamples {
  readonly samples: readonly ClientSample[];
  readonly active: boolean;
}

/** The calls about clients that the front answers. */
export type ClientAnswers = Pick<EngineHandler, 'sampleClients' | 'spoofNotes'>;
