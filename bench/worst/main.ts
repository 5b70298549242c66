/** Composition of the search for the costliest requests: options, policies, rounds, table. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { buildOptions } from '../micro/policy.ts';
import { describeMachine, readMachineFacts } from '../report/machine-facts.ts';
import { formatNumber, markdownTable } from '../report/table.ts';
import { render, shapes, type Candidate, type Shape } from './candidate.ts';
import { measureOnce, type Cost } from './measure.ts';
import { buildSearched, searchedRulesets } from './policies.ts';
import { searchShape, startDice } from './search.ts';
import { tableOfShortValues } from './short-values.ts';
import { tableOfSockets } from './sockets.ts';
import { tokensOf } from './tokens.ts';

const usage = `Searches for the requests that cost the most CPU time.

  npm run bench:worst -- [flags]

  --policies A,B  crs4-pl1 … crs4-pl4, crs3-pl1 … crs3-pl4, light, standard (all)
  --shapes A,B    ${shapes.join(', ')} (all)
  --sizes A,B     64k, 1m (both)
  --tries N       candidates of one shape, size and policy (300)
  --seed N        repeats a search (1)
  --replay FILE   measures the candidates of a result instead of searching
  --crs4 DIR      an unpacked CRS 4 release (WAF_CORPUS_DIR/crs/4.28.0)
  --out DIR       where results go (bench/results)
  --values        prints requests with 900 short values instead of searching
  --sockets       prints WebSockets with 9,000 short messages instead
`;

/** Upper bounds of the classes, and the CPU time that no request of the class may take. */
const sizes = [
  { name: '64k', bytes: 65_536, goalMs: 20 },
  { name: '1m', bytes: 1_048_576, goalMs: 100 },
] as const;

type Size = (typeof sizes)[number];

/** Requests in a table. */
const shownMax = 10;
/** Runs of a candidate that counts; the quickest is its cost. */
const confirmations = 3;

interface Found extends Cost {
  readonly policy: string;
  readonly size: string;
  readonly candidate: Candidate;
}

interface Choice {
  readonly policies: readonly string[];
  readonly shapes: readonly Shape[];
  readonly sizes: readonly Size[];
  readonly tries: number;
  readonly seed: number;
  readonly replay: string;
  readonly crs4: string;
  readonly out: string;
  readonly values: boolean;
  readonly sockets: boolean;
}

const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The compiled copy of this file lies one folder deeper than its source. */
function findRoot(from: string): string {
  if (existsSync(join(from, 'package.json')) || dirname(from) === from) return from;
  return findRoot(dirname(from));
}

