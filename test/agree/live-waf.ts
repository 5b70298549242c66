/**
 * The product as the agreement tests use it: control in this process, the compiled engine as a
 * child, an origin that answers everything with an empty 200. Events are read from the engine's own
 * event file.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { exchange } from '../../control/cli/policy/crs-test/exchange.ts';
import { builtInCrsFolder } from '../../control/publish/rulesets/ruleset-folder.ts';
import { shareDatabases } from '../support/databases.ts';
import { freePort } from '../support/free-port.ts';
import { root } from '../support/product.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import type { DescribedCase } from './described-case.ts';
import { openEvents } from './event-reader.ts';

/** What a policy made of a request: the same fields whichever way it was asked. */
export interface Outcome {
  readonly blocked: boolean;
  /** Status of the block; 0 when it passed. */
  readonly status: number;
  readonly inboundScore: number;
  /** `rule/phase/disruptive` in order. */
  readonly rules: readonly string[];
}

/** The running product. */
export interface LiveWaf {
  readonly control: TestControl;
  readonly originUrl: string;
  /** Calls an RPC; throws what it answers when it is no 200. */
  ask(rpc: string, body: unknown): Promise<Record<string, unknown>>;
  /** Makes a change that publishes, and waits until the engine serves it. */
  serve(change: () => Promise<unknown>): Promise<void>;
  /** Where the engine listens. */
  readonly port: number;
  /** Ends the engine and starts it again on the same data. */
  restart(): Promise<void>;
  /** Sends the bytes and waits for the event. */
  send(one: DescribedCase): Promise<Outcome>;
  /** The same request through TestPolicy. */
  test(one: DescribedCase, policyId: string, siteId?: string): Promise<Outcome>;
  close(): Promise<void>;
}

const clientIp = '127.0.0.1';
const exchangeTimeoutMs = 60_000;
const settleTimeoutMs = 900_000;
/** A busy machine may compile for longer than a call waits; the next one finds what was made. */
const repeatsMax = 4;
/** An answer costs control, which is this process, two milliseconds. */
const lookAgainMs = 50;
/** Publications are gathered for less than this. */
const quietEnoughMs = 300;

/** What differs from one test to the next. */
export interface LiveOptions {
  /** Where the engine speaks TLS, too. */
  readonly securePort?: number;
  /** Networks whose clients begin with a PROXY header, on both ports. */
  readonly proxyHeaderFrom?: string;
}

/** Starts everything; compiled databases are kept between runs. */
export async function startLiveWaf({
  securePort,
  proxyHeaderFrom,
}: LiveOptions = {}): Promise<LiveWaf> {
  const origin = await startOrigin();
  const control = await startTestControl({ rulesetFolder: builtInCrsFolder, demoOrigin: null });
  shareDatabases(control.folder);
  const port = await freePort();
  const eventsFile = path.join(control.folder, 'events.jsonl');
  writeFileSync(eventsFile, '');
  const secure = securePort === undefined ? [] : ['--https-listen', `127.0.0.1:${securePort}`];
  if (proxyHeaderFrom !== undefined) {
    secure.push('--proxy-protocol', proxyHeaderFrom, '--https-proxy-protocol', proxyHeaderFrom);
  }
  let engine = await startEngine(control, port, eventsFile, secure);
  const events = openEvents(eventsFile, (event) => String(event['clientPort']));
  const ask: LiveWaf['ask'] = async (rpc, body) => {
    for (let repeats = 0; ; repeats++) {
      const answer = await control.call(rpc, body);
      if (answer.status === 200) return answer.body;
      const mayRepeat = answer.body['code'] === 'unavailable' && repeats < repeatsMax;
      if (!mayRepeat) throw new Error(`${rpc}: ${answer.text}`);
    }
  };
  return {
    control,
    originUrl: `http://127.0.0.1:${origin.port}`,
    ask,
    serve: (change) => serveChange(ask, change),
    port,
    restart: async () => {
      await stopEngine(engine);
      engine = await startEngine(control, port, eventsFile, secure);
    },
    send: async (one) => {
      const { status, client } = await exchange(port, one.wire, exchangeTimeoutMs, null, () => {});
      return liveOutcome(await events.take(String(client)), status);
    },
    test: async (one, policyId, siteId = '') =>
      testedOutcome(await ask('PolicyService/TestPolicy', describe(one, policyId, siteId))),
    close: async () => {
      await stopEngine(engine);
      events.close();
      await control.control.close();
      origin.server.close();
      rmSync(control.folder, { recursive: true, force: true });
    },
  };
}

