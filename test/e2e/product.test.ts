/** The product as a newcomer meets it: started, tried, asked, broken and stopped. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CommandResult } from '../support/command-thread.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild, runWafProcess, startProduct, type Product } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

interface LogLine {
  level: string;
  message: string;
}

interface Load {
  readonly memoryUsedBytes: string;
  readonly observationHealth: { readonly state: string };
}

const startSteps = [
  'configuration published',
  'listening',
  'connected to control',
  'configuration applied',
];

describe.skipIf(missingBuild !== null)('waf run', () => {
  let product: Product;
  let origin: Server;

  beforeAll(async () => {
    origin = createServer((_request, response) => response.end('from the origin'));
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    product = await startProduct();
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    origin.close();
  });

  // What a person does: a process for each command line.
  const waf = (...words: string[]): CommandResult =>
    runWafProcess([...words, '--data', product.data]);
  const ask = (path: string, host?: string): Promise<Response> =>
    fetchWithHost(`http://127.0.0.1:${product.proxyPort}${path}`, host);

  test('prints what a person needs next', () => {
    const text = product.output();
    expect(text).toContain(`http://127.0.0.1:${product.proxyPort}`);
    expect(text).toContain(`https://127.0.0.1:${product.managementPort}`);
    const password = /first password in (\S+)/.exec(text)?.[1] ?? '';
    expect(statSync(password).mode & 0o777).toBe(0o600);
  });

  test('a start names policies on CRS 3 and the commands that move them', () => {
    const line = /[^\n]*policies run CRS 3[^\n]*/.exec(product.output())?.[0] ?? '{}';
    const { policies, commands } = JSON.parse(line) as Record<string, string>;
    expect(policies).toContain('Light');
    expect(commands).toBe('waf crs import ARCHIVE, then waf policy ruleset POLICY RULESET');
    const { stdout } = waf('doctor');
    expect(stdout).toContain('CRS 3 in Light');
  });

  test('logs one line for each step of the start, in JSON where nobody watches', async () => {
    const read = (): LogLine[] =>
      product
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as LogLine);
    const named = (lines: LogLine[], name: string): number =>
      lines.filter(({ message }) => message === name).length;
    const lines = await eventually(() => {
      const all = read();
      return named(all, 'configuration applied') > 0 ? all : null;
    });
    for (const step of startSteps) expect(`${step} ${named(lines, step)}`).toBe(`${step} 1`);
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([]);
    expect(product.output()).not.toMatch(/\r|\x1b/);
  });

  test('the two printed lines pass and are blocked; the event is found by its request id', async () => {
    const [passes = '', blocked = ''] = [...product.output().matchAll(/curl -i '([^']+)'/g)].map(
      ([, url]) => url ?? '',
    );
    expect((await fetch(passes)).status).toBe(200);
    const answer = await fetch(blocked);
    expect(answer.status).toBe(403);
    const id = answer.headers.get('x-request-id') ?? '';
    expect(id).toMatch(/^[A-Za-z0-9._-]{8,128}$/);
    const found = await eventually(() => {
      const { code, stdout } = waf('log', 'security', '--request-id', id, '--output', 'json');
      return code === 0 ? (JSON.parse(stdout) as { items: { ruleIds: string[] }[] }) : null;
    });
    expect(found.items).toHaveLength(1);
    expect(found.items[0]?.ruleIds).toContain('942100');
    const seen = waf('explain', id);
    expect(seen).toMatchObject({ code: 1 });
    expect(seen.stdout).toMatch(/rule 942100, phase 2 +ARGS:id/);
    expect(seen.stdout).toContain('blocked, status 403');
    const tried = waf('explain', '--url', blocked);
    expect(tried.stdout).toMatch(/rule 942100, phase 2 +ARGS:id/);
    expect(tried).toMatchObject({ code: 1 });
    expect(waf('explain', '--url', passes)).toMatchObject({ code: 0 });
  });

  test('health is anonymous; readiness and metrics are for the local socket only', async () => {
    const management = `https://127.0.0.1:${product.managementPort}`;
    const ca = readFileSync(join(product.data, 'tls', 'ca.pem'), 'utf8');
    const dispatcher = new Agent({ connect: { ca } });
    const status = async (path: string): Promise<number> =>
      (await request(`${management}${path}`, { dispatcher })).statusCode;
    expect(await status('/healthz')).toBe(200);
    expect(await status('/readyz')).toBe(404);
    expect(await status('/metrics')).toBe(404);
    expect(await status('/debug/memory')).toBe(404);
    await dispatcher.close();
  });

  test('control and engine say what they hold, and where a front thread spends its time', async () => {
    const debug = (...words: string[]): Record<string, Record<string, unknown>> => {
      const { code, stdout, stderr } = waf('debug', ...words);
      expect([code, stderr]).toEqual([0, '']);
      return JSON.parse(stdout) as Record<string, Record<string, unknown>>;
    };
    for (const subject of ['threads', 'event-loop', 'memory', 'databases', 'queues']) {
      const { control, engine } = debug(subject);
      expect(Object.keys(control ?? {})).not.toEqual([]);
      expect(Object.keys(engine ?? {})).not.toContain('message');
    }
    const { control, engine } = await eventually(() => {
      const found = debug('generations');
      return found['engine']?.['rollout'] === 'settled' ? found : null;
    });
    expect(engine).toMatchObject({ sha256: control?.['sha256'] });
    const front = engine?.['front'] as { generations: string[] }[];
    expect(front.map(({ generations }) => generations.at(-1))).toEqual(
      front.map(() => engine?.['revision']),
    );
    const files = debug('databases')['engine']?.['compiled'] as { files: number };
    expect(files.files).toBeGreaterThan(0);
    const profile = ['profile', '--process', 'engine', '--seconds', '1'];
    for (const thread of ['main', 'front-0']) {
      expect(debug(...profile, '--thread', thread)).toMatchObject({ nodes: expect.any(Array) });
    }
    expect(waf('debug', ...profile, '--thread', 'front-999').stderr).toContain('thread:');
  });

  test('a site created active serves as soon as the node has confirmed it', async () => {
    const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
    const made = waf(
      ...['site', 'create', '--name', 'shop', '--host', 'shop.example', '--upstream', url],
      ...['--output', 'json', '--no-wait'],
    );
    const madeMs = performance.now();
    expect([made.code, made.stderr]).toEqual([0, '']);
    const { id } = JSON.parse(made.stdout) as { id: string };
    await eventually(() => {
      const { code, stdout } = waf('agent', 'state', 'local', '--output', 'json');
      if (code !== 0) return false;
      const state = JSON.parse(stdout) as { acknowledged?: boolean; siteIds?: string[] };
      return state.acknowledged === true && state.siteIds?.includes(id) === true;
    });
    console.log(
      `acknowledged in ${Math.round(performance.now() - madeMs)} ms, our asking included`,
    );
    const answer = await ask('/', 'shop.example');
    expect([answer.status, await answer.text()]).toEqual([200, 'from the origin']);
    expect(waf('site', 'list').stdout).toContain('shop.example');
  });

  test('paths are ranked, and the node tells its load', async () => {
    await fetch(`http://127.0.0.1:${product.proxyPort}/ranked?a=1`);
    const top = await eventually(() => {
      const { code, stdout } = waf('system', 'top', 'path', '--output', 'json');
      const { items = [] } = JSON.parse(stdout) as { items?: { key: string; total: string }[] };
      const found = items.find(({ key }) => key === '/ranked');
      return code === 0 && found !== undefined ? found : null;
    });
    expect(top).toEqual({ key: '/ranked', total: '1' });
    // A node tells its load every fifteen seconds; on a busy machine observations wait at times.
    const load = await eventually(() => {
      const { samples = [] } = JSON.parse(waf('agent', 'load', '--output', 'json').stdout) as {
        samples?: { metrics: Load }[];
      };
      const metrics = samples[0]?.metrics;
      return metrics?.observationHealth.state === 'healthy' ? metrics : null;
    });
    expect(Number(load.memoryUsedBytes)).toBeGreaterThan(0);
  });

  test('all three processes together weigh less than 350 MB', async () => {
    const children = ['control/main.js', 'engine/main.js'].map((one) => product.childPid(one));
    const supervisor = Number(statusOf(children[0] ?? 0, 'PPid'));
    const pids = [supervisor, ...children];
    // They map the same program: its pages are in memory once.
    const weigh = (): [own: number[], program: number] => [
      pids.map((pid) => megabytes(pid, 'RssAnon') + megabytes(pid, 'RssShmem')),
      Math.max(...pids.map((pid) => megabytes(pid, 'RssFile'))),
    ];
    const [own, program] = await eventually(() => {
      const [found, mapped] = weigh();
      const sum = found.reduce((left, right) => left + right) + mapped;
      return sum < 350 ? ([found, mapped] as const) : null;
    });
    console.log(`supervisor, control, engine: ${own.join(' + ')} MB, program ${program} MB`);
    for (const weight of [...own, program]) expect(weight).toBeGreaterThan(5);
  });

  test('an engine that is killed comes back and serves the last bundle', async () => {
    const before = product.childPid('engine/main.js');
    expect(before).toBeGreaterThan(0);
    process.kill(before, 'SIGKILL');
    // Front threads begin to serve one after another where the mark of what is compiled is gone,
    // which lies in the folder that all tests share: one answer says nothing of the others.
    const answers = await eventually(async () => {
      const after = product.childPid('engine/main.js');
      if (after === 0 || after === before) return null;
      const asked = Array.from({ length: 16 }, () => ask('/', 'shop.example'));
      const statuses = await Promise.all(asked).then(
        (all) => all.map(({ status }) => status),
        () => [],
      );
      return statuses.length > 0 && statuses.every((status) => status === 200) ? statuses : null;
    });
    expect(answers).toHaveLength(16);
  });

  test('the engine serves without control, which comes back', async () => {
    const before = product.childPid('control/main.js');
    process.kill(before, 'SIGKILL');
    const answer = await ask('/', 'shop.example');
    expect(`${answer.status} ${await answer.text()}\n${product.output()}`).toMatch(/^200 /);
    const listed = await eventually(() => {
      const { code, stdout } = waf('site', 'list');
      return code === 0 ? stdout : null;
    });
    expect(listed).toContain('shop.example');
  });

  test('SIGTERM ends everything with exit code 0', async () => {
    const engine = product.childPid('engine/main.js');
    const control = product.childPid('control/main.js');
    expect(await product.stop()).toBe(0);
    for (const pid of [engine, control]) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

function statusOf(pid: number, field: string): string {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? '';
}

function megabytes(pid: number, field: string): number {
  return Math.round(Number(statusOf(pid, field)) / 1024);
}

/** fetch may not set Host; node:http may. */
async function fetchWithHost(url: string, host?: string): Promise<Response> {
  if (host === undefined) return fetch(url);
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const call = request(url, { headers: { host }, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve(new Response(Buffer.concat(chunks), { status: response.statusCode ?? 0 })),
      );
    });
    call.on('error', reject);
    call.end();
  });
}
