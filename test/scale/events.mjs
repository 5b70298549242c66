/**
 * Fills the store of events by its own ingest, in batches of nodes, and asks it by each filter of
 * the queries of that kind. Prints events a second of CPU time and of wall time, bytes an event,
 * and latencies and CPU time by filter: the latter says more on a machine that does other work.
 *
 *   node test/scale/events.mjs [--kind security|access|error] [--events 1000000] [--full]
 *     [--questions 200] [--data DIR] [--clickhouse http://USER:PASSWORD@HOST:PORT/DATABASE]
 *
 * `--full`: security events with what rules found; else facts without. With `--data`, the folder is
 * kept, and filled up to `--events`: also one that has some already. The same with `--clickhouse`,
 * whose database is kept. `--questions 0` only fills.
 */

import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { print, quantiles } from './product.mjs';

const { values } = parseArgs({
  options: {
    kind: { type: 'string', default: 'security' },
    events: { type: 'string', default: '1000000' },
    full: { type: 'boolean', default: false },
    questions: { type: 'string', default: '200' },
    data: { type: 'string' },
    clickhouse: { type: 'string', default: '' },
  },
});
const total = Number(values.events);
const questions = Number(values.questions);
const batchEvents = 500;
const startMs = Date.UTC(2026, 0, 1);
const stepMs = 20;
const tenantId = 'default';

const build = join(import.meta.dirname, '..', '..', '.build');
const load = (path) => import(join(build, path));
const { create, toBinary } = await import('@bufbuild/protobuf');
const gen = await load('proto/gen/waf/runtime/v1/observation_pb.js');
const { crc32c } = await load('base/crc32c.js');
const versions = await load('base/protocol-versions.js');
const { openLogs } = await load('control/store/open-logs.js');
const { openEventStore } = await load('control/observe/events/embedded-events.js');
const clickhouse = 'control/observe/clickhouse/';
const { openClickhouseEvents } = await load(`${clickhouse}clickhouse-events.js`);
const { readClickhouseOption } = await load(`${clickhouse}clickhouse-option.js`);
const address = readClickhouseOption(values.clickhouse);

/** Numbers that look random and repeat in every run. */
function seeded(seed) {
  let state = seed;
  return (below) => (state = (state * 48_271) % 2_147_483_647) % below;
}

const bytes = (text) => Buffer.from(text);
const tags = ['application-multi', 'attack-sqli', 'paranoia-level/1', 'OWASP_CRS'];

const common = (number, random) => ({
  requestId: idOf(number),
  siteId: `site-${random(200)}`,
  clientIp: `198.51.${random(256)}.${random(256)}`,
  method: bytes(random(3) === 0 ? 'POST' : 'GET'),
  host: bytes(`shop-${random(200)}.example`),
  target: bytes(`/api/v${random(4)}/items/${random(5000)}?q=${random(1e6)}`),
});
const userAgent = bytes('Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0');

function securityFact(number, random) {
  const rule = 942_000 + random(300);
  const found = {
    data: `Matched Data: ${'x'.repeat(40)} found within ARGS:q${random(50)}`,
    matched: [
      { name: bytes(`ARGS:q${random(50)}`), value: bytes(`value ${random(1e6)} of a field`) },
    ],
  };
  const match = (ruleId, message) => {
    const text = { ruleId, phase: 2, message, severity: 2, tags, operator: '@rx (?i)union' };
    return { ...text, file: 'REQUEST-942.conf', line: 46, ...(values.full ? found : {}) };
  };
  return {
    ...common(number, random),
    receivedAtMs: BigInt(timeOf(number)),
    durationUs: BigInt(500 + random(5000)),
    httpVersion: 'HTTP/1.1',
    userAgent,
    status: random(10) === 0 ? 200 : 403,
    blocked: random(10) !== 0,
    outcome: 'blocked',
    inboundScore: 5 + random(20),
    matches: [match(rule, `Rule ${rule}`), match(949_110, 'Inbound Anomaly Score Exceeded')],
    compact: !values.full,
  };
}

function accessFact(number, random) {
  return {
    ...common(number, random),
    receivedAtMs: BigInt(timeOf(number)),
    durationUs: BigInt(500 + random(5000)),
    httpVersion: 'HTTP/1.1',
    userAgent,
    status: [200, 200, 200, 304, 404, 500][random(6)],
    upstreamId: `upstream-${random(50)}`,
    routeId: `route-${random(100)}`,
    bytesOut: BigInt(random(100_000)),
  };
}

