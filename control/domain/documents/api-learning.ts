/**
 * What is kept of endpoints that learn the structure of request bodies: names, types and presence
 * of fields, never a value. Pure.
 */

/** Whether an endpoint learns. The id is that of its asset. */
export interface ApiLearningRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly siteId: string;
  readonly method: string;
  readonly host: string;
  /** With parameters in braces; each has a name of its own. */
  readonly path: string;
  readonly enabled: boolean;
  /** Rises when what was learned is forgotten. */
  readonly generation: number;
  readonly revision: number;
  /** RFC 3339. */
  readonly updatedAt: string;
}

/** A kept revision of what was learned; never changed. `blob` holds its JSON. */
export interface LearnedDraftRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly siteId: string;
  readonly assetId: string;
  readonly revision: number;
  /** SHA-256 of the evidence, hex. */
  readonly evidenceSha256: string;
  /** SHA-256 of the content, hex. */
  readonly sha256: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly blob: string;
}

/** What nodes reported of one endpoint. */
export interface LearnedEvidence {
  /** Milliseconds since the Unix epoch; 0 for never. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Requests of the endpoint while it learned: those that taught, and gaps. */
  readonly requests: number;
  /** Requests whose body was looked at. */
  readonly samples: number;
  /** Requests that taught nothing, by reason. */
  readonly gaps: Readonly<Record<string, number>>;
  /** What was left out of bodies that were looked at, by kind; `kept_fields` at control. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Occurrences by type, by path: `/name` a member, `[]` items, `{}` members without a name. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Nothing was learned. */
export const noEvidence: LearnedEvidence = {
  firstMs: 0,
  lastMs: 0,
  requests: 0,
  samples: 0,
  gaps: {},
  dropped: {},
  fields: {},
};

/** Methods whose requests carry what is learned. */
export const learningMethods: readonly string[] = ['POST', 'PUT', 'PATCH'];

/** Whether an endpoint learns. */
export type LearningState = 'never' | 'off' | 'on';
/** What an operator asks for. */
export type LearningEvent = 'start' | 'stop' | 'purge';

/** Where each event leads; null where it changes nothing. */
export const learningStates: Readonly<
  Record<LearningState, Readonly<Record<LearningEvent, 'off' | 'on' | null>>>
> = {
  never: { start: 'on', stop: null, purge: null },
  off: { start: 'on', stop: null, purge: 'off' },
  on: { start: null, stop: 'off', purge: 'off' },
};

/** The state of a record. */
export function learningStateOf(record: ApiLearningRecord | undefined): LearningState {
  if (record === undefined) return 'never';
  return record.enabled ? 'on' : 'off';
}

/**
 * How far the evidence goes: `partial` where a request or a part of one taught nothing. Even
 * `all_requests` says nothing of requests that nobody sent.
 */
export function coverageState(evidence: LearnedEvidence): 'none' | 'partial' | 'all_requests' {
  if (evidence.samples === 0) return 'none';
  const missing = [...Object.values(evidence.gaps), ...Object.values(evidence.dropped)];
  return missing.some((count) => count > 0) ? 'partial' : 'all_requests';
}

/** The path with a name of its own for each parameter: `/a/{value}/{value}` names one twice. */
export function withOwnNames(path: string): string {
  const seen = new Map<string, number>();
  return path.replaceAll(/\{([^{}]*)\}/g, (_all, name: string) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? `{${name}}` : `{${name}${count}}`;
  });
}

/** Objects among which a member was counted; null where the path is no member's. */
export function objectsAround(evidence: LearnedEvidence, path: string): number | null {
  const member = /^(.*)\/[^/[\]{}]+$/s.exec(path);
  return member === null ? null : (evidence.fields[member[1]!]?.['object'] ?? 0);
}

/** Occurrences of a field, whatever its type. */
export function occurrences(types: Readonly<Record<string, number>>): number {
  return Object.values(types).reduce((sum, count) => sum + count, 0);
}
