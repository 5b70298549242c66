/**
 * Multipart forms far over what may be held, with traffic through a front: the content of files
 * flows in bounded memory, and an attack in a field is blocked wherever the field stands.
 */

import { createHash, randomBytes } from 'node:crypto';
import net from 'node:net';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { valueLimits } from '../../base/rule-limits.ts';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import type { RequestEvent } from '../../engine/contract/events.ts';
import { errorOf } from '../../engine/contract/request-error.ts';
import { Closing, httpOrigin, siteFor, startFront } from '../../engine/front/fixtures/fixture.ts';
import { headFrom } from '../../engine/rules/load/test-sample.ts';
import { makeConnection } from '../../engine/rules/oracle/conformance/exchange.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { policyAlone, simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { builtPolicy } from '../support/built-policy.ts';

const megabyte = 1_048_576;
const rule = 'SecRule ARGS "@contains <evil>" "id:1,phase:2,t:none,deny,status:403,log"';
const closing = new Closing();
const engines: PolicyEngine[] = [];
afterEach(() => closing.run());
afterAll(() => engines.forEach((engine) => engine.retire()));

type Template = 'Light' | 'Standard';

async function engineOf(template: Template, files = '200000000'): Promise<PolicyEngine> {
  const {
    crsCore = {},
    httpPolicy = {},
    argLimits = {},
  } = builtInTemplates.find(({ name }) => name === template)!;
  const limits = { ...argLimits, maxFileSize: files, combinedFileSizes: files };
  const policy = {
    name: 'p',
    engineState: 'ENGINE_STATE_ON' as const,
    crsCore,
    httpPolicy,
    argLimits: limits,
  };
  const { seclang } = renderPolicy(policy, null, { afterCrs: rule });
  const source = { id: 'p', name: 'p', revision: '1', seclangEntry: seclang, files: new Map() };
  const engine = await builtPolicy(source);
  engines.push(engine);
  return engine;
}

const boundary = '----WebKitFormBoundary7MA4YWxkTrZu0gW';
/** Content that compresses badly and holds lines of dashes. */
const noise = Buffer.concat([randomBytes(65_000), Buffer.from('\r\n--\n-- x\r\n--bb\r\n')]);
const head = (disposition: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;
const field = (name: string, value: string): string => `${head(`name="${name}"`)}${value}\r\n`;

/** Pieces of a form of two files of together `bytes`, with fields before, between and after. */
function* form(bytes: number, values: readonly [string, string, string]): Generator<Buffer> {
  yield Buffer.from(field('before', values[0]));
  for (const at of [1, 2] as const) {
    yield Buffer.from(head(`name="u${at}"; filename="a${at}.bin"`));
    for (let sent = 0; sent < bytes / 2; sent += noise.length) yield noise;
    yield Buffer.from(`\r\n${field('after', values[at])}`);
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

function lengthOf(pieces: Iterable<Buffer>): number {
  let sum = 0;
  for (const { length } of pieces) sum += length;
  return sum;
}

/**
 * Sends a request as fast as it is taken; gives the first line of the answer, or '' where the
 * connection was reset before it was read: the front reads on for some megabytes only.
 */
function send(port: number, framing: string, pieces: Iterable<Buffer>): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    let text = '';
    let open = true;
    socket.on('data', (bytes) => (text += bytes.latin1Slice()));
    // Who is refused may be cut off while it still sends.
    socket.on('error', () => (open = false));
    socket.on('close', () => {
      open = false;
      resolve(text.slice(0, Math.max(0, text.indexOf('\r\n'))));
    });
    const type = `Content-Type: multipart/form-data; boundary=${boundary}`;
    socket.write(
      `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${type}\r\n${framing}\r\n\r\n`,
    );
    const rest = pieces[Symbol.iterator]();
    const more = (): void => {
      for (let next = rest.next(); open && next.done !== true; next = rest.next()) {
        if (!socket.write(next.value)) return void socket.once('drain', more);
      }
    };
    more();
  });
}

function* chunked(pieces: Iterable<Buffer>): Generator<Buffer> {
  for (const piece of pieces) {
    yield Buffer.from(`${piece.length.toString(16)}\r\n`);
    yield piece;
    yield Buffer.from('\r\n');
  }
  yield Buffer.from('0\r\n\r\n');
}

interface Exchange {
  readonly status: string;
  /** The status that the client read; '' where it sent on until it was cut off. */
  readonly seen: string;
  /** Digest of what the origin got whole. */
  readonly arrived: readonly string[];
  readonly event: RequestEvent;
}

const digestOf = (pieces: Iterable<Buffer>): string => {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
};

