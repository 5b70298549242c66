/** Tests of the engine as a process: bad rules, a busy port, a bad bundle, a kill under load. */

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  buildBundle,
  bundleHost,
  endEngine,
  startBundleEngine,
  type BundleEngine,
} from '../support/bundle-engine.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { missingBuild } from '../support/product.ts';

const plantedMistakes = `SecRuleEngin On
SecRule ARGZ "@rx a" "id:1,phase:1,deny"
SecRule ARGS "@containz a" "id:2,phase:1,deny"
SecRule ARGS "@rx a" "id:3,phase:1,denny"
SecRule ARGS "@rx a" "id:4,phase:1,t:lowercaze,deny"
SecRule ARGS "@rx (a" "id:5,phase:1,deny"
SecRule ARGS "@rx a" "phase:1,deny"
SecRule ARGS "@rx a" "id:8,phase:9,deny"
SecRule ARGS "@pmFromFile missing.data" "id:9,phase:1,deny"
SecRule ARGS "@rx a" "id:10,phase:1,deny,exec:/bin/true"
`;

let folder: string;
let engines: BundleEngine[];
let origin: http.Server;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'waf-engine-'));
  engines = [];
  origin = http.createServer((_request, response) => response.end('from the origin'));
  await listen(origin);
});
afterEach(async () => {
  for (const engine of engines) await endEngine(engine, 'SIGKILL');
  origin.close();
  origin.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

async function listen(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Builds a bundle whose policy has these rules; the file and what the command said. */
function built(rules: string): ReturnType<typeof buildBundle> {
  return buildBundle(folder, (origin.address() as AddressInfo).port, rules);
}

function startEngine(bundle: string, port: number, workers = 1): BundleEngine {
  const more = ['--events', path.join(folder, 'events.jsonl'), '--workers', String(workers)];
  const engine = startBundleEngine(folder, bundle, port, ...more);
  engines.push(engine);
  return engine;
}

async function exitCode({ child }: BundleEngine): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'close');
  return child.exitCode;
}

/** The status, or the code of the error that the client saw. */
function ask(port: number, target: string): Promise<number | string> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: target, headers: { host: bundleHost } };
    const call = http.get({ ...options, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    });
    call.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
  });
}

const goodRules = `SecRule ARGS "@contains evil" "id:7,phase:2,deny,status:403"\n`;

if (missingBuild !== null) console.log(missingBuild);

describe.skipIf(missingBuild !== null)('the engine', () => {
  test('ten planted mistakes are ten diagnostics, each at its line', async () => {
    const { file, code, stderr } = built(plantedMistakes);
    const texts = [stderr];
    if (code === 0) {
      const engine = startEngine(file, 0);
      expect(await exitCode(engine)).not.toBe(0);
      texts.push(engine.output());
    }
    const lines = [...texts.join('\n').matchAll(/own\.conf:(\d+):\d+/g)].map(([, line]) => line);
    expect([...new Set(lines)].map(Number).sort((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
  });

  test('a port in use is named; the process that uses it keeps running', async () => {
    const { file } = built(goodRules);
    const other = net.createServer((socket) => socket.end());
    const port = await listen(other);
    const engine = startEngine(file, port);
    expect(await exitCode(engine)).not.toBe(0);
    expect(engine.output()).toContain(`cannot listen on 127.0.0.1:${port}: the port is in use`);
    expect(other.listening).toBe(true);
    other.close();
  });

  test('a second engine does not join the port of the first, though threads share it', async () => {
    const { file } = built(goodRules);
    const port = await freePort();
    startEngine(file, port, 2);
    await eventually(async () => (await ask(port, '/')) === 200);
    const second = startEngine(file, port, 2);
    expect(await exitCode(second)).not.toBe(0);
    expect(second.output()).toContain('the port is in use');
    expect(await ask(port, '/')).toBe(200);
  });

  test('a bundle that was changed, and none at all, are refused with a sentence', async () => {
    const { file } = built(goodRules);
    const bytes = readFileSync(file);
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    writeFileSync(`${file}.bad`, bytes);
    const changed = startEngine(`${file}.bad`, 0);
    expect(await exitCode(changed)).toBe(1);
    expect(changed.output()).toMatch(/engine: .*bundle/);
    const missing = startEngine(path.join(folder, 'none.bundle'), 0);
    expect(await exitCode(missing)).toBe(1);
    expect(missing.output()).toContain('none.bundle cannot be read');
  });

  test('kill -9 under load: clients see closed connections only, a restart serves', async () => {
    const { file } = built(goodRules);
    const port = await freePort();
    const serves = (): Promise<true | null> =>
      eventually(async () => (await ask(port, '/')) === 200);
    const first = startEngine(file, port);
    await serves();
    const seen = new Map<number | string, number>();
    let running = true;
    const loop = async (target: string): Promise<void> => {
      while (running) {
        const result = await ask(port, target);
        seen.set(result, (seen.get(result) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };
    const loops = ['/', '/a?q=1', '/?q=evil'].map(loop);
    await eventually(() => (seen.get(200) ?? 0) >= 20);
    first.child.kill('SIGKILL');
    await once(first.child, 'close');
    startEngine(file, port);
    await serves();
    running = false;
    await Promise.all(loops);
    console.log(`clients saw ${JSON.stringify(Object.fromEntries(seen))}`);
    const allowed = new Set<number | string>([200, 403, 'ECONNREFUSED', 'ECONNRESET']);
    expect([...seen.keys()].filter((result) => !allowed.has(result))).toEqual([]);
    expect(await ask(port, '/?q=evil')).toBe(403);
    // What was written before the kill is whole lines; only the very last may be cut.
    await eventually(() => readEvents().length > 0);
    expect(readEvents().every((event) => event.requestId.length > 0)).toBe(true);
  });
});

function readEvents(): { requestId: string }[] {
  const lines = readFileSync(path.join(folder, 'events.jsonl'), 'utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as { requestId: string });
}
