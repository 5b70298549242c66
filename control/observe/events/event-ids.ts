/**
 * The ids of a segment's events, and whose they are, without their texts. Pure.
 *
 * Layout, little-endian: the first time and the lowest arrival number as f64, then for each event
 * what its time and its number are more, u32 each, then the places of its node (in the upper 16
 * bits) and of its tenant as u32: left out where the segment has one of each. A segment too wide
 * for that, and all of earlier versions, have three f64 an event: time, number, places.
 */

import { makeEventId, timeOfEventId } from './event-id.ts';
import type { Entry } from './entry.ts';

const headBytes = 16;
const spanMax = 0xffff_ffff;
const tenantsMax = 65_536;

/** The names of the parts that hold them: only one of them is there. */
export const idParts = { narrow: 'n', wide: 'i' } as const;

/** Ids as they are read, by the place of an event. */
export interface EventIds {
  timeOf(event: number): number;
  idOf(event: number): string;
  /** Places of node and tenant. */
  ownersOf(event: number): readonly [agent: number, tenant: number];
}

/** The part of entries in the order of their ids. */
export function packIds(
  entries: readonly Entry[],
  agents: readonly string[],
  tenants: readonly string[],
): readonly [name: string, bytes: Uint8Array] {
  const times = entries.map(({ id }) => timeOfEventId(id));
  const numbers = entries.map(({ id }) => Number(id.slice(15)));
  const single = agents.length === 1 && tenants.length === 1;
  const owners = single
    ? []
    : entries.map(({ agentId, tenantId }) => {
        return agents.indexOf(agentId) * tenantsMax + tenants.indexOf(tenantId);
      });
  const [firstMs = 0] = times;
  const lowest = numbers.reduce((least, one) => Math.min(least, one), numbers[0] ?? 0);
  const fits = (all: readonly number[], base: number): boolean =>
    all.every((one) => one >= base && one - base <= spanMax);
  if (!fits(times, firstMs) || !fits(numbers, lowest) || !fits(owners, 0)) {
    const wide = new Float64Array(entries.length * 3);
    entries.forEach((_, at) => wide.set([times[at]!, numbers[at]!, owners[at] ?? 0], at * 3));
    return [idParts.wide, new Uint8Array(wide.buffer)];
  }
  const bytes = new Uint8Array(headBytes + (times.length + numbers.length + owners.length) * 4);
  new Float64Array(bytes.buffer, 0, 2).set([firstMs, lowest]);
  const words = new Uint32Array(bytes.buffer, headBytes);
  for (let at = 0; at < times.length; at++) {
    words[at] = times[at]! - firstMs;
    words[times.length + at] = numbers[at]! - lowest;
  }
  words.set(owners, times.length * 2);
  return [idParts.narrow, bytes];
}

/** Reads the ids of `count` events; `part` gives the bytes under a name. */
export function readIds(part: (name: string) => Uint8Array | undefined, count: number): EventIds {
  const narrow = part(idParts.narrow);
  return narrow === undefined
    ? readWide(aligned(part(idParts.wide) ?? new Uint8Array()))
    : readNarrow(aligned(narrow), count);
}

function readNarrow({ buffer, byteOffset, byteLength }: Uint8Array, count: number): EventIds {
  const [firstMs = 0, lowest = 0] = new Float64Array(buffer, byteOffset, 2);
  const words = new Uint32Array(buffer, byteOffset + headBytes, (byteLength - headBytes) / 4);
  const timeOf = (event: number): number => firstMs + words[event]!;
  return {
    timeOf,
    idOf: (event) => makeEventId(timeOf(event), lowest + words[count + event]!),
    ownersOf: (event) => ownersAt(words[count * 2 + event] ?? 0),
  };
}

function readWide({ buffer, byteOffset, byteLength }: Uint8Array): EventIds {
  const numbers = new Float64Array(buffer, byteOffset, byteLength / 8);
  return {
    timeOf: (event) => numbers[event * 3]!,
    idOf: (event) => makeEventId(numbers[event * 3]!, numbers[event * 3 + 1]!),
    ownersOf: (event) => ownersAt(numbers[event * 3 + 2] ?? 0),
  };
}

function ownersAt(places: number): readonly [number, number] {
  return [Math.floor(places / tenantsMax), places % tenantsMax];
}

function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
}
