/**
 * What nodes saw of signs in the values of a site, what is proposed from it, and what was decided.
 * A client has one voice a day: it speaks for one content that a site learns by itself. Pure.
 */

import type { PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { detectionLearningLimits as limits } from '../../limits/detection-learning-limits.ts';

/** Signs of one family in one value. */
export interface LearnedValue {
  readonly method: string;
  readonly path: string;
  /** As rules name it: `ARGS:content`. */
  readonly name: string;
  readonly family: string;
}

/** What nodes counted of a value in an hour. */
interface LearnedHour {
  /** Of the sketch of its clients, in base64. */
  readonly bits: string;
  readonly requests: number;
  /** Bits that are set; absent in what an earlier version counted. */
  readonly clients?: number;
}

/** What nodes counted of it. */
export interface LearnedRow extends LearnedValue {
  readonly id: string;
  /** By hour since the Unix epoch. */
  readonly hours: Readonly<Record<string, LearnedHour>>;
  /** Requests, the newest last. */
  readonly samples: readonly string[];
}

/** What was decided of a value. */
export interface LearnedDecision extends LearnedValue {
  readonly id: string;
  readonly state: 'accepted' | 'dismissed';
  /** Name of a person; '' for the site itself. */
  readonly by: string;
  readonly atMs: number;
  /** Milliseconds since the Unix epoch; 0 for no end, of what was dismissed. */
  readonly endsAtMs: number;
  readonly clients: number;
  readonly hours: number;
  readonly requests: number;
  /** Sketch of the clients that spoke for it, in base64; '' for what a person decided. */
  readonly voices: string;
}

/** What is kept of a site; the id is the site's. */
export interface DetectionLearningRecord {
  readonly id: string;
  readonly tenantId: string;
  /** Rises when what was learned is forgotten. */
  readonly generation: number;
  readonly decisions: readonly LearnedDecision[];
}

/** How sure it is that a value regularly holds such content. */
export type Confidence = 'low' | 'medium' | 'high';

/** A value that many clients fill with what looks like an attack. */
export interface LearnedProposal extends LearnedValue {
  readonly id: string;
  /** `waiting`; `family`: another family of the value is accepted. */
  readonly state: 'waiting' | 'accepted' | 'dismissed' | 'expired' | 'family';
  readonly by: string;
  /** Networks at least, hours with any, and requests in the window. */
  readonly clients: number;
  readonly hours: number;
  readonly requests: number;
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly endsAtMs: number;
  readonly confidence: Confidence;
  /** Of its clients, those that speak for no other value. */
  readonly ownClients: number;
  readonly samples: readonly string[];
  readonly summary: string;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The evidence of a row in the window before a time. */
export interface Evidence {
  readonly bits: Uint8Array;
  readonly clients: number;
  readonly hours: number;
  readonly requests: number;
  readonly sinceMs: number;
  readonly lastMs: number;
}

/** Adds up the hours of the window. */
export function evidenceOf({ hours }: LearnedRow, nowMs: number): Evidence {
  const last = Math.floor(nowMs / hourMs);
  const bits = new Uint8Array(limits.sketchBits / 8);
  const seen = Object.keys(hours)
    .map(Number)
    .filter((hour) => hour > last - limits.windowHours && hour <= last + 1)
    .toSorted((one, other) => one - other);
  let requests = 0;
  for (const hour of seen) {
    const one = hours[String(hour)]!;
    join(bits, readBits(one.bits));
    requests += one.requests;
  }
  const sinceMs = (seen[0] ?? 0) * hourMs;
  const lastMs = ((seen.at(-1) ?? -1) + 1) * hourMs;
  return { bits, clients: countOf(bits), hours: seen.length, requests, sinceMs, lastMs };
}

/** Why accepted contents change less than the score of a policy, and a word for it. */
export interface LimitedEffect {
  readonly limitedBy: '' | 'no_policy' | 'anomaly_score' | 'also_anomaly_score';
  readonly effect: string;
}

/** What accepted contents change under a policy; both are '' where the score decides. */
export function limitedEffect(
  policy: Pick<PolicyJson, 'name' | 'crsCore'> | undefined,
): LimitedEffect {
  if (policy === undefined) {
    const effect =
      'No policy inspects the site: it learns nothing, and what is accepted has no effect.';
    return { limitedBy: 'no_policy', effect };
  }
  const name = JSON.stringify(policy.name ?? '');
  switch (policy.crsCore?.decision) {
    case 'DECISION_SCORE':
    case 'DECISION_SCORE_CONFIRMS':
      return { limitedBy: '', effect: '' };
    case 'DECISION_BOTH': {
      const effect =
        `Policy ${name} also refuses by the anomaly score, which what is accepted does not ` +
        'change: exclude its rules with waf rule exclude, or let the score decide.';
      return { limitedBy: 'also_anomaly_score', effect };
    }
    default: {
      const effect =
        `Policy ${name} decides by the anomaly score alone: the site learns nothing, and what is ` +
        'accepted has no effect.';
      return { limitedBy: 'anomaly_score', effect };
    }
  }
}

/** What is proposed, and what was decided, the most clients first. */
export function proposalsOf(
  rows: readonly LearnedRow[],
  record: DetectionLearningRecord | undefined,
  nowMs: number,
): LearnedProposal[] {
  const decisions = new Map((record?.decisions ?? []).map((one) => [one.id, one]));
  const evidence = new Map(rows.map((row) => [row.id, evidenceOf(row, nowMs)]));
  const common = inSeveral([...evidence.values()]);
  const shown: LearnedProposal[] = [];
  for (const row of rows) {
    const found = evidence.get(row.id)!;
    const decided = decisions.get(row.id);
    if (decided === undefined && !isProposed(found)) continue;
    const ownClients = countOf(without(found.bits, common));
    const state =
      decided === undefined ? stateOf(row, record, nowMs) : stateOfDecision(decided, nowMs);
    shown.push(proposal({ row, found, state, decided, ownClients, nowMs }));
  }
  for (const decided of decisions.values()) {
    if (evidence.has(decided.id)) continue;
    const row = { ...decided, hours: {}, samples: [] };
    const found = { ...evidenceOf(row, nowMs), ...pick(decided) };
    const state = stateOfDecision(decided, nowMs);
    shown.push(proposal({ row, found, state, decided, ownClients: 0, nowMs }));
  }
  return shown.toSorted(
    (one, other) => other.clients - one.clients || (one.id < other.id ? -1 : 1),
  );
}

/**
 * What a site with `auto` accepts now: enough clients over enough hours that spoke for nothing else
 * in the last day, and no other family of the value. The most clients first.
 */
export function learnedByItself(
  rows: readonly LearnedRow[],
  record: DetectionLearningRecord,
  nowMs: number,
): LearnedDecision[] {
  const used = new Uint8Array(limits.sketchBits / 8);
  const active = record.decisions.filter((one) => inForce(one, nowMs));
  for (const { atMs, voices } of active) {
    if (voices !== '' && atMs > nowMs - dayMs) join(used, readBits(voices));
  }
  const made: LearnedDecision[] = [];
  const ranked = rows
    .map((row) => ({ row, found: evidenceOf(row, nowMs) }))
    .toSorted((one, other) => other.found.clients - one.found.clients);
  let left = limits.actingMax - active.filter(({ by }) => by === '').length;
  for (const { row, found } of ranked) {
    if (left <= 0) break;
    if (record.decisions.some((one) => one.id === row.id && !isOver(one, nowMs))) continue;
    if ([...active, ...made].some((one) => sameValue(one, row))) continue;
    const voices = without(found.bits, used);
    if (countOf(voices) < limits.actingClients || found.hours < limits.actingHours) continue;
    join(used, found.bits);
    left--;
    const endsAtMs = nowMs + limits.actingDays * dayMs;
    const base = { state: 'accepted', by: '', atMs: nowMs, endsAtMs } as const;
    made.push({ ...decisionOf(row, found), ...base, voices: writeBits(found.bits) });
  }
  return made;
}

/** A decision without who, when and what. */
export function decisionOf(row: LearnedRow, found: Evidence) {
  const { id, method, path, name, family } = row;
  return { id, method, path, name, family, ...pick(found) };
}

/** The decisions with one more; those that are over go first where there are too many. */
export function withDecisions(
  record: DetectionLearningRecord,
  made: readonly LearnedDecision[],
  nowMs: number,
): DetectionLearningRecord {
  const ids = new Set(made.map(({ id }) => id));
  const kept = record.decisions.filter(({ id }) => !ids.has(id));
  const all = [...kept, ...made];
  const excess = all.length - limits.decisionsMax;
  if (excess <= 0) return { ...record, decisions: all };
  const spare = all.filter((one) => !inForce(one, nowMs)).slice(0, excess);
  return { ...record, decisions: all.filter((one) => !spare.includes(one)) };
}

/** Whether it changes what happens to requests. */
export function inForce({ state, endsAtMs }: LearnedDecision, nowMs: number): boolean {
  return state === 'accepted' && endsAtMs > nowMs;
}

/** Another family of the same value that is in force; undefined for none. */
export function otherFamily(
  row: LearnedValue,
  record: DetectionLearningRecord | undefined,
  nowMs: number,
): LearnedDecision | undefined {
  return record?.decisions.find(
    (one) => inForce(one, nowMs) && sameValue(one, row) && one.family !== row.family,
  );
}

function isOver(one: LearnedDecision, nowMs: number): boolean {
  return one.state === 'accepted' && !inForce(one, nowMs);
}

function isProposed({ clients, hours }: Evidence): boolean {
  return clients >= limits.proposedClients && hours >= limits.proposedHours;
}

function sameValue(one: LearnedValue, other: LearnedValue): boolean {
  return one.method === other.method && one.path === other.path && one.name === other.name;
}

function stateOf(
  row: LearnedRow,
  record: DetectionLearningRecord | undefined,
  nowMs: number,
): LearnedProposal['state'] {
  return otherFamily(row, record, nowMs) === undefined ? 'waiting' : 'family';
}

function stateOfDecision(decided: LearnedDecision, nowMs: number): LearnedProposal['state'] {
  return isOver(decided, nowMs) ? 'expired' : decided.state;
}

interface Shown {
  readonly row: LearnedRow;
  readonly found: Evidence;
  readonly state: LearnedProposal['state'];
  readonly decided: LearnedDecision | undefined;
  readonly ownClients: number;
  readonly nowMs: number;
}

function proposal({ row, found, state, decided, ownClients, nowMs }: Shown): LearnedProposal {
  const { id, method, path, name, family, samples } = row;
  const { clients, hours, requests, sinceMs, lastMs } = found;
  const since = sinceMs === 0 ? '' : ` since ${new Date(sinceMs).toISOString().slice(0, 16)}Z`;
  return {
    ...{ id, method, path, name, family, state, samples, ownClients },
    ...{ clients, hours, requests, sinceMs, lastMs, confidence: confidenceOf(found) },
    by: decided?.by ?? '',
    endsAtMs: decided?.endsAtMs ?? nowMs + limits.acceptedDays * dayMs,
    summary:
      `${describeName(name)} of ${method} ${path} regularly holds ${contents[family] ?? family}: ` +
      `at least ${clients} clients in ${hours} hours${since}`,
  };
}

function confidenceOf({ clients, hours }: Evidence): Confidence {
  if (clients >= limits.actingClients && hours >= limits.actingHours) return 'high';
  return clients >= 2 * limits.proposedClients ? 'medium' : 'low';
}

const contents: Readonly<Record<string, string>> = {
  sql: 'SQL',
  shell: 'shell commands',
  path: 'paths of files',
  address: 'addresses of other servers',
  html: 'HTML or scripts',
  php: 'PHP',
  code: 'program code or templates',
  java: 'Java expressions',
  protocol: 'lines of protocols',
};

function describeName(name: string): string {
  const colon = name.indexOf(':');
  if (colon < 0) return name === 'XML' ? 'The XML body' : 'The body';
  const kinds: Readonly<Record<string, string>> = {
    ARGS: 'Parameter',
    REQUEST_COOKIES: 'Cookie',
    REQUEST_HEADERS: 'Header field',
    FILES: 'File name of',
  };
  return `${kinds[name.slice(0, colon)] ?? 'Value'} ${JSON.stringify(name.slice(colon + 1))}`;
}

function pick({ clients, hours, requests }: Pick<Evidence, 'clients' | 'hours' | 'requests'>) {
  return { clients, hours, requests };
}

/** The bits of a sketch; of a misshapen one none. */
export function readBits(text: string): Uint8Array {
  const bits = new Uint8Array(limits.sketchBits / 8);
  bits.set(Buffer.from(text, 'base64').subarray(0, bits.length));
  return bits;
}

/** The text of a sketch. */
export function writeBits(bits: Uint8Array): string {
  return Buffer.from(bits).toString('base64');
}

/** Adds bits to a sketch. */
export function join(into: Uint8Array, bits: Uint8Array): void {
  for (let at = 0; at < into.length; at++) into[at]! |= bits[at] ?? 0;
}

function without(bits: Uint8Array, others: Uint8Array): Uint8Array {
  return bits.map((byte, at) => byte & ~(others[at] ?? 0));
}

/** The bits that more than one sketch has. */
function inSeveral(all: readonly Evidence[]): Uint8Array {
  const once = new Uint8Array(limits.sketchBits / 8);
  const several = new Uint8Array(limits.sketchBits / 8);
  for (const { bits } of all) {
    join(
      several,
      bits.map((byte, at) => byte & once[at]!),
    );
    join(once, bits);
  }
  return several;
}

/** The bits of a sketch that are set. */
export function countOf(bits: Uint8Array): number {
  let count = 0;
  for (let byte of bits) for (; byte !== 0; byte &= byte - 1) count++;
  return count;
}
