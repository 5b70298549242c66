/**
 * Keeps the begin of bodies whose rest is still to come, so that an upload that broke continues
 * where it ended. A part belongs to the node that began it. Parts are bounded in number, bytes and
 * age; where there are too many, the oldest of the node that has most goes.
 */

import { crc32c } from '../../../base/crc32c.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';
import { prefixRange, type Kv, type KvWriter } from '../../store/kv.ts';
import { addUse, decode, encode, key, pieceKey, removePieces, separator } from './evidence-keys.ts';

/** Whose evidence comes, and what was announced of it. */
export interface UploadClaim {
  readonly evidenceId: string;
  readonly agentId: string;
  /** SHA-256 of the announcement, hex. */
  readonly digest: string;
}

/** Bounds of what is not complete. */
export interface PartialBounds {
  readonly partialPerNodeMax: number;
  readonly partialBytesPerNodeMax: number;
  readonly partialMax: number;
  readonly partialBytesMax: number;
}

/** The begin of a body. */
export interface PartialBody extends UploadClaim {
  readonly bytes: number;
  /** CRC-32C of these bytes. */
  readonly sum: number;
  readonly touchedAtMs: number;
}

const { bodyPieceBytes, forgottenPerWrite } = evidenceStoreLimits;

/** Bodies that are not complete. Every change belongs to the transaction of its writer. */
export class PartialEvidence {
  readonly #kv: Kv;
  readonly #bounds: PartialBounds;
  /** What the store holds, so that bounds cost no reading. */
  #known = new Map<string, PartialBody>();

  constructor(kv: Kv, bounds: PartialBounds) {
    this.#kv = kv;
    this.#bounds = bounds;
    this.reload();
  }

  /** Reads anew what the store holds: at the start, and after a write that failed. */
  reload(): void {
    const stored = [...this.#kv.range(prefixRange(key('p', '')))];
    this.#known = new Map(
      stored.map(({ key: at, value }) => [at.slice(at.indexOf(separator) + 1), decode(value)]),
    );
  }

  get bytes(): number {
    return sumOf([...this.#known.values()]);
  }

  get(evidenceId: string): PartialBody | null {
    return this.#known.get(evidenceId) ?? null;
  }

  /** Notes that somebody still asks for a part. */
  touch(writer: KvWriter, partial: PartialBody, nowMs: number): void {
    this.#put(writer, { ...partial, touchedAtMs: nowMs });
  }

  /** Adds bytes to a body, or begins it. */
  append(writer: KvWriter, claim: UploadClaim, data: Uint8Array, nowMs: number): PartialBody {
    const { evidenceId, agentId, digest } = claim;
    const before = this.get(evidenceId) ?? { bytes: 0, sum: 0 };
    const partial: PartialBody = {
      ...{ evidenceId, agentId, digest, touchedAtMs: nowMs },
      bytes: before.bytes + data.length,
      sum: crc32c(data, before.sum),
    };
    writePieces(writer, evidenceId, before.bytes, data);
    addUse(writer, data.length);
    this.#put(writer, partial);
    this.#makeRoom(writer, partial);
    return partial;
  }

  /** Ends being partial: the body stays, as that of complete evidence. */
  complete(writer: KvWriter, evidenceId: string): void {
    writer.remove(key('p', evidenceId));
    this.#known.delete(evidenceId);
  }

  /** Gives up a part. */
  drop(writer: KvWriter, evidenceId: string): void {
    const partial = this.get(evidenceId);
    if (partial === null) return;
    removePieces(writer, evidenceId);
    addUse(writer, -partial.bytes);
    this.complete(writer, evidenceId);
  }

  /** Gives up parts that nobody continued since a time; the number of them. */
  dropOld(writer: KvWriter, beforeMs: number): number {
    const old = [...this.#known.values()].filter(({ touchedAtMs }) => touchedAtMs < beforeMs);
    const some = old.slice(0, forgottenPerWrite);
    for (const { evidenceId } of some) this.drop(writer, evidenceId);
    return some.length;
  }

  #put(writer: KvWriter, partial: PartialBody): void {
    writer.put(key('p', partial.evidenceId), encode(partial));
    this.#known.set(partial.evidenceId, partial);
  }

  #makeRoom(writer: KvWriter, kept: PartialBody): void {
    const { partialPerNodeMax, partialBytesPerNodeMax, partialMax, partialBytesMax } = this.#bounds;
    for (;;) {
      const all = [...this.#known.values()];
      const own = all.filter(({ agentId }) => agentId === kept.agentId);
      const ownOver = own.length > partialPerNodeMax || sumOf(own) > partialBytesPerNodeMax;
      const allOver = all.length > partialMax || sumOf(all) > partialBytesMax;
      if (!ownOver && !allOver) return;
      const from = ownOver ? own : ofGreediest(all);
      const oldest = oldestOf(from.filter(({ evidenceId }) => evidenceId !== kept.evidenceId));
      if (oldest === null) return;
      this.drop(writer, oldest.evidenceId);
    }
  }
}

/** Bodies are read by range: all pieces but the last are of one size. */
export function writePieces(writer: KvWriter, id: string, offset: number, data: Uint8Array): void {
  for (let at = 0; at < data.length;) {
    const index = Math.floor((offset + at) / bodyPieceBytes);
    const inside = (offset + at) % bodyPieceBytes;
    const part = data.slice(at, at + bodyPieceBytes - inside);
    const before = inside === 0 ? null : (writer.get(pieceKey(id, index)) ?? null);
    writer.put(pieceKey(id, index), before === null ? part : Buffer.concat([before, part]));
    at += part.length;
  }
}

function sumOf(partials: readonly PartialBody[]): number {
  return partials.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The parts of the node that holds most bytes. */
function ofGreediest(all: readonly PartialBody[]): PartialBody[] {
  const nodes = new Map<string, PartialBody[]>();
  for (const one of all) {
    const own = nodes.get(one.agentId) ?? [];
    own.push(one);
    nodes.set(one.agentId, own);
  }
  return [...nodes.values()].reduce((most, own) => (sumOf(own) > sumOf(most) ? own : most), []);
}

function oldestOf(partials: readonly PartialBody[]): PartialBody | null {
  return partials.reduce<PartialBody | null>(
    (oldest, one) => (oldest === null || one.touchedAtMs < oldest.touchedAtMs ? one : oldest),
    null,
  );
}
