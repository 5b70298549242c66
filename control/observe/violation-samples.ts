/**
 * Samples of requests that broke an API document: the newest of each kind of violation, where the
 * log policy of their site has them kept. Holds who and when, never a value of a request.
 */

import { fromBinary } from '@bufbuild/protobuf';
import {
  SecurityFactSchema,
  type SecurityFact,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { fingerprintOf, textOfKind } from '../../base/check-fingerprint.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { prefixRange, type Kv, type KvWriter } from '../store/kv.ts';
import { separator } from './step-keys.ts';

/** One request. */
export interface ViolationSample {
  readonly requestId: string;
  readonly agentId: string;
  readonly atMs: number;
  /** `deny` where it was refused, `monitor` where it passed. */
  readonly action: string;
  /** Status of the answer. */
  readonly status: number;
}

/** A fact as a node sent it. */
export interface SentFact {
  readonly agentId: string;
  readonly tenantId: string;
  /** A `SecurityFact`. */
  readonly bytes: Uint8Array;
}

/** Whose samples, and of which kind of violation. */
export interface SamplePlace {
  readonly tenantId: string;
  readonly siteId: string;
  /** The contract that the requests broke: another one may say the same of other operations. */
  readonly contractId: string;
  readonly fingerprint: string;
}

/** What the log policies say. */
export interface SampleChoice {
  /** True where the policy of any site keeps samples. */
  readonly any: () => boolean;
  readonly keeps: (siteId: string) => boolean;
}

const prefix = `vs${separator}`;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Samples in `kv`. */
export class ViolationSamples {
  private readonly kv: Kv;
  private readonly choice: SampleChoice;
  private readonly onFault: (error: unknown) => void;
  private writing: Promise<void> = Promise.resolve();

  constructor(kv: Kv, choice: SampleChoice, onFault: (error: unknown) => void) {
    this.kv = kv;
    this.choice = choice;
    this.onFault = onFault;
  }

  /** Keeps what these facts say; neither throws nor waits. */
  take(facts: readonly SentFact[]): void {
    if (!this.choice.any()) return;
    const found = new Map<string, ViolationSample[]>();
    for (const fact of facts) {
      for (const [key, sample] of this.samplesOf(fact)) {
        found.set(key, [...(found.get(key) ?? []), sample]);
      }
    }
    if (found.size === 0) return;
    const written = this.kv.write((writer) => {
      const room = new Map<string, number>();
      for (const [key, samples] of found) add(writer, room, key, samples);
    });
    this.writing = Promise.allSettled([this.writing, written]).then(() => undefined);
    written.catch(this.onFault);
  }

  /** Samples of one kind in a half-open span, newest first. */
  list(place: SamplePlace, startMs: number, endMs: number): ViolationSample[] {
    const row = this.kv.get(rowKey(place));
    return row === undefined ? [] : parse(row).filter(within(startMs, endMs));
  }

  /** Removes samples from before `sinceMs`. */
  async forget(sinceMs: number): Promise<void> {
    await this.kv.write((writer) => {
      for (const { key, value } of [...writer.range(prefixRange(prefix))]) {
        const samples = parse(value);
        const kept = samples.filter(within(sinceMs, Infinity));
        if (kept.length === 0) writer.remove(key);
        else if (kept.length < samples.length) writer.put(key, pack(kept));
      }
    });
  }

  /** Resolves when nothing is being written. */
  settled(): Promise<void> {
    return this.writing;
  }

  private samplesOf({ agentId, tenantId, bytes }: SentFact): [string, ViolationSample][] {
    const fact = read(bytes);
    const found = fact?.guards.filter(isViolation) ?? [];
    if (fact === null || found.length === 0 || !this.choice.keeps(fact.siteId)) return [];
    const { siteId, requestId, status } = fact;
    return found.flatMap(({ action, finding }) => {
      // Programs from before this field named no contract.
      if (finding === undefined || finding.contractId === '') return [];
      const fingerprint = fingerprintOf(textOfKind(finding));
      const sample = { requestId, agentId, atMs: Number(fact.receivedAtMs), action, status };
      const { contractId } = finding;
      return [[rowKey({ tenantId, siteId, contractId, fingerprint }), sample]];
    });
  }
}

function isViolation({ guard, reason }: SecurityFact['guards'][number]): boolean {
  return guard === 'schema' && reason === 'schema_violation';
}

/** Null for what is no fact: the store of events reports it. */
function read(bytes: Uint8Array): SecurityFact | null {
  try {
    return fromBinary(SecurityFactSchema, bytes);
  } catch {
    return null;
  }
}

function add(
  writer: KvWriter,
  room: Map<string, number>,
  key: string,
  samples: readonly ViolationSample[],
): void {
  const row = writer.get(key);
  if (row === undefined && !takesKind(writer, room, key)) return;
  const all = [...samples, ...(row === undefined ? [] : parse(row))];
  all.sort((one, other) => other.atMs - one.atMs);
  writer.put(key, pack(all.slice(0, observationLimits.violationSamplesMax)));
}

/**
 * False where the site has as many kinds as it may. `room` has what is left by site, counted once
 * a batch.
 */
function takesKind(writer: KvWriter, room: Map<string, number>, key: string): boolean {
  const site = key.split(separator, 3).join(separator) + separator;
  const limit = observationLimits.sampledKindsMax;
  const left = room.get(site) ?? limit - [...writer.range({ ...prefixRange(site), limit })].length;
  room.set(site, Math.max(0, left - 1));
  return left > 0;
}

function within(startMs: number, endMs: number) {
  return ({ atMs }: ViolationSample): boolean => atMs >= startMs && atMs < endMs;
}

function rowKey({ tenantId, siteId, contractId, fingerprint }: SamplePlace): string {
  return ['vs', tenantId, siteId, contractId, fingerprint].join(separator);
}

function pack(samples: readonly ViolationSample[]): Uint8Array {
  return encoder.encode(JSON.stringify(samples));
}

function parse(bytes: Uint8Array): ViolationSample[] {
  return JSON.parse(decoder.decode(bytes)) as ViolationSample[];
}
