/** What a guard decides about a request before the rules inspect it; plain data. */

import { askedGuards } from './answer-order.ts';
import type { ResponseScenario } from './site.ts';

/** The guards, by the names that events and counters use, in the order in which they decide. */
export const guardNames = [...askedGuards, 'resource', 'virtual_patch', 'schema'] as const;
/** One of them. */
export type GuardName = (typeof guardNames)[number];

/**
 * What a guard does: `deny`, `challenge` and `redirect` answer, `drop` closes without an answer;
 * `bypass` skips what `skips` names; `monitor` only records.
 */
export type GuardAction = 'deny' | 'challenge' | 'redirect' | 'drop' | 'bypass' | 'monitor';

/** What a bypass may skip: later guards, and the inspection by rules. */
export type GuardSkip = GuardName | 'waf';

/** All that comes after a guard: what a bypass of all inspection skips. Users are asked anyway. */
export function allAfter(name: GuardName): readonly GuardSkip[] {
  const after = guardNames.slice(guardNames.indexOf(name) + 1);
  return [...after.filter((one) => one !== 'auth'), 'waf'];
}

/** A page of a guard's own, for example a challenge, in place of the scenario's page. */
export interface GuardPage {
  readonly contentType: string;
  readonly body: Buffer;
}

/** The part of an API document that a request broke; never a value of the request. */
export interface SchemaFinding {
  readonly contractId: string;
  readonly operationKey: string;
  /** Part of the request. */
  readonly location: string;
  /** Keyword of the schema, or a code such as `required`. */
  readonly keyword: string;
  /** JSON pointer into the document. */
  readonly pointer: string;
}

/** The decision of one guard. */
export interface GuardVerdict {
  readonly guard: GuardName;
  readonly action: GuardAction;
  /** Stable code, for example `ip_deny`; events, counters and answers name it. */
  readonly reason: string;
  /** The binding, rule or limit that decided; '' for none. */
  readonly ruleId: string;
  /** What the guard saw, for people; '' for nothing. Never a secret. */
  readonly detail: string;
  /** Status of an answer; 0 otherwise. The operator's wording may replace 403. */
  readonly status: number;
  /** Whose wording the answer has; null for the plain text of its status. */
  readonly scenario: ResponseScenario | null;
  /** What the same guard only recorded before, in order. */
  readonly earlier?: readonly GuardVerdict[];
  /** For `bypass`: what is skipped. */
  readonly skips?: readonly GuardSkip[];
  /** For `redirect`: a byte string. */
  readonly location?: string;
  /** Retry-After of the answer, seconds. */
  readonly retryAfterS?: number;
  /** Further fields of the answer; names and values are what HTTP can carry. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly page?: GuardPage;
  /** The client is a program: the answer names the reason in JSON and is never a page. */
  readonly forProgram?: boolean;
  /** Of `schema_violation`. */
  readonly finding?: SchemaFinding;
  /**
   * What it comes to once it is known, in place of this verdict; for verdicts that answer. Null
   * or a bypass lets the request continue: only the last guard may do that. Never rejects.
   */
  readonly later?: Promise<GuardVerdict | null>;
  /** Of a bypass that came later: header lines for the origin, with their ends; byte string. */
  readonly originLines?: string;
}

/** What an event keeps of a verdict. */
export interface GuardNote {
  readonly guard: GuardName;
  readonly action: GuardAction;
  readonly reason: string;
  readonly ruleId: string;
  readonly detail: string;
  /** What was skipped. */
  readonly skipped: readonly GuardSkip[];
  /** Of `schema_violation`. */
  readonly finding?: SchemaFinding;
}

/** What a guard saw and decided, for people who ask why; see `GuardChain.walk`. */
export interface GuardTraceEntry {
  readonly guard: GuardName;
  readonly saw: string;
  /** Null when the guard had nothing to say. */
  readonly verdict: GuardVerdict | null;
  /** True when an earlier bypass skipped it. */
  readonly skipped: boolean;
}