function errorFact(number, random) {
  return {
    ...common(number, random),
    atMs: BigInt(timeOf(number)),
    level: random(4) === 0 ? 'error' : 'warn',
    logger: ['upstream', 'http', 'inspection'][random(3)],
    reason: 'connect_refused',
    message: `The origin answered ${random(5000)} times too late.`,
    endpoint: `10.0.0.${random(256)}:8080`,
    status: 502,
  };
}

const { kind } = values;
const kinds = {
  security: [gen.SecurityFactBatchSchema, versions.securityFactVersion, securityFact],
  access: [gen.AccessFactBatchSchema, versions.accessFactVersion, accessFact],
  error: [gen.ErrorFactBatchSchema, versions.errorFactVersion, errorFact],
};
const [schema, version, factOf] = kinds[kind];

/** To make a batch costs more than to store it: those past these are these at another time. */
const differentBatches = 600;
const made = new Map();

/** A payload, and where the request ids and the times of its facts are. */
function makeBatch(at) {
  const random = seeded(at + 1);
  const numbers = Array.from({ length: batchEvents }, (_, index) => at * batchEvents + index);
  const facts = numbers.map((number) => factOf(number, random));
  const payload = Buffer.from(toBinary(schema, create(schema, { facts })));
  let from = 0;
  const places = numbers.map((number) => {
    const place = [idOf(number), varintOf(timeOf(number))].map((one) => payload.indexOf(one, from));
    from = Math.max(...place);
    if (Math.min(...place) < 0) throw new Error('a fact has no request id or no time');
    return place;
  });
  return { payload, places };
}

const idOf = (number) => number.toString(16).padStart(32, '0');
const timeOf = (number) => startMs + number * stepMs;

/** Times of our days have six bytes. */
function varintOf(number) {
  const found = Buffer.alloc(6);
  for (let at = 0, left = number; at < 6; at++, left = Math.floor(left / 128)) {
    found[at] = (left % 128) + (at < 5 ? 128 : 0);
  }
  return found;
}

/** Batches of nodes, made before they are measured. */
function batchAt(at) {
  const like = at % differentBatches;
  if (!made.has(like)) made.set(like, makeBatch(like));
  const payload = Buffer.from(made.get(like).payload);
  made.get(like).places.forEach(([idAt, timeAt], index) => {
    const number = at * batchEvents + index;
    payload.write(idOf(number), idAt, 'latin1');
    varintOf(timeOf(number)).copy(payload, timeAt);
  });
  const identity = { agentId: 'local', tenantId, bootId: '00', batchSeq: BigInt(at + 1) };
  return { ...identity, crc32c: crc32c(payload), payload };
}

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Fills by slices, so that making the batches is not measured. */
async function fill(store) {
  const before = store.use()[kind].events;
  const slice = 40;
  let cpu = 0;
  let wall = 0;
  for (let at = before / batchEvents; at * batchEvents < total; at += slice) {
    const left = Math.min(slice, total / batchEvents - at);
    const batches = Array.from({ length: left }, (_, index) => batchAt(at + index));
    const [startCpu, startWall] = [cpuSeconds(), performance.now()];
    // A stream has some batches under way.
    for (let next = 0; next < batches.length; next += 8) {
      const some = batches.slice(next, next + 8);
      await Promise.all(some.map((one) => store.ingest(kind, one, version)));
    }
    await store.settled();
    cpu += cpuSeconds() - startCpu;
    wall += (performance.now() - startWall) / 1000;
  }
  const { events } = store.use()[kind];
  print('events stored', `${events}`);
  print('events a second of CPU time', ((events - before) / cpu).toFixed(0));
  print('events a second', ((events - before) / wall).toFixed(0));
}

const everything = {
  ...{ tenantId, startMs: 0, endMs: 8e13, anyOf: [], networks: [] },
  ...{ pathPrefix: '', contains: [] },
};
const anyOf = (field, ...found) => ({ anyOf: [{ field, values: found }] });
const allOf = (...pairs) => ({ anyOf: pairs.map(([field, one]) => ({ field, values: [one] })) });
const siteOf = (random) => ['site', `site-${random(200)}`];
const ruleOf = (random) => ['rule', String(942_000 + random(300))];
const outcomeOf = (name) => ['outcome', name];
const pathBelow = (random) => `/api/v${random(4)}/items/`;