async function exchange(
  engine: PolicyEngine,
  pieces: () => Iterable<Buffer>,
  inChunks = false,
): Promise<Exchange> {
  const arrived: string[] = [];
  const origin = await httpOrigin(closing, (request, response) => {
    const hash = createHash('sha256');
    request.on('data', (piece: Buffer) => hash.update(piece));
    request.on('error', () => undefined);
    request.on('end', () => {
      arrived.push(hash.digest('hex'));
      response.end('ok');
    });
  });
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
  // What is held of all requests of the front: no form that is longer fits in there.
  const settings = { heldBytesMax: 48 * megabyte };
  const front = await startFront(closing, [siteFor(origin, { waf })], engine, settings);
  const framing = inChunks ? 'Transfer-Encoding: chunked' : `Content-Length: ${lengthOf(pieces())}`;
  const line = await send(front.port, framing, inChunks ? chunked(pieces()) : pieces());
  const [event] = await front.eventsReach(1);
  await closing.run();
  const [status, seen] = [String(event!.status), line.slice(9, 12)];
  expect(['', status]).toContain(seen);
  return { status, seen, arrived, event: event! };
}

const harmless = ['1', '2', '3'] as const;
const sizes = [20, 80, 190] as const;

describe.each(['Light', 'Standard'] as const)('%s', (template) => {
  test.each(sizes)('a form of %i MB passes whole', async (size) => {
    const engine = await engineOf(template);
    const pieces = (): Iterable<Buffer> => form(size * 1_000_000, harmless);
    const { seen, arrived, event } = await exchange(engine, pieces);
    expect(seen).toBe('200');
    expect(arrived).toEqual([digestOf(pieces())]);
    expect(event.transaction).toMatchObject({ matchedRules: [] });
    expect(errorOf(event)).toBeNull();
  });

  test.each([0, 1, 2])('an attack in field %i is blocked', async (at) => {
    const engine = await engineOf(template);
    const values = harmless.map((value, i) => (i === at ? '<evil>' : value));
    const pieces = (): Iterable<Buffer> =>
      form(80_000_000, values as unknown as readonly [string, string, string]);
    for (const inChunks of [false, true]) {
      const { status, arrived, event } = await exchange(engine, pieces, inChunks);
      expect([status, arrived]).toEqual(['403', []]);
      expect(event.outcome).toBe('blocked');
      expect(event.transaction!.matchedRules.map(({ ruleId }) => ruleId)).toContain(1);
    }
  });

  test('a form over the limit of the policy is refused', async () => {
    const engine = await engineOf(template, '30000000');
    for (const inChunks of [false, true]) {
      const pieces = (): Iterable<Buffer> => form(40_000_000, harmless);
      const { status, arrived, event } = await exchange(engine, pieces, inChunks);
      expect([status, arrived, event.outcome]).toEqual(['413', [], 'refused']);
    }
  });

  // Its content is kept, since readers may end its head elsewhere: more than may be kept.
  test('a file with a folded head hides no field after it', async () => {
    const engine = await engineOf(template);
    function* folded(): Generator<Buffer> {
      yield Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="u"; `);
      yield Buffer.from('filename="a.bin"\r\nContent-Type: application/\r\n octet-stream\r\n\r\n');
      for (let sent = 0; sent < 40_000_000; sent += noise.length) yield noise;
      yield Buffer.from(`\r\n${field('after', '<evil>')}--${boundary}--\r\n`);
    }
    for (const inChunks of [false, true]) {
      const { status, arrived } = await exchange(engine, folded, inChunks);
      expect([status, arrived]).toEqual(['413', []]);
    }
  });

  test('fields over their limit are refused after a long file', async () => {
    const engine = await engineOf(template);
    const long = 'word '.repeat(1_000_000);
    const { status, arrived } = await exchange(engine, () => form(40_000_000, ['1', '2', long]));
    expect([status, arrived]).toEqual(['413', []]);
  });
});

test('a simulation comes to the same', async () => {
  const engine = await engineOf('Light');
  for (const [last, outcome] of [
    ['3', 'served'],
    ['<evil>', 'blocked'],
  ] as const) {
    const body = Buffer.concat([...form(30_000_000, ['1', '2', last])]);
    expect(body.length).toBeGreaterThan(valueLimits.multipartHeldBytesMax);
    const type = `Content-Type: multipart/form-data; boundary=${boundary}`;
    const lines = ['POST / HTTP/1.1', 'Host: a', type, `Content-Length: ${body.length}`];
    const snapshot = {
      requestId: 'x',
      receivedAtMs: 0,
      siteId: 's',
      connection: makeConnection(),
      head: headFrom(lines.join('\r\n')),
    };
    const found = simulateRequest(policyAlone(engine), { snapshot, body });
    expect(found.outcome).toBe(outcome);
  }
});
