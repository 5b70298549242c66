/** The command line of the whole-proxy benchmark: flags, their defaults and their help text. */

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

/** A proxy that somebody else started. */
export interface ExternalTarget {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly pid: number;
}

/** What the command line asks for. */
export interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  /** Before each counted run, see `turnWarmupSeconds`. */
  readonly turnWarmupSeconds: number;
  readonly connections: number;
  readonly workers: number;
  /** Names of targets, `*` for any text. */
  readonly only: readonly string[];
  /** Names of workloads; empty for all. */
  readonly workloads: readonly string[];
  /** Names of the loads that are sent at half of saturation, too. */
  readonly half: readonly string[];
  /** True when targets or loads were chosen: such a run does not replace a whole one. */
  readonly partial: boolean;
  readonly workloadFolder: string;
  readonly crs4: string | null;
  readonly out: string;
  readonly host: string;
  /** Fixed port of the origin, for external targets; 0 picks one. */
  readonly originPort: number;
  readonly inspection: readonly string[];
  readonly external: readonly ExternalTarget[];
  readonly pin: boolean;
  /** Notes how long this proxy's threads stand still. */
  readonly pauses: boolean;
  readonly hold: boolean;
  /** A commit that this tree is compared with; null: this tree beside its peers. */
  readonly against: string | null;
  readonly updateReadme: boolean;
}

/**
 * What is measured without `--only`; with the defaults the whole run takes a quarter of an hour.
 */
const usualTargets = [
  'nginx',
  'waf-off',
  'waf-off-uws',
  'waf-crs3-pl1',
  'waf-crs4-pl1*',
  'waf-crs4-pl2',
  'waf-light',
  'waf-standard',
  'nginx-modsec3-crs4-pl1',
] as const;

/** The help text. */
export const usage = `Measures this proxy beside others, interleaved, with the same load and the same rules.

  npm run bench:e2e -- [flags]

  --rounds N            rounds over all targets (2)
  --seconds N           load per target and round (2)
  --warmup N            seconds of uncounted load before; V8 compiles meanwhile (6)
  --connections N       open connections (16)
  --workers N|all       worker processes or threads of each proxy (1)
  --only A,B            targets by name; * stands for any text, alone for all there are
                        (${usualTargets.slice(0, 4).join(',')},
                        ${usualTargets.slice(4).join(',')})
  --workload X,Y        workloads by name
  --half X,Y            loads that are sent at half of saturation, too, for the tail of the
                        latency (get-six-arguments,get-new-values); none: ''
  --workloads DIR       folder of workload files (bench/workloads)
  --inspection A,B      where this proxy inspects: auto, inline, pool; each is a target of its own
  --crs4 DIR            an unpacked CRS 4 release (WAF_CORPUS_DIR/crs/4.28.0)
  --target NAME=URL:PID measures another proxy too; may be repeated. It must forward to the origin
                        of this run, see --origin-port
  --origin-port N       fixed port of the origin
  --against COMMIT      builds COMMIT in a folder of its own and compares this tree with it and with
                        nginx, all under load at once on the same CPUs, two processes of each
                        build; exits 1 where a figure is more than 3 % worse beyond the noise of
                        rounds and processes (12 rounds of 3 s)
  --short               with --against: three loads, two minutes and what the build takes
  --hold                start everything, print the addresses and wait
  --host NAME           Host of all requests (www.example.com)
  --no-pin              do not give proxies and load generator CPUs of their own
  --pauses              prints how long this proxy's threads stood still; costs it some CPU time
  --out DIR             where results go (bench/results)
  --update-readme       put the table into README.md too
`;

