/**
 * Fills a store with a large installation and says what reading it costs:
 *
 *     node test/fault/store-scale.mjs [--entries 1000000] [--build ../../.build]
 *
 * 1,000 sites, 50 policies, 200 lists of 1,000 entries and one list of a million, an entry a record
 * (the product keeps entries in chunks, which costs less). Prints one JSON line of milliseconds and
 * megabytes of this machine; compare figures of one run with each other, not with those of others.
 */

import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000000' },
    build: { type: 'string', default: '../../.build' },
  },
});
const build = new URL(`${values.build}/`, import.meta.url).href;
const load = (path) => import(new URL(path, build).href);
const { systemClock } = await load('base/clock.js');
const { collections } = await load('control/store/collection-list.js');
const { policies, sites } = await load('control/store/collections.js');
const { openLmdbKv } = await load('control/store/lmdb-kv.js');
const { openStore } = await load('control/store/store.js');
const { verifyStore } = await load('control/store/verify.js');
const { writeBackup } = await load('control/store/backup.js');
const { checkBackup } = await load('control/store/restore.js');

const million = Number(values.entries);
const stepRecords = 2000;
const entryRecords = {
  name: 'scale-entries',
  indexes: { list: ({ list }) => [list] },
  counted: ['list'],
};
const folder = mkdtempSync(join(tmpdir(), 'waf-scale-'));
const megabytes = (bytes) => Math.round(bytes / 1024 ** 2);
// Without the pages of the file that are mapped, which the system takes back when it needs them.
const rss = () =>
  Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) >> 10;
const report = { rssAtStart: rss() };
const kv = openLmdbKv({ folder: join(folder, 'control'), durable: false });
const store = await openStore(kv, systemClock);

await fill();
report.rssAfterFill = rss();
report.storeMegabytes = megabytes(statSync(join(folder, 'control', 'data.mdb')).size);
measureReads();
report.rssAfterReads = rss();
await measureChecks();
report.rssAfterChecks = rss();
await store.close();
rmSync(folder, { recursive: true });
process.stdout.write(`${JSON.stringify(report)}\n`);

async function fill() {
  const padding = 'x'.repeat(1500);
  await store.write((tx) => {
    for (let at = 0; at < 1000; at++) {
      const name = `site-${at}`;
      tx.put(sites, { id: name, tenantId: 't', name, primaryHost: `${name}.example`, padding });
    }
    for (let at = 0; at < 50; at++) tx.put(policies, { id: `p-${at}`, name: `p-${at}`, padding });
  });
  const pauses = monitorEventLoopDelay({ resolution: 1 });
  pauses.enable();
  const began = performance.now();
  for (let list = 0; list < 200; list++) await putList(`list-${list}`, 1000);
  await putList('million', million);
  pauses.disable();
  report.entriesPerSecond = Math.round((200_000 + million) / ((performance.now() - began) / 1000));
  report.pauseP50 = round(pauses.percentile(50) / 1e6);
  report.pauseP99 = round(pauses.percentile(99) / 1e6);
}

/** In transactions of a bounded size, with a turn of the loop between them. */
async function putList(list, count) {
  for (let from = 0; from < count; from += stepRecords) {
    await store.write((tx) => {
      for (let at = from; at < Math.min(count, from + stepRecords); at++) {
        tx.put(entryRecords, { id: `${list}/${entryKey(at)}`, list, note: `entry ${at}` });
      }
    });
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function entryKey(at) {
  return ((at * 2654435761) % 2 ** 32).toString(16).padStart(8, '0');
}

function measureReads() {
  let turn = 0;
  measure('listSites', 300, () => store.list(sites).length);
  measure('changeASiteAndList', 100, () => {
    void store.write((tx) => tx.put(sites, { ...store.get(sites, 'site-1'), turn: turn++ }));
    return store.list(sites).length;
  });
  measure('getSite', 1000, () => store.get(sites, `site-${turn++ % 1000}`));
  measure('countMillion', 1000, () => store.count(entryRecords, 'list', 'million'));
  measure('pageOfMillion', 500, () => {
    const after = `million/${entryKey(turn++ * 997)}`;
    return [...store.walk(entryRecords, { prefix: 'million/', after, limit: 200 })];
  });
  measure('coveringEntryInMillion', 1000, () => {
    const before = `million/${entryKey(turn++ * 991)}`;
    return [...store.walk(entryRecords, { prefix: 'million/', before, reverse: true, limit: 1 })];
  });
}

function measure(name, times, work) {
  const took = [];
  for (let at = 0; at < times; at++) {
    const began = performance.now();
    work();
    took.push(performance.now() - began);
  }
  took.sort((left, right) => left - right);
  report[name] = { p50: round(took[times >> 1]), p99: round(took[Math.floor(times * 0.99)]) };
}

async function measureChecks() {
  const all = [...collections, entryRecords];
  const { took: verifySeconds, value: found } = await timed(() => verifyStore(kv, all));
  if (found.problemCount > 0) throw new Error(JSON.stringify(found.problems[0]));
  const options = { data: folder, target: join(folder, 'b'), logs: false, overwrite: false };
  const made = await timed(() =>
    writeBackup({ ...options, product: 'scale', nowMs: systemClock.nowMs() }),
  );
  const { took: restoreSeconds } = await timed(() => checkBackup(made.value.file, systemClock));
  const backupMegabytes = megabytes(made.value.bytes);
  Object.assign(report, {
    verifySeconds,
    backupSeconds: made.took,
    backupMegabytes,
    restoreSeconds,
  });
}

async function timed(work) {
  const began = performance.now();
  const value = await work();
  return { took: round((performance.now() - began) / 1000), value };
}

function round(value) {
  return Math.round(value * 1000) / 1000;
}
