/**
 * What guards may read of a request: the parsed head, made into texts only when asked for. One view
 * serves all requests of a thread, one after another; nothing of it may be kept.
 */

import { readAddressBits, type AddressBits } from '../../base/ip-address.ts';
import { isPlainPath, READER, readPath, type Decoding } from '../../base/path-readings.ts';
import {
  comparedText,
  foldPath,
  liesUnder,
  statedFor,
  statedForAny,
} from '../../base/stated-path.ts';
import { SPAN, type ConnectionFacts } from '../contract/message.ts';
import type { RateStanding } from './rate-fields.ts';

/** A parsed head, as `engine/http` reads it. */
export interface ViewedHead {
  readonly spans: Int32Array;
  readonly fieldCount: number;
  /** Path and query as they go to the origin; equal when there is neither. */
  readonly pathStart: number;
  readonly pathEnd: number;
}

const noBytes = Buffer.alloc(0);
const noHead: ViewedHead = { spans: new Int32Array(9), fieldCount: 0, pathStart: 0, pathEnd: 0 };
const noFacts: ConnectionFacts = {
  clientIp: '',
  clientPort: 0,
  peerIp: '',
  serverIp: '',
  serverPort: 0,
  scheme: 'http',
};

/** One request, see the header. Texts are byte strings. */
export class RequestView {
  /** The client as the trust profile resolves it, the peer, the scheme. */
  facts: ConnectionFacts = noFacts;
  siteId = '';
  /** Host to route by: lower case, without port. */
  host = '';
  /** Milliseconds since the Unix epoch. */
  nowMs = 0;
  /** True for a request that nobody sent: guards decide and count nothing. */
  trial = false;
  /** How the client stands with rate limits, as far as their guard was asked to tell. */
  rateStandings: RateStanding[] = [];
  private head: ViewedHead = noHead;
  private bytes: Buffer = noBytes;
  private readonly client: AddressBits = { family: 0, words: new Uint32Array(4) };
  private readonly peer: AddressBits = { family: 0, words: new Uint32Array(4) };
  private addressesRead = false;
  private knownMethod: string | null = null;
  private knownPath: string | null = null;
  private knownQuery: string | null = null;
  /** Folded; [0] is the path as sent. Those that all must match to be allowed come first. */
  private readonly readings: string[] = [];
  /** Of each of them. */
  private readonly decodings: Decoding[] = [];
  private usualReadings = 0;
  private listed = true;

  /** Takes up a request; the caller sets `siteId`, `host`, `nowMs` and `trial`. */
  begin(head: ViewedHead, bytes: Buffer, facts: ConnectionFacts): this {
    this.head = head;
    this.bytes = bytes;
    this.facts = facts;
    this.addressesRead = false;
    if (this.rateStandings.length > 0) this.rateStandings = [];
    this.knownMethod = null;
    this.knownPath = null;
    this.knownQuery = null;
    this.usualReadings = 0;
    return this;
  }

  /** The client's address as numbers. */
  get clientAddress(): AddressBits {
    this.readAddresses();
    return this.client;
  }

  /** The address that the connection comes from, as numbers. */
  get peerAddress(): AddressBits {
    this.readAddresses();
    return this.peer;
  }

  get method(): string {
    const { spans } = this.head;
    this.knownMethod ??= this.text(spans[SPAN.firstStart]!, spans[SPAN.firstEnd]!);
    return this.knownMethod;
  }

  get protocol(): string {
    const { spans } = this.head;
    return this.text(spans[SPAN.protocolStart]!, spans[SPAN.protocolEnd]!);
  }

  /** The path as it was sent, without query; `/` when there is none. */
  get path(): string {
    if (this.knownPath === null) this.splitTarget();
    return this.knownPath!;
  }

  /** What follows the first `?`; '' for nothing. */
  get query(): string {
    if (this.knownQuery === null) this.splitTarget();
    return this.knownQuery!;
  }

