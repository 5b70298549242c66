/**
 * Reads corpora of labelled requests: JSON lines, also gzipped, of whole HTTP/1.1 requests or of
 * values. Never judges one. A request belongs to a group (a registrable domain, a payload set), and
 * a group is on one side of a split only.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { encodeUtf8 } from '../../base/byte-string.ts';
import type { BodySnapshot, RequestSnapshot } from '../../engine/contract/message.ts';
import { SCAN } from '../../engine/http/head-scanner.ts';
import { RequestHeadParser } from '../../engine/http/request-head.ts';
import { requestWith } from './value-request.ts';

/** One labelled request. */
export interface LabelledRequest {
  readonly id: string;
  readonly attack: boolean;
  /** For example `xss`; figures are by file and class. */
  readonly kind: string;
  /** Name of the file without its endings. */
  readonly source: string;
  /** What a split keeps together. */
  readonly group: string;
  readonly wire: Buffer;
}

/** A request as inspection gets it; null where the parser refuses the head. */
export interface ParsedRequest {
  readonly snapshot: RequestSnapshot;
  readonly body: BodySnapshot | null;
}

/**
 * Requests of all `*.jsonl` and `*.jsonl.gz` files under the paths. Errors: a line that is none.
 */
export function readRequests(paths: readonly string[]): LabelledRequest[] {
  return paths.flatMap(filesOf).flatMap(readFile);
}

function filesOf(path: string): string[] {
  if (!existsSync(path)) throw new Error(`${path} does not exist; name a folder or a JSONL file`);
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => /\.jsonl(\.gz)?$/.test(name));
  if (names.length === 0) throw new Error(`${path} holds no .jsonl or .jsonl.gz file`);
  return names.sort().map((name) => join(path, name));
}

function readFile(path: string): LabelledRequest[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  const source = basename(path).replace(/\.jsonl(\.gz)?$/, '');
  return text.split('\n').flatMap((line, at) => {
    return line === '' ? [] : readLine(line, source, `${path}:${at + 1}`);
  });
}

function readLine(line: string, source: string, place: string): LabelledRequest[] {
  const row = JSON.parse(line) as Record<string, unknown>;
  const { id, label, class: kind, wire_b64: wire, text } = row;
  const hasRequest = typeof wire === 'string' || typeof text === 'string';
  if (typeof id !== 'string' || typeof kind !== 'string' || !hasRequest) {
    throw new Error(`${place}: expected id, class and wire_b64 or text`);
  }
  if (label !== 'attack' && label !== 'benign') {
    throw new Error(`${place}: label is attack or benign`);
  }
  const attack = label === 'attack';
  if (typeof text === 'string') {
    const value = encodeUtf8(text);
    return (['query', 'form'] as const).map((where) => {
      const made = requestWith(value, where);
      return { id: `${id}/${where}`, attack, kind, source, group: `${source} ${id}`, wire: made };
    });
  }
  const bytes = Buffer.from(String(wire), 'base64');
  return [{ id, attack, kind, source, group: groupOf(id, bytes, source), wire: bytes }];
}

/** Hosts that stand for no site: requests to them belong to a set of payloads. */
const placeholderHost = /^(?:shop\.)?example\.(?:com|org|net)$/;
/** Neighbors in a list of payloads are variants of each other. */
const neighbors = 20;

function groupOf(id: string, wire: Buffer, source: string): string {
  const host = /\r\nhost:[ \t]*([^\r\n:]*)/i.exec(wire.toString('latin1', 0, 4096))?.[1] ?? '';
  const name = host.trim().toLowerCase();
  if (name !== '' && !placeholderHost.test(name)) return registrableDomain(name);
  const numbered = /^(.*?)-(\d+)(?:\/\w+)?$/.exec(id);
  if (numbered !== null && !/^CVE|^CNVD/i.test(id)) {
    return `${source} ${numbered[1]} ${Math.floor(Number(numbered[2]) / neighbors)}`;
  }
  return `${source} ${id.replace(/[#/].*$/, '')}`;
}

const secondLevels = new Set(['ac', 'co', 'com', 'edu', 'gov', 'net', 'or', 'org']);

/** The registrable domain of a host, or the address itself. */
export function registrableDomain(host: string): string {
  if (/^[\d.]+$|^\[/.test(host)) return host;
  const labels = host.split('.').filter((label) => label !== '');
  const two = labels.length > 2 && labels.at(-1)!.length === 2 && secondLevels.has(labels.at(-2)!);
  return labels.slice(two ? -3 : -2).join('.');
}

/** Where a group stands in a split, from 0 to 1; the same for the same seed. */
export function placeOf(group: string, seed: number): number {
  return createHash('sha256').update(`${seed} ${group}`).digest().readUInt32BE(0) / 0x1_0000_0000;
}

/** Reads a request as the front reads it. */
export function parseRequest(wire: Buffer): ParsedRequest | null {
  const parser = new RequestHeadParser();
  parser.reset(0);
  if (parser.execute(wire, wire.length) !== SCAN.DONE) return null;
  const body = wire.subarray(parser.headEnd);
  return {
    snapshot: {
      requestId: 'bench',
      receivedAtMs: 0,
      siteId: 'bench',
      connection: {
        clientIp: '192.0.2.1',
        clientPort: 40_000,
        peerIp: '192.0.2.1',
        serverIp: '127.0.0.1',
        serverPort: 80,
        scheme: 'http',
      },
      head: { bytes: wire.subarray(0, parser.headEnd), spans: parser.copySpans() },
    },
    body: body.length === 0 ? null : { bytes: body, truncated: false },
  };
}
