/**
 * Sends random, often odd wires to our front, to Node's strict parser and to nginx, and compares
 * what the origin of each received: nobody may read what we forward in another way, neither
 * the wire before us nor what we make of it.
 */

import net from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { Closing, siteFor, startFront } from '../../engine/front/fixtures/fixture.ts';
import { startNginx, startRecorder, type ReadRequest, type Recorder } from './reference-readers.ts';
import { randomWire, seeded } from './wire-grammar.ts';
import { draws } from '../support/soak.ts';

const wires = draws(300, 20_000, 'FUZZ_RUNS');
const lanes = 6;
/** A target that says nothing for so long is thought to have said all. */
const quietMs = 400;
const afterUs = 'nginx after us';
const closing = new Closing();
afterAll(() => closing.run());

const settings = { headTimeoutMs: 200, bodyProgressTimeoutMs: 200, lingerTimeoutMs: 50 };
/** Follows every wire, to see whether it is still read as a request. */
const sentinel = 'GET /sentinel HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n\r\n';

/** Something that takes requests, before an origin that writes down what it was asked. */
interface Target {
  readonly name: string;
  readonly port: number;
  readonly origin: Recorder;
}

interface Reading {
  readonly requests: readonly string[];
  readonly errors: readonly string[];
}

async function read({ port, origin }: Target, wire: string): Promise<Reading> {
  await new Promise<void>((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    socket.setTimeout(quietMs, () => socket.destroy());
    socket.on('connect', () => socket.write(Buffer.from(wire, 'latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
  });
  return { requests: origin.requests.splice(0).map(textOf), errors: origin.errors.splice(0) };
}

function textOf({ method, target, host, body }: ReadRequest): string {
  // Without a host of its own a request gets the origin's address.
  const named = host.startsWith('127.0.0.1:') ? '' : host.toLowerCase();
  return JSON.stringify([method, target, named, body]);
}

/** Ours first; then llhttp, nginx, and nginx as our origin. */
async function openTargets(): Promise<Target[]> {
  const recorder = await startRecorder(closing);
  const direct = await startRecorder(closing);
  const front = await startFront(closing, [siteFor(recorder.port)], null, settings);
  const targets = [
    { name: 'ours', port: front.port, origin: recorder },
    { name: 'llhttp', port: direct.port, origin: direct },
  ];
  const viaNginx = await startRecorder(closing);
  const viaBoth = await startRecorder(closing);
  const nginx = await startNginx(closing, viaNginx.port);
  const nginxBehind = await startNginx(closing, viaBoth.port);
  if (nginx === null || nginxBehind === null) return targets;
  const both = await startFront(closing, [siteFor(nginxBehind)], null, settings);
  targets.push({ name: 'nginx', port: nginx, origin: viaNginx });
  targets.push({ name: afterUs, port: both.port, origin: viaBoth });
  return targets;
}

/** What we forward and another reads in another way; [] when nothing. */
function differences(names: readonly string[], readings: readonly Reading[]): string[] {
  const [ours, ...others] = readings as [Reading, ...Reading[]];
  const found = ours.errors.filter(isFault).map((code) => `the origin refuses our words: ${code}`);
  for (const [index, other] of others.entries()) {
    const name = names[index + 1]!;
    if (name === afterUs) {
      // It may refuse what it does not like, but must not make up anything.
      found.push(...notAmong(other.requests, ours.requests).map((read) => `${name} reads ${read}`));
      continue;
    }
    for (const [at, forwarded] of ours.requests.entries()) {
      const read = other.requests[at];
      // Refusing is another's right, but where llhttp calls it malformed we want to know why not
      // us.
      if (read === undefined)
        found.push(...other.errors.filter(isFault).map((c) => `${name}: ${c}`));
      else if (read !== forwarded && read !== withoutHost(forwarded))
        found.push(`${name} reads ${read}, we ${forwarded}`);
      if (read === undefined) break;
    }
  }
  return found;
}

/** HTTP/1.0 has no Host; we take one from an absolute target. */
function withoutHost(text: string): string {
  const [method, target, , body] = JSON.parse(text) as string[];
  return JSON.stringify([method, target, '', body]);
}

/** Those of `some` that are not in `all`, in its order. */
function notAmong(some: readonly string[], all: readonly string[]): string[] {
  let from = 0;
  return some.filter((one) => {
    const at = all.indexOf(one, from);
    if (at >= 0) from = at + 1;
    return at < 0;
  });
}

/** Any token is a method to us; which of them are served is for rules and origins. */
function isFault(code: string): boolean {
  return code.startsWith('HPE_') && !/INVALID_METHOD|INVALID_EOF_STATE/.test(code);
}

async function compare(targets: readonly Target[], wire: string): Promise<[string[], number]> {
  const names = targets.map(({ name }) => name);
  const readings = await Promise.all(targets.map((target) => read(target, wire)));
  return [differences(names, readings), readings[0]!.requests.length];
}

test('nobody reads differently what we forward', async () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
  const random = seeded(seed);
  const findings: string[] = [];
  let [begun, forwarded, others] = [0, 0, 0];
  const lane = async (): Promise<void> => {
    const targets = await openTargets();
    others = targets.length - 1;
    while (begun++ < wires) {
      const wire = randomWire(random) + sentinel;
      const [first, count] = await compare(targets, wire);
      forwarded += count;
      if (first.length === 0) continue;
      // Once more, by itself: what an origin was asked late belongs to the wire before.
      await new Promise((resolve) => setTimeout(resolve, quietMs));
      for (const { origin } of targets) {
        origin.requests.length = 0;
        origin.errors.length = 0;
      }
      const [again] = await compare(targets, wire);
      if (again.length > 0) findings.push(`${JSON.stringify(wire)}\n  ${again.join('\n  ')}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const skipped = others === 1 ? '; skipped: no nginx' : '';
  console.log(
    `parsers compared: seed ${seed}, ${wires} wires, ${forwarded} requests forwarded, ` +
      `${others} other readings of each${skipped}`,
  );
  expect(findings).toEqual([]);
  expect(forwarded).toBeGreaterThan(wires / 10);
});
