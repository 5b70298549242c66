/**
 * A process that swaps two policies through the engine's front threads while requests run, and says
 * what they saw, what memory did and how long an event loop stood still. Arguments: swaps, threads,
 * inspection place, folder of CRS (or nothing for two small policies). Prints one JSON line.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFrontThreads } from '../../.build/engine/front/threads/threads.js';
import { routesOf, SharedFiles } from '../../.build/engine/policies/keyed-policies.js';
import { Planner } from '../../.build/engine/rollout/planner.js';

const [swaps = '20', threads = '2', place = 'inline', crs = ''] = process.argv.slice(2);
const warmUpShare = 0.3;
const clients = 4;
const counts = { requests: 0, blocked: 0, failed: 0, deaths: 0, problems: {} };

const folder = mkdtempSync(join(tmpdir(), 'waf-swaps-'));
const files = new SharedFiles();
const origin = http.createServer((request, response) => {
  request.resume();
  response.end('from the origin');
});
await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));

/** Longest pause of a front thread's event loop since it was last looked at, in microseconds. */
const stall = new Int32Array(new SharedArrayBuffer(4));
const settings = {
  stall,
  place,
  poolThreads: 1,
  sharedSocket: true,
  cacheFolder: join(folder, 'databases'),
  collectionsFolder: join(folder, 'collections'),
  countryFile: join(folder, 'country.mmdb'),
  logLevel: 'error',
};
const planner = new Planner({
  entry: new URL('../../.build/engine/threads/planner-thread.js', import.meta.url),
  settings,
  onProgress: () => undefined,
});
const fronts = await startFrontThreads({
  entry: new URL('./stall-entry.mjs', import.meta.url),
  count: Number(threads),
  listen: { host: '127.0.0.1', port: 0 },
  routes: await routesFor(0),
  extra: settings,
  onEvents: () => undefined,
  onThreadDied: () => counts.deaths++,
});

let running = true;
const loops = Array.from({ length: clients }, (_, i) => loop(i));
const samples = [];
const stallsMs = [];
const quietStallsMs = [];
const started = performance.now();
for (let i = 1; i <= Number(swaps); i++) {
  const routes = await routesFor(i);
  Atomics.store(stall, 0, 0);
  if (i % 5 === 0) {
    // What the machine does to a thread that swaps nothing, for comparison.
    await new Promise((resolve) => setTimeout(resolve, 100));
    quietStallsMs.push(Atomics.exchange(stall, 0, 0) / 1000);
  }
  await fronts.apply(routes);
  planner.use(routes.inspection.shared);
  await requestsPass(clients);
  await new Promise((resolve) => setTimeout(resolve, 10));
  stallsMs.push(Atomics.load(stall, 0) / 1000);
  samples.push(process.memoryUsage().rss / 1024);
}
const seconds = (performance.now() - started) / 1000;
running = false;
await Promise.all(loops);
await fronts.drain();
await planner.close();
origin.close();
origin.closeAllConnections();
rmSync(folder, { recursive: true, force: true });
const warmUp = Math.floor(samples.length * warmUpShare);
const steady = samples.slice(warmUp);
process.stdout.write(
  `${JSON.stringify({
    swaps: samples.length,
    seconds: Math.round(seconds * 10) / 10,
    ...counts,
    rssMbByTenth: tenthsOf(samples).map((kb) => Math.round(kb / 1024)),
    stallMs: spreadOf(stallsMs.slice(warmUp)),
    quietStallMs: spreadOf(quietStallsMs),
    rssSlopeKbPerSwap: Math.round(slopeOf(steady) * 10) / 10,
  })}\n`,
);
process.exit(0);

/** The same site with one of two policies, which differ in a rule. */
async function routesFor(number) {
  const site = {
    id: 'site',
    name: 'site',
    hosts: ['*'],
    upstream: {
      id: 'up',
      scheme: 'http',
      endpoints: [{ host: '127.0.0.1', port: origin.address().port, weight: 1 }],
    },
    waf: { enabled: true, policyId: 'p', mode: 'blocking', failPolicy: 'closed' },
  };
  const revision = String(number);
  const policy = policyFor(number % 2);
  const routes = routesOf({ revision, sha256: '', sites: [site], policies: [policy] }, files);
  const { inspection } = routes;
  const { shared } = await planner.plan(inspection.policies[0]);
  return { ...routes, inspection: { ...inspection, shared } };
}

function policyFor(which) {
  const own = `SecRule ARGS "@rx attack${which}[0-9]+x" "id:10,phase:2,deny"`;
  const words = Array.from({ length: 200 }, (_, i) => `word${which}${i}`).join(' ');
  const text = `
SecRuleEngine On
SecRequestBodyAccess On
SecAction "id:1,phase:1,pass,nolog,setvar:tx.score=0"
SecRule ARGS|REQUEST_HEADERS "@rx (?i)evil(ness)?" "id:2,phase:2,deny,t:urlDecodeUni,t:lowercase"
SecRule ARGS "@pm ${words}" "id:3,phase:2,pass,log,t:htmlEntityDecode"
${own}
`;
  const base = { id: 'p', name: 'p', revision: String(which) };
  if (crs === '') return { ...base, seclangEntry: text, files: new Map() };
  const names = readdirSync(join(crs, 'rules')).filter((name) => /\.(conf|data)$/.test(name));
  const content = new Map(
    names.map((name) => [`rules/${name}`, readFileSync(join(crs, 'rules', name))]),
  );
  content.set('setup.conf', readFileSync(join(crs, 'crs-setup.conf.example')));
  const seclangEntry = `Include setup.conf\n${text}Include rules/*.conf\n`;
  return { ...base, seclangEntry, files: content };
}

/** Waits until `count` more requests were answered, within a time limit. */
async function requestsPass(count) {
  const wanted = counts.requests + count;
  const deadline = performance.now() + 2000;
  while (counts.requests < wanted && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Requests on one kept connection: nine that pass, then one that is blocked. */
async function loop(client) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = client; running; i++) {
    const attack = i % 10 === 0;
    const target = attack ? '/?q=EVILness' : `/?q=good${i}&r=${i}`;
    const result = await ask(agent, target);
    counts.requests++;
    if (attack && result === 403) counts.blocked++;
    if (result !== (attack ? 403 : 200)) {
      counts.failed++;
      counts.problems[result] = (counts.problems[result] ?? 0) + 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  agent.destroy();
}

function ask(agent, path) {
  return new Promise((resolve) => {
    const headers = { host: 'a.example', 'user-agent': 'swaps', accept: '*/*' };
    const port = fronts.port;
    const call = http.get({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
      response.on('error', (error) => resolve(error.code));
    });
    call.on('error', (error) => resolve(error.code));
  });
}

function spreadOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: sorted[sorted.length >> 1], max: sorted.at(-1) };
}

/** The mean of each tenth of the run. */
function tenthsOf(values) {
  const size = Math.max(1, Math.ceil(values.length / 10));
  const parts = [];
  for (let i = 0; i < values.length; i += size) parts.push(values.slice(i, i + size));
  return parts.map((part) => part.reduce((sum, one) => sum + one, 0) / part.length);
}

/** Least squares over the index. */
function slopeOf(values) {
  const meanX = (values.length - 1) / 2;
  const meanY = values.reduce((sum, y) => sum + y, 0) / values.length;
  let over = 0;
  let under = 0;
  values.forEach((y, x) => {
    over += (x - meanX) * (y - meanY);
    under += (x - meanX) ** 2;
  });
  return under === 0 ? 0 : over / under;
}
