/**
 * Counts the fields of one endpoint's bodies, in bounded number. A field is reported once several
 * bodies had it; a name that only few have is forgotten when there is no place left.
 */

import { learningLimits } from '../../base/learning-limits.ts';
import {
  fieldTypes,
  type LearningDelta,
  type LearningDrop,
  type LearningEndpoint,
  type LearningGap,
} from '../../contract/api-learning.ts';
import type { BodyStructure } from './body-structure.ts';

/** Places for fields that all endpoints of a thread share. */
export interface FieldRoom {
  left: number;
}

interface Field {
  /** Bodies that had it, counted up to the number that it is reported from. */
  bodies: number;
  /** By type, since the last report. */
  readonly types: number[];
}

/** One endpoint; see the header. */
export class FieldCounts {
  private readonly siteId: string;
  private readonly endpoint: Pick<LearningEndpoint, 'assetId' | 'generation'>;
  private readonly room: FieldRoom;
  private readonly fields = new Map<string, Field>();
  private counts = new Map<string, number>();
  private full = false;
  private closed = false;
  /** Bodies that were looked at in this interval. */
  looked = 0;

  constructor(
    siteId: string,
    endpoint: Pick<LearningEndpoint, 'assetId' | 'generation'>,
    room: FieldRoom,
  ) {
    this.siteId = siteId;
    this.endpoint = endpoint;
    this.room = room;
  }

  /** Fields that have a place. */
  get size(): number {
    return this.fields.size;
  }

  /** Counts a request that taught nothing. */
  miss(reason: LearningGap): void {
    this.raise('requests', 1);
    this.raise(`gap ${reason}`, 1);
  }

  /** Counts a request with the structure of its body. */
  learn({ fields, dropped }: BodyStructure): void {
    this.raise('requests', 1);
    this.raise('samples', 1);
    let lost = 0;
    for (const [path, types] of fields) if (!this.addField(path, types)) lost++;
    for (const [what, count] of Object.entries(dropped)) this.drop(what as LearningDrop, count);
    if (lost > 0) this.drop('fields', lost);
  }

  /** What was learned since the last call; null for nothing. A new interval begins. */
  drain(): LearningDelta | null {
    const entries = this.counts;
    this.counts = new Map();
    this.looked = 0;
    for (const [path, field] of this.fields) {
      if (field.bodies < learningLimits.reportedFrom) continue;
      field.types.forEach((count, at) => {
        if (count > 0) entries.set(`type ${fieldTypes[at]!} ${path}`, count);
        field.types[at] = 0;
      });
    }
    if (this.full) this.forgetRare();
    if (entries.size === 0) return null;
    return { siteId: this.siteId, ...this.endpoint, entries };
  }

  /** Gives its places back; whatever still comes is left out. */
  close(): void {
    this.closed = true;
    this.room.left += this.fields.size;
    this.fields.clear();
    this.counts.clear();
  }

  private addField(path: string, types: readonly number[]): boolean {
    let field = this.fields.get(path);
    if (field === undefined) {
      if (this.closed) return false;
      if (this.fields.size >= learningLimits.fieldsPerEndpoint || this.room.left <= 0) {
        this.full = true;
        return false;
      }
      this.room.left--;
      field = { bodies: 0, types: new Array<number>(fieldTypes.length).fill(0) };
      this.fields.set(path, field);
    }
    if (field.bodies < learningLimits.reportedFrom) field.bodies++;
    types.forEach((count, at) => (field.types[at]! += count));
    return true;
  }

  /** Makes room of the names that were not reported: what is usual comes again. */
  private forgetRare(): void {
    this.full = false;
    for (const [path, { bodies }] of this.fields) {
      if (bodies >= learningLimits.reportedFrom) continue;
      this.fields.delete(path);
      this.room.left++;
      this.drop('fields', 1);
    }
  }

  private drop(what: LearningDrop, count: number): void {
    this.raise(`dropped ${what}`, count);
  }

  private raise(key: string, count: number): void {
    if (this.closed) return;
    this.counts.set(key, (this.counts.get(key) ?? 0) + count);
  }
}