function readChoice(): Choice | null {
  const corpus = process.env['WAF_CORPUS_DIR'] ?? join(root, '..', 'shared');
  const { values } = parseArgs({
    options: {
      policies: { type: 'string', default: '' },
      shapes: { type: 'string', default: '' },
      sizes: { type: 'string', default: '' },
      tries: { type: 'string', default: '300' },
      seed: { type: 'string', default: '1' },
      replay: { type: 'string', default: '' },
      crs4: { type: 'string', default: join(corpus, 'crs', '4.28.0') },
      out: { type: 'string', default: join(root, 'bench', 'results') },
      values: { type: 'boolean', default: false },
      sockets: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const tries = Number(values.tries);
  if (!(tries >= 1 && tries <= 1_000_000)) throw new Error('--tries: expected 1 to 1000000');
  const { crs4, out, replay } = values;
  return {
    policies: words(values.policies),
    shapes: chosen('--shapes', words(values.shapes), shapes, (one) => one),
    sizes: chosen('--sizes', words(values.sizes), sizes, ({ name }) => name),
    tries,
    seed: Number(values.seed),
    replay,
    crs4,
    out,
    values: values.values,
    sockets: values.sockets,
  };
}

function words(text: string): string[] {
  return text.split(',').filter(Boolean);
}

/** The named ones, or all; a name that does not exist is an error. */
function chosen<T>(
  flag: string,
  names: readonly string[],
  from: readonly T[],
  nameOf: (one: T) => string,
): T[] {
  const unknown = names.find((name) => !from.some((one) => nameOf(one) === name));
  if (unknown !== undefined) {
    throw new Error(`${flag} ${unknown}: expected ${from.map(nameOf).join(', ')}`);
  }
  return from.filter((one) => names.length === 0 || names.includes(nameOf(one)));
}

async function main(): Promise<void> {
  const choice = readChoice();
  if (choice === null) {
    process.stdout.write(usage);
    return;
  }
  const cacheFolder = join(root, '.cache', 'bench-databases');
  if (choice.values) {
    process.stdout.write(tableOfShortValues(cacheFolder, choice.crs4));
    return;
  }
  if (choice.sockets) {
    process.stdout.write(await tableOfSockets(join(root, '.cache'), choice.crs4));
    return;
  }
  const rulesets = chosen('--policies', choice.policies, searchedRulesets(choice.crs4), (one) => {
    return one.name;
  });
  const earlier = choice.replay === '' ? null : readFound(choice.replay);
  const found: Found[] = [];
  for (const ruleset of rulesets) {
    process.stderr.write(`${ruleset.name}: preparing\n`);
    const engine = buildSearched(ruleset, buildOptions(cacheFolder));
    const search = new EngineSearch(engine, ruleset.name, choice);
    found.push(...(earlier === null ? search.run() : search.replay(earlier)));
    engine.retire();
  }
  writeResults(choice, found);
}

/** The search with one policy. */
class EngineSearch {
  private readonly engine: PolicyEngine;
  private readonly policy: string;
  private readonly choice: Choice;
  private runs = 0;

  constructor(engine: PolicyEngine, policy: string, choice: Choice) {
    this.engine = engine;
    this.policy = policy;
    this.choice = choice;
  }

  run(): Found[] {
    const tokens = tokensOf(this.engine.plan);
    const found: Found[] = [];
    for (const size of this.choice.sizes) {
      for (const shape of this.choice.shapes) {
        // A head is never larger than the small class.
        if (size.name !== '64k' && headShapes.has(shape)) continue;
        const dice = startDice(this.choice.seed);
        const kept = searchShape(shape, this.choice.tries, tokens, dice, (candidate) => {
          return this.measure(candidate, size)?.cpuMs ?? null;
        });
        const costliest = kept.flatMap(({ candidate }) => this.confirm(candidate, size));
        costliest.sort((a, b) => b.cpuMs - a.cpuMs);
        found.push(...costliest);
        tell(costliest[0]);
      }
    }
    return found;
  }

  replay(earlier: readonly Found[]): Found[] {
    return earlier
      .filter(({ policy }) => policy === this.policy)
      .flatMap(({ candidate, size }) => {
        const wanted = sizes.find(({ name }) => name === size);
        return wanted === undefined ? [] : this.confirm(candidate, wanted);
      });
  }

  private confirm(candidate: Candidate, size: Size): Found[] {
    let best: Cost | null = null;
    for (let n = 0; n < confirmations; n++) {
      const cost = this.measure(candidate, size);
      if (cost !== null && (best === null || cost.cpuMs < best.cpuMs)) best = cost;
    }
    return best === null ? [] : [{ ...best, policy: this.policy, size: size.name, candidate }];
  }

  /** Every run has values that the engine has never seen: it remembers what it scanned. */
  private measure(candidate: Candidate, size: Size): Cost | null {
    const salt = (this.runs++).toString(36).padStart(4, 'q');
    return measureOnce(this.engine, render(candidate, size.bytes, salt));
  }
}

const headShapes: ReadonlySet<Shape> = new Set(['path', 'query', 'headers', 'cookies', 'answer']);

function tell(found: Found | undefined): void {
  if (found === undefined) return;
  const { policy, size, cpuMs, candidate, failure } = found;
  const { shape, items, value } = candidate;
  const what = `${items} x ${JSON.stringify(value)} ${failure}`;
  process.stderr.write(`${policy} ${size} ${shape.padEnd(9)} ${cpuMs.toFixed(1)} ms ${what}\n`);
}

function readFound(file: string): Found[] {
  return (JSON.parse(readFileSync(file, 'utf8')) as { found: Found[] }).found;
}

function writeResults({ sizes: classes, out, tries, seed }: Choice, found: readonly Found[]): void {
  const sections = classes.map((size) => {
    const ordered = found.filter((one) => one.size === size.name);
    ordered.sort((a, b) => b.cpuMs - a.cpuMs);
    const over = ordered.filter(({ cpuMs }) => cpuMs > size.goalMs).length;
    const title = `## Requests below ${size.bytes / 1024} KB; goal ${size.goalMs} ms`;
    const sum = `${over} of ${ordered.length} kept candidates are above the goal.`;
    return `${title}\n\n${table(spread(ordered))}\n\n${sum}`;
  });
  const machine = readMachineFacts();
  const note = `Costliest request found of each policy and place, ${tries} tries each, seed ${seed}.`;
  const head = ['# Worst requests', note, `${describeMachine(machine)}.`];
  const page = [...head, ...sections, ''].join('\n\n');
  mkdirSync(out, { recursive: true });
  const file = join(out, 'worst.json');
  writeFileSync(file, `${JSON.stringify({ machine, found }, null, 1)}\n`);
  writeFileSync(join(out, 'worst.md'), page);
  process.stdout.write(page);
  process.stderr.write(`wrote ${relative(process.cwd(), file)} and worst.md beside it\n`);
}

/** The costliest of each policy and place, so that ten variants of one do not fill the table. */
function spread(ordered: readonly Found[]): Found[] {
  const seen = new Set<string>();
  return ordered
    .filter(({ policy, candidate: { shape } }) => {
      const name = `${policy} ${shape}`;
      if (seen.has(name)) return false;
      seen.add(name);
      return true;
    })
    .slice(0, shownMax);
}

function table(found: readonly Found[]): string {
  const rows = found.map(({ policy, cpuMs, bytes, matches, endedIn, failure, candidate }) => [
    policy,
    candidate.shape,
    formatNumber(cpuMs),
    formatNumber((1e6 * cpuMs) / bytes),
    String(matches),
    failure === '' ? (endedIn === 0 ? 'passed' : `ended in phase ${endedIn}`) : failure,
    describe(candidate),
  ]);
  const heads = ['policy', 'place', 'CPU ms', 'ns/byte', 'matches', 'outcome', 'request'];
  return markdownTable(heads, rows);
}

function describe({ items, name, nameBytes, lead, value, ...more }: Candidate): string {
  const flags = (['distinct', 'listed', 'encoded'] as const).filter((flag) => more[flag]);
  const text = `${items} items; name ${show(name)} to ${nameBytes} bytes; value ${show([lead, ...value])}`;
  const depth = more.depth === 0 ? [] : [`depth ${more.depth}`];
  return [text, ...depth, ...flags].join('; ').replaceAll('|', '\\|');
}

function show(list: readonly string[]): string {
  return `\`${JSON.stringify(list.filter(Boolean).join('·')).replaceAll('`', "'")}\``;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
