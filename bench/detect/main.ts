/** Composition of the bench of detection: corpora, policy, figures, and training where asked. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { detectors } from '../../engine/detect/list.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { faultFiguresOf, figuresOf, figuresTable, scoreOf, type JudgedBy } from './figures.ts';
import { blindedMax, daysReport, simulateDays } from './day/report.ts';
import { attackForms } from './attack-forms.ts';
import { describeFuzzed, fuzz } from './fuzz/fuzz.ts';
import { observe, observeAll, type Observation } from './observe.ts';
import { buildJudgedPolicy, rulesetNames, type RulesetName } from './policy.ts';
import { isExcessive, patchSharesOf, patchSharesTable } from './patch-shares.ts';
import { buildPatches } from './patches.ts';
import { placeOf, readRequests, type LabelledRequest } from './requests.ts';
import { formsTable, judgeForms, samplePayloads } from './robust.ts';
import { aloneTable, thresholdsTable } from './thresholds.ts';
import { leaveOutEach } from './train/left-out.ts';
import { train, type Training } from './train/train.ts';
import { requestWith } from './value-request.ts';

const usage = `Judges what is refused of labelled requests, and trains the points of the score.

  npm run bench:detect -- [flags] [FILE or FOLDER ...]

  Files hold JSON lines (also .gz): id, label (attack or benign), class, and wire_b64 (a whole
  request) or text (a value, which is judged in a query and in a form).
  Default: WAF_CORPUS_DIR/corpus/detect.
  Exit code 1: a virtual patch alone refuses more than one in 10,000 benign requests.

  --ruleset NAME    crs4 (default), crs3 or none
  --template NAME   Light (default), Standard or Strict
  --crs4 DIR        an unpacked CRS 4 release (WAF_CORPUS_DIR/crs/4.28.0)
  --part NAME       all (default); train or test: one half of the groups each
  --seed N          of the split and of training (1)
  --limit N         requests of each file at most
  --train           train on these requests and write weights
  --without SOURCE  with --train: leave a file out, and print what it then gives; each: every
                    file with attacks in turn, beside what training with it gives
  --out FILE        weights (engine/detect/weights/RULESET.weights.json)
  --forms N         instead: N payloads of each class in prose, filler and encodings
  --fuzz N          instead: N mutants of SQL and of shells that SQLite and sh run
  --day             instead: days of a site that learns; each class of benign texts is what people
                    write in one parameter, attacks are sent to those that were learned
  --thresholds      also: shares of each class that reach each threshold, and what each detector
                    that refuses alone refuses that no other sign does
  --misses N        print N attacks of each class that pass, and N benign that are refused
`;

const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The compiled copy of this file lies one folder deeper than its source. */
function findRoot(from: string): string {
  if (existsSync(join(from, 'package.json')) || dirname(from) === from) return from;
  return findRoot(dirname(from));
}

function readChoice() {
  const shared = process.env['WAF_CORPUS_DIR'] ?? join(root, '..', 'shared');
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      ruleset: { type: 'string', default: 'crs4' },
      template: { type: 'string', default: 'Light' },
      crs4: { type: 'string', default: join(shared, 'crs', '4.28.0') },
      part: { type: 'string', default: 'all' },
      seed: { type: 'string', default: '1' },
      limit: { type: 'string', default: '0' },
      train: { type: 'boolean', default: false },
      without: { type: 'string', default: '' },
      out: { type: 'string', default: '' },
      misses: { type: 'string', default: '0' },
      forms: { type: 'string', default: '0' },
      fuzz: { type: 'string', default: '0' },
      day: { type: 'boolean', default: false },
      thresholds: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const ruleset = rulesetNames.find((name) => name === values.ruleset);
  if (ruleset === undefined) throw new Error(`--ruleset: expected ${rulesetNames.join(', ')}`);
  if (!['all', 'train', 'test'].includes(values.part)) {
    throw new Error('--part: expected all, train or test');
  }
  const paths = positionals.length > 0 ? positionals : [join(shared, 'corpus', 'detect')];
  return { ...values, ruleset, paths, seed: Number(values.seed), misses: Number(values.misses) };
}

type Choice = ReturnType<typeof readChoice>;

async function main(): Promise<void> {
  const choice = readChoice();
  if (choice.help) {
    process.stdout.write(usage);
    return;
  }
  const { engine, version } = buildJudgedPolicy({
    ...{ template: choice.template, ruleset: choice.ruleset, crs4: choice.crs4 },
    cacheFolder: join(root, '.cache'),
  });
  try {
    const requests = partOf(limited(readRequests(choice.paths), Number(choice.limit)), choice);
    if (Number(choice.forms) > 0 || Number(choice.fuzz) > 0) {
      process.stdout.write(judgeMade(engine, requests, choice));
      return;
    }
    if (choice.day) {
      const days = await simulateDays({ engine, requests, seed: choice.seed });
      process.stdout.write(`${daysReport(days)}\n`);
      if (days.attacked.some(({ blinded }) => blinded > blindedMax)) process.exitCode = 1;
      return;
    }
    process.stderr.write(`${requests.length} requests\n`);
    const observations = observeAll(engine, requests, (done) => {
      process.stderr.write(`${done} seen\n`);
    });
    const { detection } = engine.scoring!;
    if (choice.train) trainOn(observations, detection, version, choice);
    else {
      process.stdout.write(`${figuresBesidePatches(observations, detection)}\n`);
    }
    if (choice.thresholds) {
      const nameOf = (id: number): string =>
        detectors.find((one) => one.id === id)?.name ?? `${id}`;
      process.stdout.write(`\n${thresholdsTable(observations, detection)}\n`);
      process.stdout.write(`\n${aloneTable(observations, detection, nameOf)}\n`);
    }
    if (choice.misses > 0) process.stdout.write(missesOf(observations, detection, choice));
  } finally {
    engine.retire();
  }
}