function describe(one: DescribedCase, policyId: string, siteId: string): object {
  const { method, url, protocol, headers } = one;
  const body = one.body.toString('base64');
  return { policyId, siteId, method, url, protocol, headers, body, clientIp, peerIp: clientIp };
}

/** What differs; empty when both agree. */
export function differences(live: Outcome, tested: Outcome): string[] {
  return (['blocked', 'status', 'inboundScore', 'rules'] as const).flatMap((field) => {
    const [left, right] = [String(live[field]), String(tested[field])];
    return left === right ? [] : [`${field}: live ${left}, tested ${right}`];
  });
}

type Json = Readonly<Record<string, unknown>>;

function liveOutcome(event: Json, status: number): Outcome {
  const transaction = (event['transaction'] ?? {}) as Json;
  const rules = ((transaction['matchedRules'] ?? []) as Json[]).filter((rule) => rule['log']);
  const refused = event['outcome'] === 'refused';
  const blocked = event['blocked'] === true || refused;
  return {
    blocked,
    status: blocked ? status : 0,
    inboundScore: Number(transaction['inboundScore'] ?? 0),
    rules: rules.map(ruleText).sort(),
  };
}

function testedOutcome(answer: Json): Outcome {
  const blocked = answer['blocked'] === true;
  return {
    blocked,
    status: blocked ? Number(answer['status']) : 0,
    inboundScore: Number(answer['totalInboundScore'] ?? 0),
    rules: ((answer['matchedRules'] ?? []) as Json[]).map(ruleText).sort(),
  };
}

function ruleText(rule: Json): string {
  const mark = rule['disruptive'] === true ? '!' : '';
  return `${Number(rule['ruleId'])}/${Number(rule['phase'])}${mark}`;
}

async function serveChange(ask: LiveWaf['ask'], change: () => Promise<unknown>): Promise<void> {
  // What was changed before may still be on its way: it must not be taken for this change.
  const before = await waitUntil(ask, (_revision, quietMs) => quietMs > quietEnoughMs);
  await change();
  await waitUntil(ask, (revision) => revision > before);
}

/** Polls until the configuration is served and `fits`; resolves to its revision. */
async function waitUntil(
  ask: LiveWaf['ask'],
  fits: (revision: number, quietMs: number) => boolean,
): Promise<number> {
  const deadline = performance.now() + settleTimeoutMs;
  for (let last = -1, sinceMs = performance.now(); ;) {
    const health = await ask('SystemService/Health', {});
    const revision = Number(health['configRevision'] ?? 0);
    const checks = (health['checks'] ?? []) as Json[];
    const found = checks.find((check) => check['component'] === 'configuration');
    if (revision !== last) [last, sinceMs] = [revision, performance.now()];
    const served = found?.['status'] === 'healthy';
    if (served && fits(revision, performance.now() - sinceMs)) return revision;
    if (performance.now() > deadline) throw new Error(`not served: ${String(found?.['message'])}`);
    await sleep(lookAgainMs);
  }
}

async function startEngine(
  control: TestControl,
  port: number,
  eventsFile: string,
  more: readonly string[],
): Promise<ChildProcess> {
  const build = process.env['WAF_BUILD_DIR'] ?? path.join(root, '.build');
  const args = [
    ['--data', control.folder, '--controller', `unix:${control.socket}`],
    ['--listen', `127.0.0.1:${port}`, '--workers', '1'],
    ['--events', eventsFile, '--log-level', 'error'],
    more,
  ];
  const child = spawn(process.execPath, [path.join(build, 'engine', 'main.js'), ...args.flat()], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await new Promise<void>((resolve, reject) => {
    child.on('message', (message) => {
      if ((message as { type?: string }).type === 'ready') resolve();
    });
    child.once('close', (code) => reject(new Error(`the engine ended with ${code}`)));
  });
  return child;
}

async function stopEngine(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.kill('SIGTERM');
  await closed;
}

/** Answers each request on a connection of its own, once its body is complete. */
function startOrigin(): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (!isWhole(received)) return;
      received = Buffer.alloc(0);
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve({ server, port: typeof address === 'object' ? (address?.port ?? 0) : 0 });
    });
  });
}

function isWhole(bytes: Buffer): boolean {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const head = bytes.toString('latin1', 0, headEnd);
  if (/\r\ntransfer-encoding:/i.test(head)) return bytes.toString('latin1').endsWith('0\r\n\r\n');
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? '0';
  return bytes.length >= headEnd + 4 + Number(length);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
