/**
 * Owns what guards may read of a request: the parsed head, made into texts only when asked for. One
 * view serves all requests of a thread, one after another; nothing of it may be kept.
 */

import { readAddressBits, type AddressBits } from '../../base/ip-address.ts';
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
  private knownPlainPath: string | null = null;

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
    this.knownPlainPath = null;
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
   * The path as origins may come to understand it: escapes decoded, dot segments resolved, several
   * slashes taken for one, `;` parameters dropped. A guard that denies by path looks at both; one
   * that allows needs both to agree.
   */
  get plainPath(): string {
    this.knownPlainPath ??= plainPathOf(this.path) ?? this.path;
    return this.knownPlainPath;
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

  /**
   * True when the path lies under a prefix of whole segments, in lower case: `loosely` by any of
   * its readings, else by all of them. What denies asks loosely, what allows does not.
   */
  isUnder(prefix: string, loosely: boolean): boolean {
    if (prefix === '') return true;
    const sent = isUnderPrefix(this.path, prefix);
    return sent === loosely ? sent : isUnderPrefix(this.plainPath, prefix);
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

function isUnderPrefix(path: string, prefix: string): boolean {
  if (path.length < prefix.length) return false;
  if (path.slice(0, prefix.length).toLowerCase() !== prefix) return false;
  return path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f;
}

/**
 * A path as origins come to understand it that decode escapes, resolve dot segments, take several
 * slashes for one and what follows `;` for parameters; null where all of that changes nothing.
 */
export function plainPathOf(path: string): string | null {
  if (!/[%;\\]|\/\/|\/\.\.?(?:\/|$)/.test(path)) return null;
  const plain = path.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  const kept: string[] = [];
  for (const segment of plain.split(/[/\\]/)) {
    const name = segment.split(';', 1)[0]!;
    if (name === '..') kept.pop();
    else if (name !== '.' && name !== '') kept.push(name);
  }
  return `/${kept.join('/')}`;
}
