/**
 * Which requests of a route go to its second pool: a field decides, else a cookie, else the share
 * of clients that its weight gives. A client is an address, so that it stays where it is; who goes
 * to the second pool at a weight goes there at every higher one.
 */

import { SPAN } from '../contract/message.ts';
import type { CanaryConfig } from '../contract/site.ts';
import { equalsIgnoreCase } from '../http/tables.ts';

/** A head as `engine/http` reads it. */
interface FieldSpans {
  readonly spans: Int32Array;
  readonly fieldCount: number;
}

const cookieField = Buffer.from('cookie');

/** The second pool of one route. */
export class Canary {
  private readonly weight: number;
  private readonly field: Buffer | null;
  private readonly cookie: string;
  private readonly seed: number;

  constructor({ weight, headerName, cookieName }: CanaryConfig, siteId: string) {
    this.weight = weight;
    this.field = headerName === '' ? null : Buffer.from(headerName);
    this.cookie = cookieName;
    this.seed = hashOf(siteId, 0x811c9dc5);
  }

  /** True for the second pool. Cost: a pass over the fields where one of them may decide. */
  takes(bytes: Buffer, head: FieldSpans, clientIp: string): boolean {
    return this.byField(bytes, head) ?? this.byCookie(bytes, head) ?? this.byShare(clientIp);
  }

  private byField(bytes: Buffer, head: FieldSpans): boolean | null {
    if (this.field === null) return null;
    for (const value of valuesOf(bytes, head, this.field)) {
      const decided = decisionOf(value);
      if (decided !== null) return decided;
    }
    return null;
  }

  private byCookie(bytes: Buffer, head: FieldSpans): boolean | null {
    if (this.cookie === '') return null;
    for (const value of valuesOf(bytes, head, cookieField)) {
      for (const one of value.split(';')) {
        const mark = one.indexOf('=');
        if (mark < 0 || one.slice(0, mark).trim() !== this.cookie) continue;
        const decided = decisionOf(one.slice(mark + 1).trim());
        if (decided !== null) return decided;
      }
    }
    return null;
  }

  private byShare(clientIp: string): boolean {
    if (this.weight === 0) return false;
    return mixed(hashOf(clientIp, this.seed)) % 100 < this.weight;
  }
}

function decisionOf(value: string): boolean | null {
  const lower = value.toLowerCase();
  return lower === 'always' ? true : lower === 'never' ? false : null;
}

function valuesOf(bytes: Buffer, { spans, fieldCount }: FieldSpans, name: Buffer): string[] {
  const values: string[] = [];
  for (let i = 0; i < fieldCount; i++) {
    const at = SPAN.fields + 4 * i;
    if (!equalsIgnoreCase(bytes, spans[at]!, spans[at + 1]!, name)) continue;
    values.push(bytes.latin1Slice(spans[at + 2]!, spans[at + 3]!));
  }
  return values;
}

/** FNV-1a, 32 bits. */
function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash;
}

/** Spreads the bits of a hash evenly (the end of MurmurHash3), as an unsigned number. */
function mixed(hash: number): number {
  let bits = hash ^ (hash >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
