/** Composition of the micro benchmarks: options, groups, results as JSON and Markdown. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { availableRulesets, locateRulesets, type Ruleset } from '../e2e/ruleset.ts';
import { describeMachine, readMachineFacts } from '../report/machine-facts.ts';
import { formatNumber, markdownTable } from '../report/table.ts';
import { bodyGroup } from './bodies.ts';
import { inlineGroup, pooledGroup } from './evaluation.ts';
import { runGroup, type MicroGroup, type MicroResult } from './group.ts';
import { apiCheckGroup } from './api-checks.ts';
import { detectionGroup } from './detection.ts';
import { guardGroup } from './guards.ts';
import { httpHeadGroup } from './http-heads.ts';
import { buildLight, largeBodyGroup } from './large-bodies.ts';
import { buildPolicy, policySource } from './policy.ts';
import { startPool } from './pool.ts';
import { readShapes } from './samples.ts';
import { scanGroup } from './scans.ts';
import { transformationGroup } from './transformations.ts';
import { upstreamGroup } from './upstream-client.ts';

const usage = `Times the parts of the engine, one at a time.

  npm run bench -- [flags]

  --only A,B    groups: http, guards, api-checks, detection, transformations, scans, bodies,
                evaluation-inline, evaluation-pool, large-bodies, upstream
  --task TEXT   tasks whose name holds the text
  --time N      milliseconds per task (500)
  --crs4 DIR    an unpacked CRS 4 release (WAF_CORPUS_DIR/crs/4.28.0); CRS 3 without it
  --out DIR     where results go (bench/results)
`;

const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The compiled copy of this file lies one folder deeper than its source. */
function findRoot(from: string): string {
  if (existsSync(join(from, 'package.json')) || dirname(from) === from) return from;
  return findRoot(dirname(from));
}

interface Choice {
  readonly only: readonly string[];
  readonly task: string;
  readonly timeMs: number;
  readonly ruleset: Ruleset;
  readonly crs4: string;
  readonly out: string;
}

function readChoice(): Choice | null {
  const corpus = process.env['WAF_CORPUS_DIR'] ?? join(root, '..', 'shared');
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      task: { type: 'string', default: '' },
      time: { type: 'string', default: '500' },
      crs4: { type: 'string', default: join(corpus, 'crs', '4.28.0') },
      out: { type: 'string', default: join(root, 'bench', 'results') },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const sets = availableRulesets(locateRulesets(values.crs4));
  const ruleset = sets.find(({ name }) => name === 'crs4-pl1') ?? sets[0];
  if (ruleset === undefined) throw new Error('no CRS: give its folder with --crs4');
  const timeMs = Number(values.time);
  if (!(timeMs >= 10 && timeMs <= 600_000)) throw new Error('--time: expected 10 to 600000');
  const { task, out } = values;
  return {
    only: values.only.split(',').filter(Boolean),
    task,
    timeMs,
    ruleset,
    crs4: values.crs4,
    out,
  };
}

/** Groups are made one after another: each holds memory and threads only while it runs. */
function groupMakers(
  ruleset: Ruleset,
  crs4: string,
): Record<string, () => MicroGroup | Promise<MicroGroup>> {
  const shapes = readShapes(join(root, 'bench', 'workloads'));
  const cacheFolder = join(root, '.cache', 'bench-databases');
  const withEngine = (make: (engine: ReturnType<typeof buildPolicy>) => MicroGroup): MicroGroup => {
    const engine = buildPolicy(ruleset, cacheFolder);
    return { ...make(engine), close: () => engine.retire() };
  };
  return {
    http: () => httpHeadGroup(shapes),
    guards: () => guardGroup(),
    'api-checks': () => apiCheckGroup(),
    detection: () => detectionGroup(),
    transformations: transformationGroup,
    scans: () => withEngine((engine) => scanGroup(engine.plan)),
    bodies: () => withEngine((engine) => bodyGroup(shapes, engine.plan.settings)),
    'evaluation-inline': () => withEngine((engine) => inlineGroup(shapes, engine)),
    'evaluation-pool': async () => {
      const { inspector, close } = await startPool(policySource(ruleset), cacheFolder);
      return pooledGroup(shapes, inspector, close);
    },
    'large-bodies': () => {
      const engine = buildLight(ruleset, crs4, cacheFolder);
      return { ...largeBodyGroup(engine), close: () => engine.retire() };
    },
    upstream: upstreamGroup,
  };
}

async function main(): Promise<void> {
  const choice = readChoice();
  if (choice === null) {
    process.stdout.write(usage);
    return;
  }
  const { only, task, timeMs, ruleset, crs4, out } = choice;
  const machine = readMachineFacts();
  const makers = groupMakers(ruleset, crs4);
  const unknown = only.find((name) => !Object.hasOwn(makers, name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there is no such group`);
  const results: MicroResult[] = [];
  const titles = new Map<string, string>();
  for (const [name, make] of Object.entries(makers)) {
    if (only.length > 0 && !only.includes(name)) continue;
    process.stderr.write(`${name}: preparing\n`);
    const group = await make();
    titles.set(name, group.title);
    const tasks = group.tasks.filter((one) => one.name.includes(task));
    results.push(...(await runGroup({ ...group, tasks }, timeMs, progress)));
  }
  const sections = [...titles].map(([name, title]) => `## ${title}\n\n${table(results, name)}`);
  const note =
    'Each part runs alone and over and over, so caches are warm: inside the proxy, between sockets ' +
    'and other requests, it costs more. Requests of most shapes repeat their values, which the engine ' +
    'remembers; those called new do not. Use these to compare versions, `bench:e2e` for the price.';
  const head = ['# Micro benchmarks', note, `${describeMachine(machine)}.`];
  const page = [...head, ...sections, ''].join('\n\n');
  const folder = only.length === 0 && task === '' ? out : join(out, 'partial');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'micro.json');
  writeFileSync(file, `${JSON.stringify({ machine, ruleset: ruleset.title, results }, null, 1)}\n`);
  writeFileSync(join(folder, 'micro.md'), page);
  process.stdout.write(page);
  process.stderr.write(`wrote ${relative(process.cwd(), file)} and micro.md beside it\n`);
}

function progress({ group, name, medianUs, cpuUs }: MicroResult): void {
  const figures = `${formatNumber(medianUs)} us, CPU ${formatNumber(cpuUs)} us`;
  process.stderr.write(`${group.padEnd(18)} ${name.padEnd(40)} ${figures}\n`);
}

function table(results: readonly MicroResult[], group: string): string {
  const rows = results
    .filter((result) => result.group === group)
    .map(({ name, medianUs, minUs, p99Us, cpuUs }) => [
      name,
      ...[medianUs, minUs, p99Us, cpuUs].map(formatNumber),
    ]);
  return markdownTable(['µs per call', 'median', 'min', 'p99', 'CPU'], rows);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
