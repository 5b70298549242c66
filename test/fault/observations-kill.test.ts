/**
 * What the engine observed outlives it: killed before control acknowledged anything, its next run
 * hands over every fact and count, under the old numbers, and nothing twice after that.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { afterEach, describe, expect, test } from 'vitest';
import {
  ObservationStreamKind,
  type ObservationBatch,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { CounterBatchSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { startFakeController } from '../support/fake-controller.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild, root, runWaf } from '../support/product.ts';

const engineFile = path.join(root, '.build', 'engine', 'main.js');
const cleanups: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A folder with a bundle of one site that blocks `evil`. */
async function makeBundle(): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'waf-kill-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const origin = http.createServer((_request, response) => response.end('from the origin'));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  cleanups.push(() => {
    origin.closeAllConnections();
    origin.close();
  });
  mkdirSync(path.join(folder, 'rules'));
  const rule = `SecRule ARGS "@contains evil" "id:7,phase:2,deny,status:403,log"\n`;
  writeFileSync(path.join(folder, 'rules', 'own.conf'), rule);
  const { port } = origin.address() as AddressInfo;
  const documents = [
    ['Upstream', 'origin', `{ endpoints: [{ url: 'http://127.0.0.1:${port}', weight: 1 }] }`],
    ['Policy', 'own', '{ ruleset: { path: . } }'],
    ['Site', 'shop', '{ primaryHost: a.example, upstreamRef: origin, policyRef: own }'],
  ].map(([kind, name, spec]) => {
    return `apiVersion: waf.io/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
  });
  const manifest = path.join(folder, 'site.yaml');
  writeFileSync(manifest, documents.join('---\n'));
  const bundle = path.join(folder, 'site.bundle');
  const built = runWaf(['bundle', 'build', '-f', manifest, '-o', bundle]);
  if (built.code !== 0) throw new Error(built.stderr);
  return folder;
}

/** Sends from several connections at once until `count` are answered or the engine is gone. */
async function load(port: number, count: number, onHalf: () => void): Promise<Sent> {
  const sent = { answered: 0, blocked: 0, cut: 0 };
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  let gone = false;
  const send = async (): Promise<void> => {
    while (!gone && sent.answered < count) {
      try {
        const evil = sent.answered % 4 === 3;
        const status = await ask(port, evil ? '/?q=evil' : '/?q=good', agent);
        sent.answered++;
        if (status === 403) sent.blocked++;
        if (sent.answered === Math.floor(count / 2)) onHalf();
      } catch {
        sent.cut++;
        gone = true;
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));
  agent.destroy();
  return sent;
}

/** What a sender saw. */
interface Sent {
  readonly answered: number;
  readonly blocked: number;
  readonly cut: number;
}

async function startEngine(
  folder: string,
  workers = 1,
): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(
    process.execPath,
    [
      engineFile,
      ...['--bundle', path.join(folder, 'site.bundle'), '--data', path.join(folder, 'var')],
      ...['--listen', '127.0.0.1:0', '--workers', String(workers), '--inspection', 'inline'],
      ...['--controller', `unix:${path.join(folder, 'control.sock')}`],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  cleanups.push(() => void child.kill('SIGKILL'));
  let output = '';
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const port = await eventually(() => {
    const found = /"message":"listening".*"port":(\d+)/.exec(output)?.[1];
    return found === undefined ? null : Number(found);
  });
  return { child, port };
}

async function ask(
  port: number,
  target: string,
  agent: http.Agent | false = false,
): Promise<number> {
  const options = { host: '127.0.0.1', port, path: target, headers: { host: 'a.example' } };
  const call = http.get({ ...options, agent });
  const [response] = (await once(call, 'response')) as [http.IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode ?? 0;
}

type Controller = Awaited<ReturnType<typeof startFakeController>>;

/** Requests of all batches, each batch once: a killed engine has not read every acknowledgment. */
const requestsOf = ({ batches }: Controller): number =>
  [...new Map(batches.map((batch) => [nameOf(batch), batch])).values()]
    .filter(({ header }) => header?.streamKind === ObservationStreamKind.METRIC)
    .flatMap(({ payload }) => fromBinary(CounterBatchSchema, payload).deltas)
    .reduce((sum, { requests }) => sum + Number(requests), 0);

/** Requests, or events, that gaps say are missing. */
const missingOf = ({ gaps }: Controller, kind: ObservationStreamKind): number =>
  gaps
    .filter(({ streamKind }) => streamKind === kind)
    .reduce((sum, gap) => sum + Number(gap.lastItemSeq - gap.firstItemSeq) + 1, 0);

const nameOf = ({ header }: ObservationBatch): string =>
  `${Buffer.from(header!.bootId).toString('hex')}/${header!.streamKind}/${header!.batchSeq}`;

if (missingBuild !== null) console.log(missingBuild);

describe.skipIf(missingBuild !== null)('observations', () => {
  test('kill -9 before control acknowledged: the next run hands over all of it', async () => {
    const folder = await makeBundle();
    const socket = path.join(folder, 'control.sock');
    const silent = await startFakeController(socket, false);
    const first = await startEngine(folder);
    for (let i = 0; i < 20; i++) {
      expect(await ask(first.port, i % 2 === 0 ? '/?q=evil' : '/?q=good')).toBe(i % 2 ? 200 : 403);
    }
    const requests = (counts: ReturnType<typeof silent.counts>): bigint =>
      counts.flatMap(({ deltas }) => deltas).reduce((sum, one) => sum + one.requests, 0n);
    await eventually(() => silent.requestIds().length >= 10 && requests(silent.counts()) >= 20n);
    first.child.kill('SIGKILL');
    await once(first.child, 'close');
    const [ids, names] = [silent.requestIds().sort(), silent.batches.map(nameOf)];
    expect(ids).toHaveLength(10);
    await silent.end();

    const taking = await startFakeController(socket, true);
    const second = await startEngine(folder);
    await eventually(() => {
      const taken = new Set(taking.batches.map(nameOf));
      return names.every((name) => taken.has(name));
    });
    expect(taking.requestIds().sort()).toEqual(ids);
    expect(requests(taking.counts())).toBe(20n);
    const takenNames = taking.batches.map(nameOf);
    expect(new Set(takenNames).size).toBe(takenNames.length);

    expect(await ask(second.port, '/?q=evil')).toBe(403);
    await eventually(() => taking.requestIds().length > 10 && requests(taking.counts()) > 20n);
    second.child.kill('SIGTERM');
    await once(second.child, 'close');
    expect([taking.requestIds().length, requests(taking.counts())]).toEqual([11, 21n]);
    const before = taking.batches.length;
    const third = await startEngine(folder);
    expect(await ask(third.port, '/?q=evil')).toBe(403);
    await eventually(() => requests(taking.counts()) >= 22n);
    expect(new Set(taking.batches.map(nameOf)).size).toBe(taking.batches.length);
    expect(taking.batches.length).toBeGreaterThan(before);
    await taking.end();
  });

  test('kill -9 under load: what is missing is a gap with its number', async () => {
    const folder = await makeBundle();
    const controller = await startFakeController(path.join(folder, 'control.sock'), true);
    cleanups.push(() => controller.end());
    const sent: Sent[] = [];
    const killed = [2, 3, 1];
    for (const workers of killed) {
      const { child, port } = await startEngine(folder, workers);
      sent.push(await load(port, 1200, () => child.kill('SIGKILL')));
      await once(child, 'close');
    }
    const last = await startEngine(folder, 2);
    expect(await ask(last.port, '/?q=evil')).toBe(403);
    const total = (of: (one: Sent) => number): number =>
      sent.reduce((sum, one) => sum + of(one), 1);
    // A thread may be killed between an answer and its count; a cut request may be counted.
    const threads = killed.reduce((sum, workers) => sum + workers, 0);
    const cut = total((one) => one.cut);
    const { METRIC, SECURITY_FACT } = ObservationStreamKind;
    const requestsTold = (): number => requestsOf(controller) + missingOf(controller, METRIC);
    const eventsTold = (): number =>
      new Set(controller.requestIds()).size + missingOf(controller, SECURITY_FACT);
    const [answered, blocked] = [total((one) => one.answered), total((one) => one.blocked)];
    // It is stopped once control heard what the runs before left; a stop waits a second at most.
    await eventually(
      () =>
        missingOf(controller, METRIC) > 0 &&
        requestsTold() >= answered - threads &&
        eventsTold() >= blocked - threads,
    );
    last.child.kill('SIGTERM');
    await once(last.child, 'close');
    expect(missingOf(controller, METRIC)).toBeGreaterThan(0);
    const between = (found: number, least: number): void => {
      expect(found).toBeGreaterThanOrEqual(least - threads);
      expect(found).toBeLessThanOrEqual(least + cut);
    };
    const requests = requestsTold();
    between(requests, answered);
    between(eventsTold(), blocked);
    // The stop in order left no gap.
    const before = controller.gaps.length;
    const next = await startEngine(folder);
    expect(await ask(next.port, '/?q=evil')).toBe(403);
    await eventually(() => requestsTold() > requests);
    expect(controller.gaps.length).toBe(before);
  });
});
