/**
 * Which requests of the corpora can be described to TestPolicy, and how. What no description can
 * carry (repeated fields, broken framing, bytes that are no text) is left out with a reason.
 */

/** A request as TestPolicy takes it, and as it goes over the wire. */
export interface DescribedCase {
  readonly title: string;
  readonly method: string;
  readonly url: string;
  readonly protocol: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly wire: Buffer;
  /** Host without its port. */
  readonly host: string;
}

/** One line of a corpus, as far as it matters here. */
export interface CorpusRequest {
  readonly title: string;
  readonly stage?: number;
  readonly wire_b64: string;
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const hostName = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** The case of a record, or the reason why there is none. */
export function describeCase(record: CorpusRequest): DescribedCase | string {
  const wire = Buffer.from(record.wire_b64, 'base64');
  const headEnd = wire.indexOf('\r\n\r\n');
  if (headEnd < 0) return 'no complete head';
  const head = decode(wire.subarray(0, headEnd));
  if (head === null) return 'the head is no text';
  const [first = '', ...lines] = head.split('\r\n');
  const [method = '', url = '', protocol = '', ...more] = first.split(' ');
  if (more.length > 0 || !token.test(method)) return 'no plain request line';
  if (protocol !== 'HTTP/1.0' && protocol !== 'HTTP/1.1') return 'another version';
  if (!url.startsWith('/') || /[\0-\x20\x7f]/.test(url)) return 'no plain path';
  const headers = readHeaders(lines);
  if (headers === null) return 'fields that no map carries';
  const named = (wanted: string): string | undefined =>
    Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];
  const host = (named('host') ?? '').replace(/:\d+$/, '').toLowerCase();
  if (!hostName.test(host)) return 'no host that a site can have';
  if (named('transfer-encoding') !== undefined) return 'a transfer coding';
  const body = wire.subarray(headEnd + 4);
  if (Number(named('content-length') ?? 0) !== body.length) return 'another length than stated';
  const title = `${record.title}${(record.stage ?? 1) > 1 ? `/${record.stage}` : ''}`;
  return { title, method, url, protocol, headers, body, wire, host };
}

function readHeaders(lines: readonly string[]): Record<string, string> | null {
  const headers: Record<string, string> = {};
  const seen = new Set<string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    const value = line.slice(colon + 1).trim();
    if (!token.test(name) || seen.has(name.toLowerCase())) return null;
    if (/[\0\r\n]/.test(value)) return null;
    seen.add(name.toLowerCase());
    headers[name] = value;
  }
  return headers;
}

function decode(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
