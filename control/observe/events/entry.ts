/** Events as they lie on disk before they are read: facts as nodes sent them, or JSON. Pure. */

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { observationLimits } from '../../limits/observation-limits.ts';
import { FactReader, wire } from './fact-reader.ts';

/** What the bytes of an entry are. */
export const entryForm = { fact: 0, json: 1 } as const;

/** One event, not read yet. */
export interface Entry {
  readonly id: string;
  readonly agentId: string;
  readonly tenantId: string;
  readonly form: number;
  readonly bytes: Uint8Array;
}

/** Facts of a batch: all of them are field 1, which repeats. Null where it is no such message. */
export function splitBatch(payload: Uint8Array): Uint8Array[] | null {
  const facts: Uint8Array[] = [];
  try {
    const reader = new FactReader().open(payload);
    while (reader.next()) {
      if (reader.field !== 1 || reader.type !== wire.bytes) {
        reader.skip();
        continue;
      }
      reader.span();
      const { from, to } = reader;
      facts.push(new Uint8Array(payload.buffer, payload.byteOffset + from, to - from));
    }
    return facts;
  } catch {
    // It ends in the middle of a field.
    return null;
  }
}

const numberReader = new FactReader();

/** A number in a field of a fact; 0 when it is not set. Errors: those of a damaged fact. */
export function readNumberField(fact: Uint8Array, wanted: number): number {
  numberReader.open(fact);
  while (numberReader.next()) {
    if (numberReader.field === wanted && numberReader.type === wire.varint) {
      return numberReader.varint();
    }
    numberReader.skip();
  }
  return 0;
}

/** Rules repeat their texts: neighbors share most of what they say. */
const deflateOptions = { level: 3, memLevel: 9 } as const;

/** Entries in one piece; ids, nodes and tenants are kept elsewhere. */
export function packBlock(entries: readonly Entry[]): Uint8Array {
  const head = Buffer.alloc(entries.length * 5);
  entries.forEach(({ form, bytes }, at) => {
    head.writeUInt8(form, at * 5);
    head.writeUInt32LE(bytes.length, at * 5 + 1);
  });
  return deflateRawSync(
    Buffer.concat([head, ...entries.map(({ bytes }) => bytes)]),
    deflateOptions,
  );
}

/** Form and bytes of the entries of a block that has `count`. */
export function unpackBlock(
  block: Uint8Array,
  count: number,
): readonly { readonly form: number; readonly bytes: Uint8Array }[] {
  const maxOutputLength = observationLimits.eventBlockBytesMax;
  const all = inflateRawSync(block, { maxOutputLength });
  let at = count * 5;
  return Array.from({ length: count }, (_, index) => {
    const form = all.readUInt8(index * 5);
    const end = at + all.readUInt32LE(index * 5 + 1);
    const bytes = all.subarray(at, end);
    at = end;
    return { form, bytes };
  });
}
