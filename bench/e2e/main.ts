/**
 * Composition of the whole-proxy benchmark: options, targets, rounds, results. Ends everything it
 * started, by process id, and removes its temporary folder.
 */

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildCommit, loadBuild } from './against-build.ts';
import { pairResult, pairTargets } from './against.ts';
import { freePort, stopAll } from './child-process.ts';
import { chooseTargets, hasProgram, type Candidate } from './line-up.ts';
import { startOrigin } from './nginx.ts';
import { describeCommand, isAskedFor, parseOptions, usage, type BenchOptions } from './options.ts';
import { describePauses, readPauses } from './pauses.ts';
import { readMachineFacts } from '../report/machine-facts.ts';
import { workloadSections, type Report } from './report.ts';
import { writeResults } from './results.ts';
import { runWorkload } from './rounds.ts';
import { availableRulesets, locateRulesets, templateRulesets, type Ruleset } from './ruleset.ts';
import { splitCpus, type CpuSplit } from './cpu-split.ts';
import { summarize, type RunRecord } from './summary.ts';
import type { Surroundings, Target } from './target.ts';
import { readWorkloads, type Workload } from './workload.ts';

const root = findRoot(dirname(fileURLToPath(import.meta.url)));
const began = performance.now();

function say(text: string): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(7);
  process.stderr.write(`${seconds}s  ${text}\n`);
}

/** The compiled copy of this file lies one folder deeper than its source. */
function findRoot(from: string): string {
  if (existsSync(join(from, 'package.json')) || dirname(from) === from) return from;
  return findRoot(dirname(from));
}

async function main(): Promise<number> {
  const corpus = process.env['WAF_CORPUS_DIR'] ?? join(root, '..', 'shared');
  const options = parseOptions(process.argv.slice(2), {
    workloadFolder: join(root, 'bench', 'workloads'),
    crs4: join(corpus, 'crs', '4.28.0'),
    out: join(root, 'bench', 'results'),
  });
  if (options === null) {
    process.stdout.write(usage);
    return 0;
  }
  if (!hasProgram('nginx') || !hasProgram('wrk')) {
    say('nginx (the origin) and wrk (the load) are needed:');
    say('  apt-get install -y --no-install-recommends nginx wrk');
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), 'waf-bench-'));
  chmodSync(folder, 0o755);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanUp(folder).then(() => process.exit(130)));
  }
  try {
    return await measure(options, folder);
  } finally {
    await cleanUp(folder);
  }
}

