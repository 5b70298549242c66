/**
 * The load of the delivery benchmark: runs h2load once and reads what it counted. Never decides
 * whether a proxy is good.
 */

import { spawn } from 'node:child_process';
import { adopt } from '../e2e/child-process.ts';

/** What is sent; see `loads`. */
export interface Load {
  readonly name: string;
  readonly title: string;
  /** What one request stands for in tables. */
  readonly unit: string;
  /** How often a proxy may cost what nginx costs with the WAF off. */
  readonly goal: number;
  /** Arguments of h2load for a size. */
  args(size: LoadSize): readonly string[];
}

/** How much is sent. */
export interface LoadSize {
  /** Requests of a run; of connections for handshakes. */
  readonly requests: number;
  readonly handshakes: number;
  readonly connections: number;
  /** New connections a second; below what any of the proxies can take. */
  readonly handshakesPerSecond: number;
}

/** What h2load counted in one run. */
export interface LoadCounts {
  readonly requests: number;
  /** Answers with 2xx. */
  readonly good: number;
  readonly seconds: number;
  readonly tls: string;
  readonly protocol: string;
}

const requestsAtOnce = 10;
const outputBytesMax = 1024 * 1024;
const runTimeoutMs = 600_000;

/** All loads, in the order in which they are run. */
export const loads: readonly Load[] = [
  {
    name: 'handshake',
    title: 'TLS 1.3, full handshake and one request',
    unit: 'handshake',
    goal: 1.5,
    args: ({ handshakes, handshakesPerSecond }) => [
      ...['-n', String(handshakes), '-c', String(handshakes), '--npn-list=http/1.1'],
      ...['-r', String(Math.max(1, Math.ceil(handshakesPerSecond / 10))), '--rate-period=100ms'],
    ],
  },
  {
    name: 'http2',
    title: `HTTP/2 over TLS, ${requestsAtOnce} requests at once a connection`,
    unit: 'request',
    goal: 2,
    args: ({ requests, connections }) => [
      ...['-n', String(requests), '-c', String(connections), '-m', String(requestsAtOnce)],
      '--npn-list=h2',
    ],
  },
  {
    name: 'http1',
    title: 'HTTP/1.1 over TLS',
    unit: 'request',
    goal: 2,
    args: ({ requests, connections }) => [
      ...['-n', String(requests), '-c', String(connections), '--npn-list=http/1.1'],
    ],
  },
];

/** Runs h2load to its end. Errors: rejects when it fails or prints no counts. */
export async function runH2load(
  load: Load,
  size: LoadSize,
  target: { readonly host: string; readonly port: number; readonly prefix: readonly string[] },
): Promise<LoadCounts> {
  const { host, port, prefix } = target;
  const words = [
    ...[...prefix, 'h2load', ...load.args(size), '-t', '1'],
    ...[`--connect-to=127.0.0.1:${port}`, '-H', 'accept: application/json'],
    `https://${host}/?q=hello&page=2`,
  ];
  const { code, output } = await collect(words);
  const counts = readCounts(output);
  if (code === 0 && counts !== null) return counts;
  throw new Error(`h2load failed (${code}): ${output.slice(-500)}`);
}

/** Reads the report of h2load; null when it is none. */
export function readCounts(output: string): LoadCounts | null {
  const finished = /^finished in ([\d.]+)(us|ms|s|m)?[, ]/m.exec(output);
  const requests = /^requests: (\d+) total, .* (\d+) succeeded/m.exec(output);
  const statuses = /^status codes: (\d+) 2xx/m.exec(output);
  if (finished === null || requests === null || statuses === null) return null;
  const scale = { us: 1e-6, ms: 1e-3, s: 1, m: 60 }[finished[2] ?? 's']!;
  return {
    requests: Number(requests[1]),
    good: Math.min(Number(requests[2]), Number(statuses[1])),
    seconds: Number(finished[1]) * scale,
    tls: /^TLS Protocol: (\S+)/m.exec(output)?.[1] ?? '',
    protocol: /^Application protocol: (\S+)/m.exec(output)?.[1] ?? '',
  };
}

function collect(words: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(words[0]!, words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
    adopt(child);
    const late = setTimeout(() => child.kill('SIGKILL'), runTimeoutMs);
    let output = '';
    const take = (chunk: Buffer): void => {
      if (output.length < outputBytesMax) output += chunk.toString('latin1');
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(late);
      resolve({ code, output });
    });
  });
}
