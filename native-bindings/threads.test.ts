/** Proves that the addon works in several threads at once and that memory does not grow. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { HS_FLAG, HsDatabase, HsStream } from './hyperscan.ts';
import { detectSqli } from './injection.ts';
import { Pcre } from './pcre.ts';
import { ScanProgram } from './scan-program.ts';
import { transformationIds, transformText } from './transformations.ts';

const flags = HS_FLAG.dotall | HS_FLAG.singleMatch | HS_FLAG.allowEmpty;
const expressions = [{ pattern: 'un.on', flags, id: 0 }];
const addonPath = join(process.cwd(), 'build', 'Release', 'waf_native.node');

/** Plain JavaScript, because a worker loads no TypeScript here. */
const workerSource = `
  const { parentPort, workerData } = require('node:worker_threads');
  const addon = require(workerData.addonPath);
  const database = addon.hsAttach(new Uint8Array(workerData.shared));
  const pcre = new addon.Pcre('(\\\\d+)-\\\\1', {}, {});
  const lowercase = addon.transformationNames().indexOf('lowercase');
  const answers = new Set();
  for (let i = 0; i < 20000; i++) {
    const text = addon.transform(lowercase, 'UNION ' + i);
    const sqli = addon.detectSqli("1' or '1'='1");
    answers.add([...database.scan(text)].join() + pcre.test(i + '-' + i, 0) + sqli);
  }
  parentPort.postMessage([...answers]);
`;

function answersOfWorker(shared: SharedArrayBuffer): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(workerSource, { eval: true, workerData: { addonPath, shared } });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

describe('threads', () => {
  test('two workers and the main thread share one database', async () => {
    expect(existsSync(addonPath)).toBe(true);
    const database = HsDatabase.compile(expressions, { mode: 'block' });
    const shared = HsDatabase.deserializeShared(database.serialize());
    const workers = [answersOfWorker(shared), answersOfWorker(shared)];
    const own = HsDatabase.attach(shared);
    for (let i = 0; i < 20_000; i++) expect(own.scan('a union').length).toBe(1);
    expect(await Promise.all(workers)).toEqual([['01s&sos'], ['01s&sos']]);
  });

  test('workers that are stopped amid their work take nothing with them', async () => {
    const shared = HsDatabase.deserializeShared(
      HsDatabase.compile(expressions, { mode: 'block' }).serialize(),
    );
    for (let i = 0; i < 8; i++) {
      const worker = new Worker(workerSource, { eval: true, workerData: { addonPath, shared } });
      await new Promise((resolve) => worker.once('online', resolve));
      await new Promise((resolve) => setTimeout(resolve, 5 * i));
      await worker.terminate();
    }
    expect([...HsDatabase.attach(shared).scan('union')]).toEqual([0]);
  });
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes resident after everything unreachable is gone; finalisers need turns of the loop. */
async function settledRss(turns = 5): Promise<number> {
  for (let i = 0; i < turns; i++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage.rss();
}

/** Of each object so much that a thousand lost ones of one kind are far more than the bound. */
const words = Array.from({ length: 400 }, (_, i) => `w${i * 7919}x`);
const wordExpressions = words.map((pattern, id) => ({ pattern, flags, id }));
const large = {
  block: HsDatabase.compile(wordExpressions, { mode: 'block' }).serialize(),
  stream: HsDatabase.compile(wordExpressions, { mode: 'stream' }),
  alternatives: words.map((word) => `(${word})`).join('|'),
  nodes: Int32Array.from([-1, -1, ...Array.from({ length: 4000 }, () => [0, 1]).flat()]),
};

/** Makes objects of every kind, few at a time; every second one is left to its finaliser. */
async function makeObjects(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    if (i % 40 === 0) await settledRss(2);
    const compiled = HsDatabase.compile(expressions, { mode: 'block' });
    const database = HsDatabase.deserialize(large.block);
    const streams = Array.from({ length: 50 }, () => HsStream.open(large.stream));
    const pcre = new Pcre(large.alternatives);
    const program = new ScanProgram({ nodes: large.nodes, databases: [database], classes: [] });
    expect(pcre.test(words[7]!)).toBe(true);
    if (i % 2 !== 0) continue;
    for (const one of [...streams, compiled, pcre, program, database]) one.close();
  }
}

function makeCalls(count: number): void {
  const program = new ScanProgram({
    nodes: Int32Array.from([-1, -1, 0, transformationIds.urlDecodeUni]),
    databases: [HsDatabase.compile(expressions, { mode: 'block' })],
    classes: [
      {
        chains: Int32Array.of(1),
        patterns: Int32Array.of(0, 0, 0),
        tiers: [{ allowedMask: 0xffffffff, database: 0 }],
        tests: [],
      },
    ],
  });
  const slab = Buffer.from('%75nion select');
  const rows = Int32Array.of(0, slab.length, 0);
  const hits = new Int32Array(2);
  const pcre = new Pcre('(n)(i)');
  for (let i = 0; i < count; i++) {
    program.scan(slab, rows, 1, hits);
    transformText(transformationIds.urlDecode, '%41%42');
    detectSqli('hello');
    pcre.exec('union');
  }
  program.close();
  pcre.close();
}

test(
  'memory does not grow over a million calls and a thousand objects',
  { timeout: 300_000 },
  async () => {
    await makeObjects(200);
    makeCalls(50_000);
    const before = await settledRss();
    await makeObjects(1000);
    makeCalls(250_000);
    const growthMegabytes = ((await settledRss()) - before) / 2 ** 20;
    console.log(`resident memory grew by ${growthMegabytes.toFixed(1)} MB`);
    expect(growthMegabytes).toBeLessThan(16);
  },
);