const flags = {
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  warmup: { type: 'string' },
  connections: { type: 'string', default: '16' },
  workers: { type: 'string', default: '1' },
  only: { type: 'string' },
  workload: { type: 'string' },
  half: { type: 'string' },
  workloads: { type: 'string' },
  inspection: { type: 'string', default: 'auto' },
  crs4: { type: 'string' },
  target: { type: 'string', multiple: true, default: [] as string[] },
  'origin-port': { type: 'string', default: '0' },
  hold: { type: 'boolean', default: false },
  against: { type: 'string' },
  short: { type: 'boolean', default: false },
  host: { type: 'string', default: 'www.example.com' },
  'no-pin': { type: 'boolean', default: false },
  pauses: { type: 'boolean', default: false },
  out: { type: 'string' },
  'update-readme': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/**
 * Uncounted load at the start of each turn: while the others have theirs, a target gives back
 * memory and its code leaves the caches, which no busy proxy does.
 */
export const turnWarmupSeconds = 1;

/** Defaults of a run beside peers, of a comparison with a commit, and of the short one. */
const wholeRun = {
  ...{ rounds: '2', seconds: '2', warmup: '6', turnWarmupSeconds },
  ...{ workload: '', half: 'get-six-arguments,get-new-values' },
};
const pair = {
  ...{ ...wholeRun, rounds: '12', seconds: '3', warmup: '10', half: '' },
  turnWarmupSeconds: 0,
};
const shortPair = {
  ...{ ...pair, rounds: '8', warmup: '6' },
  workload: 'get-new-values,form-1k-new,attack-mix',
};

/** Places that flags default to. */
export interface DefaultPlaces {
  readonly workloadFolder: string;
  readonly crs4: string;
  readonly out: string;
}

/** Reads the command line; null when it asks for help. Errors: says which flag is wrong. */
export function parseOptions(args: readonly string[], places: DefaultPlaces): BenchOptions | null {
  const { values } = parseArgs({ args: [...args], options: flags, strict: true });
  if (values.help) return null;
  if (values.short && values.against === undefined) {
    throw new Error('--short: goes with --against COMMIT');
  }
  const form = values.against === undefined ? wholeRun : values.short ? shortPair : pair;
  return {
    rounds: whole('--rounds', values.rounds ?? form.rounds, 1, 1000),
    seconds: whole('--seconds', values.seconds ?? form.seconds, 1, 3600),
    warmupSeconds: whole('--warmup', values.warmup ?? form.warmup, 0, 600),
    turnWarmupSeconds: form.turnWarmupSeconds,
    connections: whole('--connections', values.connections, 1, 4096),
    workers:
      values.workers === 'all'
        ? availableParallelism()
        : whole('--workers', values.workers, 1, 256),
    only: values.only === undefined ? usualTargets : list(values.only),
    workloads: list(values.workload ?? form.workload),
    half: list(values.half ?? form.half),
    partial: values.only !== undefined || (values.workload ?? '') !== '',
    workloadFolder: values.workloads ?? places.workloadFolder,
    crs4: values.crs4 ?? places.crs4,
    out: values.out ?? places.out,
    host: values.host,
    originPort: whole('--origin-port', values['origin-port'], 0, 65_535),
    inspection: inspections(values.inspection),
    external: values.target.map(parseTarget),
    pin: !values['no-pin'],
    pauses: values.pauses,
    hold: values.hold,
    against: values.against ?? null,
    updateReadme: values['update-readme'],
  };
}

/** The command for reports: without the flags that only say where files are. */
export function describeCommand(args: readonly string[]): string {
  const kept = args.filter((word, i) => {
    const flag = word.startsWith('--') ? word : (args[i - 1] ?? '');
    return !/^--(out|crs4|workloads|update-readme)\b/.test(flag);
  });
  return ['npm run bench:e2e', ...(kept.length > 0 ? ['--'] : []), ...kept].join(' ');
}

/** Reads `NAME=URL:PID`. */
export function parseTarget(text: string): ExternalTarget {
  const found = /^([\w.-]+)=(?:http:\/\/)?([\w.-]+):(\d+)\/?:(\d+)$/.exec(text);
  if (!found) throw new Error(`--target ${text}: expected NAME=http://HOST:PORT:PID`);
  const [, name, host, port, pid] = found;
  return { name: name!, host: host!, port: Number(port), pid: Number(pid) };
}

/** True when a name is asked for by a list of patterns; an empty list asks for all. */
export function isAskedFor(name: string, patterns: readonly string[]): boolean {
  if (patterns.length === 0) return true;
  return patterns.some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`).test(name);
  });
}

function inspections(text: string): string[] {
  const found = list(text);
  const wrong = found.find((one) => !['auto', 'inline', 'pool'].includes(one));
  if (wrong !== undefined) throw new Error(`--inspection ${wrong}: expected auto, inline or pool`);
  return found;
}

function list(text: string): string[] {
  return text.split(',').filter((part) => part !== '');
}

function whole(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${flag} ${text}: expected a whole number from ${min} to ${max}`);
}
