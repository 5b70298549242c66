/**
 * What load is made of: reads a workload file and turns it into the exact bytes that are sent, in
 * sending order. Never sends anything.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { asksForFresh, FreshText } from './fresh-text.ts';

/** Which of the two answers a request must get: from a plain proxy or from a blocking WAF. */
export type Expectation = 'plain' | 'waf';

/** One request as it is sent. */
export interface WireRequest {
  readonly bytes: Buffer;
  readonly expect: Readonly<Record<Expectation, number>>;
  /** Index of the request in the workload file; variants of one request share it. */
  readonly source: number;
}

/** One load: its requests go out in this order, over and over. */
export interface Workload {
  readonly name: string;
  readonly title: string;
  /** True when requests hold values that do not come again before all requests have gone out. */
  readonly fresh: boolean;
  readonly requests: readonly WireRequest[];
}

interface RequestText {
  readonly weight?: number;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: string;
  readonly expect: Readonly<Record<Expectation, number>>;
}

/** A workload file; bench/workloads/README.md describes it. */
interface WorkloadText {
  readonly title: string;
  /** How many requests are prepared; each fills `{{n}}` with its own number. */
  readonly variants: number;
  /** What values such as `{{words 24}}` are drawn from; 0 without it. */
  readonly seed?: number;
  /** Header fields of every request; a request's own come on top. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly requests: readonly RequestText[];
}

/** Requests prepared of one workload at most; all are kept in the load generator's memory. */
const variantsMax = 4096;
/** Elements of one `$repeat`; enough for bodies of many megabytes. */
const repeatMax = 100_000;
/** Numbers are of one length, so that all variants have the same size. */
const numberDigitsMin = 3;

/**
 * Every workload of a folder, in the order in which they are reported: small heads first.
 * Errors: names the file that does not fit.
 */
export function readWorkloads(folder: string, host: string): Workload[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (files.length === 0) throw new Error(`no workload (*.json) in ${folder}`);
  const known = files.map((name) => parseWorkload(join(folder, name), host));
  return known.sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));
}

const usualOrder = [
  'small-get',
  'get-six-arguments',
  'get-new-values',
  'form-1k',
  'form-1k-new',
  'json-2k',
  'json-2k-new',
  'json-64k',
  'attack-mix',
];

function rank(name: string): number {
  const at = usualOrder.indexOf(name);
  return at < 0 ? usualOrder.length : at;
}

function parseWorkload(file: string, host: string): Workload {
  const name = basename(file, '.json');
  try {
    const text = JSON.parse(readFileSync(file, 'utf8')) as WorkloadText;
    const requests = expandWorkload(text, host);
    const fresh = asksForFresh(JSON.stringify(text.requests) + JSON.stringify(text.headers ?? {}));
    return { name, title: text.title ?? name, fresh, requests };
  } catch (error) {
    throw new Error(`workload ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** The requests of a workload in sending order: by weight, evenly spread, numbered from 0. */
export function expandWorkload(text: WorkloadText, host: string): WireRequest[] {
  check(text);
  const order = spreadByWeight(
    text.requests.map(({ weight }) => weight ?? 1),
    text.variants,
  );
  const digits = Math.max(numberDigitsMin, String(text.variants - 1).length);
  return order.map((source, n) => {
    const request = text.requests[source]!;
    const headers = { ...text.headers, ...request.headers };
    const fresh = new FreshText(text.seed ?? 0, n);
    const number = String(n).padStart(digits, '0');
    const fill: Fill = (value, encode) => fresh.fill(value.replaceAll('{{n}}', number), encode);
    return { bytes: renderRequest(request, headers, host, fill), expect: request.expect, source };
  });
}

/**
 * Fills the placeholders of a text; `encode` is applied to values that are made, not to the text.
 */
type Fill = (text: string, encode?: (value: string) => string) => string;

function check(text: WorkloadText): void {
  const { variants, requests, seed = 0 } = text;
  if (!Number.isInteger(seed)) throw new Error('seed must be a whole number');
  if (!Number.isInteger(variants) || variants < 1 || variants > variantsMax) {
    throw new Error(`variants must be 1..${variantsMax}`);
  }
  if (!Array.isArray(requests) || requests.length === 0) throw new Error('requests are missing');
  for (const { method, path, expect } of requests as RequestText[]) {
    if (typeof method !== 'string' || typeof path !== 'string' || !path.startsWith('/')) {
      throw new Error('a request needs a method and a path from /');
    }
    for (const kind of ['plain', 'waf'] as const) {
      if (!Number.isInteger(expect?.[kind])) throw new Error(`${path}: expect.${kind} is missing`);
    }
  }
}

/** Indexes of the weights, `count` of them, each as often as its share and as evenly as can be. */
export function spreadByWeight(weights: readonly number[], count: number): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const credit = weights.map(() => 0);
  return Array.from({ length: count }, () => {
    let best = 0;
    for (let i = 0; i < weights.length; i++) {
      credit[i]! += weights[i]!;
      if (credit[i]! > credit[best]!) best = i;
    }
    credit[best]! -= total;
    return best;
  });
}

function renderRequest(
  request: RequestText,
  headers: Readonly<Record<string, string>>,
  host: string,
  fill: Fill,
): Buffer {
  const body = Buffer.from(renderBody(request, fill), 'utf8');
  const path = fill(request.path, (value) => value.replaceAll(' ', '+'));
  const lines = [`${request.method} ${path} HTTP/1.1`, `Host: ${host}`];
  const type = request.form ? 'application/x-www-form-urlencoded' : 'application/json';
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${fill(value)}`);
  if (body.length > 0 && !typed) lines.push(`Content-Type: ${type}`);
  if (body.length > 0) lines.push(`Content-Length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

function renderBody({ form, json, body }: RequestText, fill: Fill): string {
  if (body !== undefined) return fill(body);
  if (json !== undefined) return fill(JSON.stringify(expandRepeats(json, '')));
  if (form === undefined) return '';
  const encode = (text: string): string => encodeURIComponent(fill(text)).replaceAll('%20', '+');
  return Object.entries(form)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&');
}

/** Turns `{"$repeat": 3, "$of": X}` into an array of three X, with `{{i}}` filled in. */
function expandRepeats(value: unknown, index: string): unknown {
  if (typeof value === 'string') return value.replaceAll('{{i}}', index);
  if (Array.isArray(value)) return value.map((one) => expandRepeats(one, index));
  if (typeof value !== 'object' || value === null) return value;
  const { $repeat: times, $of: of } = value as { $repeat?: unknown; $of?: unknown };
  if (typeof times === 'number') {
    if (times < 0 || times > repeatMax) throw new Error(`$repeat must be 0..${repeatMax}`);
    return Array.from({ length: times }, (_, i) => expandRepeats(of, padded(i)));
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, expandRepeats(one, index)]),
  );
}

function padded(n: number): string {
  return String(n).padStart(numberDigitsMin, '0');
}