/** Filters with values that are there, as the three queries make them. */
const byCommon = {
  none: () => ({}),
  'time range': (random) => {
    const from = startMs + random(total) * stepMs;
    return { startMs: from, endMs: from + 3_600_000 };
  },
  'request id': (random) => anyOf('request', idOf(random(total))),
  site: (random) => anyOf('site', `site-${random(200)}`),
  nothing: () => anyOf('site', 'site-of-nobody'),
};
const byClient = {
  client: (random) => ({ networks: [`198.51.${random(256)}.${random(256)}`] }),
  network: (random) => ({ networks: [`198.51.${random(256)}.0/24`] }),
};
const bySecurity = {
  rule: (random) => anyOf('rule', String(942_000 + random(300))),
  outcome: (random) => anyOf('outcome', random(2) === 0 ? 'blocked' : 'passed'),
  severity: () => anyOf('severity', 'critical'),
  'attack type': () => anyOf('attack', 'sqli'),
  target: (random) =>
    anyOf('target', `GET shop-${random(200)}.example/api/v${random(4)}/items/{id}`),
  'site and rule': (random) => allOf(siteOf(random), ruleOf(random)),
  'site and client': (random) => ({ ...allOf(siteOf(random)), ...byClient.client(random) }),
  'site and network': (random) => ({ ...allOf(siteOf(random)), ...byClient.network(random) }),
  'rule and outcome': (random) => allOf(ruleOf(random), outcomeOf('passed')),
  'site, rule, outcome': (random) =>
    allOf(siteOf(random), ruleOf(random), outcomeOf('passed'), ['severity', 'critical']),
  'two that never meet': () => allOf(['site', 'site-1'], ['rule', '949111']),
};
const byAccess = {
  'path prefix': (random) => ({ pathPrefix: `/api/v${random(4)}/items/` }),
  path: (random) => ({ pathPrefix: `/api/v${random(4)}/items/${random(5000)}` }),
  status: (random) => anyOf('status', ['304', '404', '500'][random(3)]),
  method: (random) => anyOf('method', random(2) === 0 ? 'GET' : 'POST'),
  route: (random) => anyOf('route', `route-${random(100)}`),
  upstream: (random) => anyOf('upstream', `upstream-${random(50)}`),
  'path prefix and status': (random) => ({
    ...anyOf('status', '500'),
    pathPrefix: `${pathBelow(random)}${random(500)}`,
  }),
  'site and status': (random) => allOf(siteOf(random), ['status', '404']),
  'site and client': (random) => ({ ...allOf(siteOf(random)), ...byClient.client(random) }),
  'site, route, upstream': (random) =>
    allOf(
      siteOf(random),
      ['route', `route-${random(100)}`],
      ['upstream', `upstream-${random(50)}`],
    ),
};
const containing = (property, text) => ({ contains: [{ property, text }] });
const byError = {
  level: () => anyOf('level', 'error'),
  'a common text': () => containing('message', 'too late'),
  'a rare text': (random) => containing('message', `answered ${random(5000)} times`),
};
const filters = {
  security: { ...byCommon, ...byClient, ...bySecurity },
  access: { ...byCommon, ...byClient, ...byAccess },
  error: { ...byCommon, ...byError },
}[kind];

async function askAll(store) {
  for (const [name, make] of Object.entries(filters)) {
    const random = seeded(7);
    const times = [];
    const startCpu = cpuSeconds();
    for (let asked = 0; asked < questions; asked++) {
      const filter = { ...everything, ...make(random) };
      const began = performance.now();
      const page = { ask: 'page', kind, filter, beforeId: '', offset: 0, limit: 50 };
      await store.ask(page);
      times.push(performance.now() - began);
    }
    const cpuMs = ((cpuSeconds() - startCpu) * 1000) / questions;
    print(`a page by ${name}`, `${quantiles(times)}, ${cpuMs.toFixed(1)} ms of CPU time each`);
  }
}

const data = values.data ?? mkdtempSync(join(tmpdir(), 'waf-events-'));
mkdirSync(data, { recursive: true });
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** The store, when it knows what it holds. */
async function open() {
  const kv = openLogs(data, silent);
  const opened =
    address === null
      ? openEventStore(kv, data)
      : openClickhouseEvents({ address, kv, logger: silent });
  await opened.settled();
  return opened;
}

let store = await open();
try {
  if (store.use()[kind].events < total) {
    await fill(store);
    await store.close();
    store = await open();
  }
  const { events, bytes: held } = store.use()[kind];
  print('bytes an event', (held / events).toFixed(0));
  if (address === null) {
    const { size } = statSync(join(data, 'data.mdb'));
    print('bytes an event on disk', (size / events).toFixed(0));
  }
  if (questions > 0) await askAll(store);
} finally {
  await store.close();
  if (values.data === undefined) rmSync(data, { recursive: true, force: true });
}
