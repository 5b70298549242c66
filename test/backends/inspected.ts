/**
 * Runs requests of the bed through the rule engine under a built-in template, and tells what it
 * inspected. In process: what front and pool add is tested elsewhere.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { toByteString } from '../../base/byte-string.ts';
import { createLogger } from '../../base/log.ts';
import type { Inspector } from '../../engine/contract/inspection.ts';
import type { MatchedRule } from '../../engine/contract/verdict.ts';
import { detectorFile, detectorRules } from '../../engine/detect/detector-rules.ts';
import { detectionWith } from '../../engine/policies/detection.ts';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import { type SourceId, SOURCE } from '../../engine/rules/transaction/values.ts';
import { loadSourceSet } from '../../engine/rules/language/include.ts';
import { makeConnection, makeRequest } from '../../engine/rules/oracle/conformance/exchange.ts';
import { buildPlan } from '../../engine/rules/plan/build-plan.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';
import { IdleTransactions } from '../../engine/rules/run/idle-transactions.ts';
import { PolicyEngine, type RuleSession } from '../../engine/rules/run/policy-engine.ts';
import { policyAlone, simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { DatabaseFiles } from '../../engine/state/database-files.ts';
import { fixedPorts } from '../fuzz/compare-engines.ts';
import { compileAlone, databaseFolder } from '../support/databases.ts';
import type { BedRequest } from './request.ts';

/** What became of one request. */
export interface Inspection {
  /** The request reaches no backend. */
  readonly refused: boolean;
  /** Refused by rules of the product's own, whatever the ruleset says. */
  readonly refusedByOwnRules: boolean;
  /** Ids of the rules that matched and are logged. */
  readonly rules: readonly number[];
  /** Byte strings that rules on arguments, cookies and XML search. */
  readonly names: readonly string[];
  readonly values: readonly string[];
  readonly fileNames: readonly string[];
  /** Texts of whole documents, which contain what backends take apart. */
  readonly documents: readonly string[];
}

const argumentSources: readonly SourceId[] = [
  SOURCE.argGet,
  SOURCE.argPost,
  SOURCE.requestCookie,
  SOURCE.xmlText,
  SOURCE.xmlAttribute,
];

/** Inspects under one template with one version of CRS. */
export class InspectedUnder {
  private readonly engine: PolicyEngine;

  private constructor(engine: PolicyEngine) {
    this.engine = engine;
  }

  /** Compiles the policy; databases are kept between runs. */
  static start(template: string, version: string, rules: string): Promise<InspectedUnder> {
    return compileAlone(`${template} CRS ${version}`, () => {
      const program = loadPolicy(template, version, rules);
      const log = createLogger('bed', 'error');
      const cache = new DatabaseFiles(databaseFolder, log);
      const plan = buildPlan(program, { cache, log, ports: fixedPorts });
      const { decision, scoreWeights } = program.settings;
      const detection = decision === 'crs' ? null : detectionWith(scoreWeights);
      const idle = new IdleTransactions();
      return new InspectedUnder(new PolicyEngine(plan, fixedPorts, idle, detection));
    });
  }

  /** Both phases of the request, as the front runs them. */
  inspect({ method, target, headers, body }: BedRequest): Inspection {
    const fields = [
      ['Host', 'localhost'],
      ['User-Agent', 'bed'],
      ['Accept', '*/*'],
      ...headers,
      ['Content-Length', String(body.length)],
    ] as const;
    const snapshot = makeRequest(method, target, 'HTTP/1.1', fields, makeConnection());
    const opened: RuleSession[] = [];
    const inspector: Inspector = {
      open: (request) => {
        const session = this.engine.open(request);
        opened.push(session);
        return session;
      },
    };
    const seen: Seen[] = [];
    const { verdict, record } = simulateRequest(policyAlone(inspector), {
      snapshot,
      body: body.length === 0 ? null : body,
      beforeEnd: () => seen.push(valuesIn(opened[0]!)),
    });
    const { matchedRules } = record!;
    const stopped = verdict.action !== 'pass';
    return {
      refused: stopped && matchedRules.some(isAboutForm),
      refusedByOwnRules: stopped && matchedRules.some(isOwn),
      rules: matchedRules.filter(({ log }) => log).map(({ ruleId }) => ruleId),
      ...seen[0]!,
    };
  }

  /** Frees the plan. */
  close(): void {
    this.engine.retire();
  }
}

type Seen = Pick<Inspection, 'names' | 'values' | 'fileNames' | 'documents'>;

/** What rules may search, at the end of phase 2. */
function valuesIn({ transaction }: RuleSession): Seen {
  const { values } = transaction;
  const read = (sources: readonly SourceId[], part: 'key' | 'value'): string[] =>
    sources.flatMap((source) => values.rowsOf(source).map((row) => values[part](row)));
  // What no parser takes is an argument without a name.
  const raw = values.rowsOf(SOURCE.argPost).filter((row) => values.key(row) === '');
  const documents = read([SOURCE.xmlText], 'value');
  documents.push(...raw.map((row) => values.value(row)));
  return {
    names: read([...argumentSources, SOURCE.file], 'key'),
    values: read(argumentSources, 'value'),
    fileNames: read([SOURCE.file], 'value'),
    documents,
  };
}

/**
 * Rules about how a request is written. Refusals by rules about attacks do not count: they tell
 * nothing of what another text at the same place would meet.
 */
function isAboutForm({ ruleId }: MatchedRule): boolean {
  const family = Math.floor(ruleId / 1000);
  return family === 199 || family === 200 || (family >= 920 && family <= 922);
}

/** Early blocking of CRS 3 (199250 to 199259) compares the scores of the ruleset's rules. */
function isOwn({ ruleId }: MatchedRule): boolean {
  const family = Math.floor(ruleId / 1000);
  return (family === 199 || family === 200) && !(ruleId >= 199_250 && ruleId < 199_260);
}

function loadPolicy(template: string, version: string, rules: string) {
  const policy = builtInTemplates.find(({ id }) => id === template);
  if (policy === undefined) throw new Error(`no template ${template}`);
  const files = readdirSync(rules).filter((file) => file.endsWith('.conf'));
  const { seclang } = renderPolicy(policy, {
    version,
    includes: {
      pluginConfigs: [],
      pluginsBefore: [],
      rules: files.sort().map((file) => path.join(rules, file)),
      pluginsAfter: [],
      unicodeMap: '',
    },
  });
  const source = loadSourceSet(
    [{ path: path.join(rules, 'policy.conf'), text: toByteString(Buffer.from(seclang)) }],
    (file) => {
      const isOwnFile = file === detectorFile;
      return [{ path: file, text: isOwnFile ? detectorRules : toByteString(readFileSync(file)) }];
    },
  );
  const { program, diagnostics } = buildProgram(source, fullCatalog, (name, fromFile) =>
    toByteString(readFileSync(path.resolve(path.dirname(fromFile), name))),
  );
  if (program) return program;
  throw new Error(diagnostics.map(({ message }) => message).join('\n'));
}