/** The table of figures, with what virtual patches stop beside the score. */
function figuresBesidePatches(observations: readonly Observation[], by: JudgedBy): string {
  const patches = buildPatches(root, join(root, '.cache', 'bench-databases'));
  try {
    const faults = faultFiguresOf(observations, by, patches);
    const table = figuresTable(figuresOf(observations, by, patches));
    const shares = patchSharesOf(observations, by, patches);
    if (shares.some(isExcessive)) process.exitCode = 1;
    const tables = [table, patchSharesTable(shares)];
    if (faults.length > 0) tables.push(figuresTable(faults));
    return tables.join('\n\n');
  } finally {
    patches.retire();
  }
}

/** Judges values that are made here, by the score of the policy. */
function judgeMade(
  engine: PolicyEngine,
  requests: readonly LabelledRequest[],
  { forms, fuzz: mutants, seed, misses }: Choice,
): string {
  const { detection } = engine.scoring!;
  const refuses = (value: string): boolean => {
    const wire = requestWith(value);
    const request = { id: 'made', attack: true, kind: '', source: '', group: '', wire };
    const score = scoreOf(observe(engine, request), detection);
    return score >= detection.weights.thresholds.block;
  };
  if (Number(mutants) > 0) {
    return fuzz(Number(mutants), seed, refuses)
      .flatMap((one) => [
        describeFuzzed(one),
        ...one.passed.slice(0, misses).map(({ value }) => `  ${JSON.stringify(value)}`),
      ])
      .map((line) => `${line}\n`)
      .join('');
  }
  const figures = judgeForms(samplePayloads(requests, Number(forms), seed), attackForms, refuses);
  const lost = figures.flatMap(({ form, lost: list }) =>
    list.slice(0, misses).map(({ kind, text }) => `${form}: ${kind} ${JSON.stringify(text)}\n`),
  );
  return `${formsTable(figures)}\n${lost.join('')}`;
}

function trainOn(
  observations: readonly Observation[],
  { facts, openedWeights }: JudgedBy,
  version: string,
  choice: Choice,
): void {
  const { seed, without, ruleset } = choice;
  const training: Training = {
    ...{ seed, without, version, name: ruleset, date: new Date().toISOString() },
    strong: detectors.filter((one) => one.strong).map(({ id }) => id),
    openedWeights: ruleset === 'none' ? null : openedWeights,
  };
  if (without === 'each') {
    process.stdout.write(`${leaveOutEach(observations, facts, training)}\n`);
    return;
  }
  const { file, report } = train(observations, facts, training);
  process.stdout.write(`${report}\n`);
  if (without === '') writeWeights(choice, file);
}

function limited(requests: readonly LabelledRequest[], limit: number): LabelledRequest[] {
  const counts = new Map<string, number>();
  return requests.filter(({ source }) => {
    const count = (counts.get(source) ?? 0) + 1;
    counts.set(source, count);
    return limit === 0 || count <= limit;
  });
}

function partOf(requests: readonly LabelledRequest[], { part, seed }: Choice): LabelledRequest[] {
  if (part === 'all') return [...requests];
  return requests.filter(({ group }) => placeOf(group, seed) < 0.5 === (part === 'train'));
}

/** Some requests that are judged wrongly by the score. */
function missesOf(observations: readonly Observation[], by: JudgedBy, { misses }: Choice): string {
  const counts = new Map<string, number>();
  const lines = observations.flatMap((one) => {
    const { attack, source, kind, id, wire } = one.request;
    const score = scoreOf(one, by);
    if (score >= by.weights.thresholds.block === attack) return [];
    const name = `${source} ${kind} ${attack ? 'attack' : 'benign'}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (count > misses) return [];
    const text = wire.toString('latin1').replaceAll(/[^\x20-\x7e]+/g, ' ');
    const shown = attack ? text.slice(0, 300) : text.slice(0, 120);
    return [`${name} ${id} score ${score} bits ${JSON.stringify(one.pieces)}\n  ${shown}\n`];
  });
  return lines.join('');
}

function writeWeights({ out, ruleset }: { out: string; ruleset: RulesetName }, file: object): void {
  const path = out || join(root, 'engine', 'detect', 'weights', `${ruleset}.weights.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`);
  process.stderr.write(`wrote ${relative(process.cwd(), path)}\n`);
}

await main();
