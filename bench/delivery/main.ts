/**
 * Composition of the delivery benchmark: this proxy with the WAF off and on beside nginx, under
 * TLS handshakes, HTTP/2 and HTTP/1.1 over TLS. Ends everything that it started.
 */

import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeCertificate } from '../../engine/upstream/test-certificate.ts';
import { freePort, stopAll, type Started } from '../e2e/child-process.ts';
import { splitCpus, type CpuSplit } from '../e2e/cpu-split.ts';
import { hasProgram } from '../e2e/line-up.ts';
import { startOrigin, startSecureProxy } from '../e2e/nginx.ts';
import { readTree } from '../e2e/process-tree.ts';
import { startProduct } from '../e2e/product.ts';
import { availableRulesets, locateRulesets, type Ruleset } from '../e2e/ruleset.ts';
import type { Surroundings } from '../e2e/target.ts';
import { describeMachine, readMachineFacts } from '../report/machine-facts.ts';
import { loads, runH2load, type Load, type LoadSize } from './h2load.ts';
import { baseline, deliveryTable, judged, type DeliveryRun } from './report.ts';

const usage = `Usage: npm run bench:delivery -- [options]

  --rounds N         rounds in which every target has its turn (5)
  --requests N       requests of a run (40000)
  --handshakes N     TLS handshakes of a run (3000)
  --rate N           handshakes a second (500)
  --connections N    connections of a run of requests (16)
  --crs4 FOLDER      an unpacked CRS 4; without it the WAF reads Debian's CRS 3
  --out FOLDER       where delivery.md and delivery.json go (bench/results)
`;
const options = {
  rounds: { type: 'string', default: '5' },
  requests: { type: 'string', default: '40000' },
  handshakes: { type: 'string', default: '3000' },
  rate: { type: 'string', default: '500' },
  connections: { type: 'string', default: '16' },
  crs4: { type: 'string' },
  out: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

const host = 'bench.example';
const countMax = 1_000_000;
/** Connections of a run, and handshakes: each is a descriptor of h2load. */
const descriptorsMax = 20_000;

interface Target {
  readonly name: string;
  readonly title: string;
  readonly port: number;
  readonly pid: number;
}

interface Plan {
  readonly rounds: number;
  readonly size: LoadSize;
  readonly split: CpuSplit;
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The compiled copy of this file lies one folder deeper than its source. */
function findRoot(from: string): string {
  if (existsSync(join(from, 'package.json')) || dirname(from) === from) return from;
  return findRoot(dirname(from));
}

function count(name: string, text: string, most = countMax): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new Error(`--${name} takes a whole number from 1 to ${most}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options });
  if (values.help) return void process.stdout.write(usage);
  for (const program of ['nginx', 'h2load']) {
    if (hasProgram(program)) continue;
    const packages = 'nginx nghttp2-client';
    throw new Error(
      `${program} is missing: apt-get install -y --no-install-recommends ${packages}`,
    );
  }
  const plan: Plan = {
    rounds: count('rounds', values.rounds, 100),
    size: {
      requests: count('requests', values.requests),
      handshakes: count('handshakes', values.handshakes, descriptorsMax),
      connections: count('connections', values.connections, descriptorsMax),
      handshakesPerSecond: count('rate', values.rate, descriptorsMax),
    },
    split: splitCpus(true, 1, availableParallelism()),
  };
  const corpus = process.env['WAF_CORPUS_DIR'] ?? join(root, '..', 'shared');
  const sets = availableRulesets(locateRulesets(values.crs4 ?? join(corpus, 'crs', '4.28.0')));
  const ruleset = sets.find(({ name }) => name === 'crs4-pl1') ?? sets[0] ?? null;
  if (ruleset === null) say('no rule set here: the WAF on is left out; see --crs4');
  const folder = mkdtempSync(join(tmpdir(), 'waf-delivery-'));
  chmodSync(folder, 0o755);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanUp(folder).then(() => process.exit(130)));
  }
  try {
    const targets = await startTargets(folder, plan, ruleset);
    report(await measure(targets, plan), targets, plan, values.out ?? join(root, 'bench/results'));
  } finally {
    await cleanUp(folder);
  }
}

async function cleanUp(folder: string): Promise<void> {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}

/** Starts the origin and the targets, all with one certificate. */
async function startTargets(
  folder: string,
  { size, split }: Plan,
  ruleset: Ruleset | null,
): Promise<Target[]> {
  const originPort = await freePort();
  const place = async (name: string, prefix = split.proxy, port = 0): Promise<Surroundings> => {
    const own = join(folder, name);
    mkdirSync(own, { mode: 0o755 });
    const { connections } = size;
    port ||= await freePort();
    return { folder: own, port, originPort, workers: 1, connections, host, prefix };
  };
  await startOrigin(await place('origin', split.load, originPort));
  const certificate = makeCertificate(host);
  const certificateFile = join(folder, 'certificate.pem');
  const keyFile = join(folder, 'key.pem');
  writeFileSync(certificateFile, certificate.certificatePem);
  writeFileSync(keyFile, certificate.privateKeyPem, { mode: 0o600 });
  const product = async (where: Surroundings, rules: Ruleset | null): Promise<Started> =>
    startProduct(where, {
      engineFile: join(root, '.build', 'engine', 'main.js'),
      ...{ ruleset: rules, inspection: 'auto', listener: 'strict', pauses: false },
      databaseFolder: join(root, '.cache', 'bench-databases'),
      secure: { ...certificate, plainPort: await freePort() },
    });
  const targets: Target[] = [];
  const begin = async (
    name: string,
    title: string,
    start: (where: Surroundings) => Promise<Started>,
  ): Promise<void> => {
    say(`starting ${title}`);
    const where = await place(name);
    const { pid } = await start(where);
    targets.push({ name, title, port: where.port, pid });
  };
  await begin(baseline, 'nginx', (where) => startSecureProxy(where, { certificateFile, keyFile }));
  await begin(judged, 'waf, inspection off', (where) => product(where, null));
  if (ruleset !== null) {
    await begin('waf-on', `waf, ${ruleset.title}`, (where) => product(where, ruleset));
  }
  return targets;
}

/** Every load, every round, every target; the order of targets changes from round to round. */
async function measure(targets: readonly Target[], plan: Plan): Promise<DeliveryRun[]> {
  const runs: DeliveryRun[] = [];
  for (const load of loads) {
    // Not counted: code gets compiled, connections to the origin are opened.
    for (const target of targets) await runOnce(load, target, 0, plan);
    for (let round = 1; round <= plan.rounds; round++) {
      for (let at = 0; at < targets.length; at++) {
        const run = await runOnce(load, targets[(at + round - 1) % targets.length]!, round, plan);
        const { target, cpuUs, perSecond, fault } = run;
        const figures = `${cpuUs.toFixed(1)} us CPU, ${perSecond.toFixed(0)} a second`;
        say(`${round}/${plan.rounds} ${load.name} ${target}: ${figures} ${fault}`);
        runs.push(run);
      }
    }
  }
  return runs;
}

async function runOnce(
  load: Load,
  target: Target,
  round: number,
  { size, split }: Plan,
): Promise<DeliveryRun> {
  const before = readTree(target.pid);
  const counts = await runH2load(load, size, { host, port: target.port, prefix: split.load });
  const after = readTree(target.pid);
  const { requests, good, tls, seconds } = counts;
  const wrong = good === requests ? '' : `${requests - good} of ${requests} requests failed`;
  return {
    ...{ load: load.name, target: target.name, round },
    cpuUs: (after.cpuUs - before.cpuUs) / requests,
    perSecond: requests / seconds,
    rssBytes: after.rssBytes,
    fault: tls === 'TLSv1.3' ? wrong : `the handshake was ${tls || 'unknown'}, not TLSv1.3`,
  };
}

function report(
  runs: readonly DeliveryRun[],
  targets: readonly Target[],
  { rounds, size }: Plan,
  out: string,
): void {
  const machine = readMachineFacts({ nginx: ['nginx', '-v'], h2load: ['h2load', '--version'] });
  const page = [
    '# Delivery benchmark',
    deliveryTable(runs, loads, targets),
    `Medians of ${rounds} rounds in which every target has its turn; one worker each, one ECDSA ` +
      `P-256 certificate, TLS 1.3, no resumption; ${size.handshakes} handshakes at ` +
      `${size.handshakesPerSecond} a second, ${size.requests} requests over ${size.connections} ` +
      'connections. CPU is user and system time of all processes of the proxy.',
    describeMachine(machine),
    '',
  ].join('\n\n');
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'delivery.md'), page);
  writeFileSync(
    join(out, 'delivery.json'),
    `${JSON.stringify({ machine, size, runs }, null, 1)}\n`,
  );
  process.stdout.write(page);
  const faults = runs.filter(({ fault }) => fault !== '');
  for (const { load, target, fault } of faults) say(`does not count: ${target}, ${load}: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

main().catch((error: unknown) => {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