  /**
   * The value of a field by its name in lower case; null when it is absent. Fields that came
   * several times are joined as RFC 9110 section 5.3 says, so that none of them is overlooked.
   */
  header(name: string): string | null {
    const { spans, fieldCount } = this.head;
    let value: string | null = null;
    for (let i = 0; i < fieldCount; i++) {
      const at = SPAN.fields + 4 * i;
      if (!this.isNamed(spans[at]!, spans[at + 1]!, name)) continue;
      const text = this.text(spans[at + 2]!, spans[at + 3]!);
      if (value === null) value = text;
      else value += (name === 'cookie' ? '; ' : ', ') + text;
    }
    return value;
  }

  /** Values of all fields of a name in lower case, in order; [] when it is absent. */
  fields(name: string): string[] {
    const { spans, fieldCount } = this.head;
    const values: string[] = [];
    for (let i = 0; i < fieldCount; i++) {
      const at = SPAN.fields + 4 * i;
      if (!this.isNamed(spans[at]!, spans[at + 1]!, name)) continue;
      values.push(this.text(spans[at + 2]!, spans[at + 3]!));
    }
    return values;
  }

  /** Name and value of every field as it was sent, in order. */
  allFields(): (readonly [name: string, value: string])[] {
    const { spans, fieldCount } = this.head;
    return Array.from({ length: fieldCount }, (_, i) => {
      const at = SPAN.fields + 4 * i;
      const name = this.text(spans[at]!, spans[at + 1]!);
      return [name, this.text(spans[at + 2]!, spans[at + 3]!)];
    });
  }

  /**
   * True when the path lies under a prefix of whole segments, see `readStatedPath`: `loosely` by
   * any reading that an origin may have, else by all that are usual. What denies or counts asks
   * loosely, what allows does not. A path of more readings than are listed lies under all that
   * denies.
   */
  isUnder(prefix: string, loosely: boolean): boolean {
    if (prefix === '') return true;
    this.readReadings();
    if (!this.listed) return loosely;
    const { readings, decodings } = this;
    if (loosely) {
      const any = statedForAny(prefix);
      for (const reading of readings) if (liesUnder(reading, any)) return true;
      return false;
    }
    for (let i = 0; i < this.usualReadings; i++) {
      if (!liesUnder(readings[i]!, statedFor(prefix, decodings[i]!))) return false;
    }
    return true;
  }

  /** True when any reading of the path, folded, matches; as `isUnder` asked loosely. */
  matchesPath(pattern: RegExp): boolean {
    this.readReadings();
    if (!this.listed) return true;
    for (const reading of this.readings) if (pattern.test(reading)) return true;
    return false;
  }

  private readReadings(): void {
    if (this.usualReadings > 0) return;
    const { path, readings, decodings } = this;
    readings.length = 0;
    decodings.length = 0;
    this.listed = true;
    if (isPlainPath(path)) {
      readings.push(foldPath(path));
      decodings.push('none');
      this.usualReadings = 1;
      return;
    }
    const { list, complete } = readPath(path);
    this.listed = complete;
    for (const reading of list) {
      readings.push(comparedText(reading));
      decodings.push(reading.decoding);
      if (reading.reader === READER.USUAL) this.usualReadings++;
    }
  }

  private readAddresses(): void {
    if (this.addressesRead) return;
    const { clientIp, peerIp } = this.facts;
    readAddressBits(clientIp, this.client);
    readAddressBits(peerIp, this.peer);
    this.addressesRead = true;
  }

  private isNamed(start: number, end: number, name: string): boolean {
    if (end - start !== name.length) return false;
    for (let i = 0; i < name.length; i++) {
      const byte = this.bytes[start + i]!;
      const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
      if (lower !== name.charCodeAt(i)) return false;
    }
    return true;
  }

  private splitTarget(): void {
    const target = this.text(this.head.pathStart, this.head.pathEnd);
    const fragment = target.indexOf('#');
    const whole = fragment < 0 ? target : target.slice(0, fragment);
    const mark = whole.indexOf('?');
    const path = mark < 0 ? whole : whole.slice(0, mark);
    this.knownPath = path === '' ? '/' : path;
    this.knownQuery = mark < 0 ? '' : whole.slice(mark + 1);
  }

  private text(start: number, end: number): string {
    return this.bytes.toString('latin1', start, end);
  }
}