async function cleanUp(folder: string): Promise<void> {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(options: BenchOptions, folder: string): Promise<number> {
  const workloads = readWorkloads(options.workloadFolder, options.host).filter(({ name }) =>
    isAskedFor(name, options.workloads),
  );
  const folders = locateRulesets(options.crs4);
  if (folders.crs4 === null) say(`no CRS 4 in ${options.crs4}: give its folder with --crs4`);
  const rulesets = availableRulesets(folders);
  const databaseFolder = join(root, '.cache', 'bench-databases');
  if (options.against !== null) {
    return measureAgainst(options.against, {
      options,
      folder,
      workloads,
      rulesets,
      databaseFolder,
    });
  }
  const engineFile = join(root, '.build', 'engine', 'main.js');
  const { candidates, missing } = chooseTargets({
    rulesets,
    templates: templateRulesets(folders),
    only: options.only,
    inspection: options.inspection,
    pauses: options.pauses,
    engineFile: existsSync(engineFile) ? engineFile : null,
    databaseFolder,
  });
  for (const line of missing) say(line);
  const split = splitCpus(options.pin, options.workers, availableParallelism());
  const targets = await startTargets(candidates, options, split, folder);
  const startFailed = targets.length < candidates.length + options.external.length;
  if (options.hold) return hold(targets);
  const beganMs = Date.now();
  const machine = readMachine();
  const report = (runs: readonly RunRecord[], done: readonly Workload[]): Report =>
    toReport(options, split, { machine, targets, runs, workloads: done });
  // What was measured is kept, should the run be ended early.
  const keep = (runs: readonly RunRecord[], done: readonly Workload[]): void => {
    save(report(runs, done), options, false);
  };
  const runs = await runAll(workloads, targets, { options, split, folder, keep });
  const code = finish(report(runs, workloads), options);
  for (const { name } of targets) {
    const pauses = readPauses(join(folder, name, 'pauses'), beganMs);
    if (pauses !== null) say(`pauses of ${name}: ${describePauses(pauses)}`);
  }
  return startFailed ? 1 : code;
}

/** What a comparison with a commit is made of. */
interface PairPlan {
  readonly options: BenchOptions;
  readonly folder: string;
  readonly workloads: readonly Workload[];
  readonly rulesets: readonly Ruleset[];
  readonly databaseFolder: string;
}

/** Compares this tree with a commit; 1 where a figure is lost or a side does not run. */
async function measureAgainst(commit: string, plan: PairPlan): Promise<number> {
  const { options, folder, workloads, rulesets, databaseFolder } = plan;
  const ruleset = rulesets.find(({ name }) => name === 'crs4-pl1') ?? rulesets[0];
  if (ruleset === undefined) throw new Error('no rule set is here: give one with --crs4');
  say(`building ${commit}: some minutes, unless its build is kept from an earlier run`);
  const before = await buildCommit(root, commit, join(root, '.cache', 'bench-builds'));
  try {
    const now = await loadBuild(root, 'this-tree');
    const split = splitCpus(options.pin, options.workers, availableParallelism());
    const candidates = pairTargets(now, before, ruleset, databaseFolder);
    // Measured processes find their databases compiled: compiling keeps memory of its own.
    await startTargets(candidates, options, split, join(folder, 'prepared'));
    await Promise.all([stopAll(), before.stopAll()]);
    const targets = await startTargets(candidates, options, split, folder);
    if (targets.length < candidates.length) return 1;
    readMachine();
    const runs = await runAll(workloads, targets, { options, split, folder, keep: () => {} });
    const names = workloads.map(({ name }) => name);
    const { text, lost } = pairResult(runs, names, before);
    process.stdout.write(`${text}\n`);
    return lost ? 1 : 0;
  } finally {
    await before.stopAll();
  }
}

/** Facts of the machine; prints a note where other work keeps it busy. */
function readMachine(): Report['machine'] {
  const machine = readMachineFacts(programs);
  if (machine.loadBefore > busyLoad) {
    say(
      `other work keeps this machine busy (load ${machine.loadBefore.toFixed(1)}): rough figures`,
    );
  }
  return machine;
}

/** How all loads are run, and what is done after each. */
interface RunPlan {
  readonly options: BenchOptions;
  readonly split: CpuSplit;
  readonly folder: string;
  readonly keep: (runs: readonly RunRecord[], done: readonly Workload[]) => void;
}

/** Runs one load after the other against all targets. */
async function runAll(
  workloads: readonly Workload[],
  targets: readonly Target[],
  { options, split, folder, keep }: RunPlan,
): Promise<RunRecord[]> {
  const program = readFileSync(join(root, 'bench', 'e2e', 'load.lua'), 'utf8');
  const { rounds, seconds, warmupSeconds, turnWarmupSeconds, connections, workers } = options;
  const runs: RunRecord[] = [];
  for (const [at, workload] of workloads.entries()) {
    runs.push(
      ...(await runWorkload(workload, targets, {
        ...{ rounds, seconds, warmupSeconds, turnWarmupSeconds, connections },
        loadThreads: workers > 1 ? Math.min(workers, connections) : 1,
        prefix: split.load,
        folder,
        program,
        half: options.half.includes(workload.name),
        together: options.against !== null,
        say,
      })),
    );
    keep(runs, workloads.slice(0, at + 1));
  }
  return runs;
}

/** Starts the origin and then one target after the other; one that fails to start is left out. */
async function startTargets(
  candidates: readonly Candidate[],
  options: BenchOptions,
  split: CpuSplit,
  folder: string,
): Promise<Target[]> {
  const originPort = options.originPort || (await freePort());
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const place = async (name: string, port = 0): Promise<Surroundings> => {
    const own = join(folder, name);
    mkdirSync(own, { mode: 0o755 });
    const { workers, connections, host } = options;
    return {
      folder: own,
      port: port || (await freePort()),
      originPort,
      workers,
      connections,
      host,
      prefix: split.proxy,
    };
  };
  const origin = await place('origin', originPort);
  await startOrigin({ ...origin, prefix: split.load });
  say(`origin on 127.0.0.1:${originPort}`);
  const targets: Target[] = [];
  for (const candidate of candidates) {
    const where = await place(candidate.name);
    say(`starting ${candidate.name}`);
    try {
      const { pid } = await candidate.start(where);
      const { name, title, expectation, baseline } = candidate;
      targets.push({
        ...{ name, title, expectation, baseline },
        ...{ host: '127.0.0.1', port: where.port, pid },
      });
      say(`${name} on 127.0.0.1:${where.port}, process ${pid}`);
    } catch (error) {
      say(`${candidate.name}: left out, did not start: ${(error as Error).message}`);
    }
  }
  return [...targets, ...options.external.map(externalTarget)];
}

function externalTarget(external: BenchOptions['external'][number]): Target {
  return { ...external, title: external.name, expectation: null, baseline: null };
}

/** Keeps everything running until a signal comes. */
async function hold(targets: readonly Target[]): Promise<never> {
  for (const { name, port } of targets) process.stdout.write(`${name} http://127.0.0.1:${port}\n`);
  say('holding; interrupt to end');
  return new Promise(() => undefined);
}

/** Commands that print the versions of what takes part. */
const programs = {
  nginx: ['nginx', '-v'],
  'Apache httpd': ['/usr/sbin/apache2', '-v'],
  'ModSecurity 3': ['dpkg-query', '-W', 'libmodsecurity3'],
  'ModSecurity 2': ['dpkg-query', '-W', 'libapache2-mod-security2'],
  wrk: ['wrk', '-v'],
} as const;

/** One-minute load average above which figures are rough. */
const busyLoad = 0.7;

function toReport(
  options: BenchOptions,
  split: CpuSplit,
  measured: Pick<Report, 'machine' | 'runs' | 'targets'> & { workloads: readonly Workload[] },
): Report {
  const { workloads, targets, runs } = measured;
  const { rounds, seconds, warmupSeconds, connections, workers } = options;
  const names = workloads.map(({ name }) => name);
  return {
    ...measured,
    workloads: workloads.map(({ name, title, fresh, requests }) => ({
      ...{ name, title, fresh },
      variants: requests.length,
    })),
    cells: summarize(runs, names, targets),
    settings: {
      ...{ rounds, seconds, warmupSeconds, connections, workers },
      pinned: split.proxy.length > 0,
      command: describeCommand(process.argv.slice(2)),
    },
  };
}

/** A run of chosen targets or workloads does not take the place of a whole one unasked. */
function save(
  report: Report,
  options: BenchOptions,
  last: boolean,
): ReturnType<typeof writeResults> {
  const complete = last && (!options.partial || options.updateReadme);
  return writeResults(report, {
    folder: complete ? options.out : join(options.out, 'partial'),
    readme: last && options.updateReadme ? join(root, 'README.md') : null,
    root,
  });
}

function finish(report: Report, options: BenchOptions): number {
  const files = save(report, options, true);
  process.stdout.write(`${workloadSections(report)}\n\n${files.overview}\n`);
  for (const file of files.written) say(`wrote ${relative(process.cwd(), file)}`);
  const failed = report.cells.filter(({ runs }) => runs === 0);
  for (const { workload, target, faults } of failed) {
    say(`does not count: ${target} under ${workload}: ${faults.join('; ')}`);
  }
  return failed.length === 0 ? 0 : 1;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  },
);
