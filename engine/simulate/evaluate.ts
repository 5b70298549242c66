/**
 * The answers to control that need compiled rules: compile a policy, try a request. Uses the code
 * that serves traffic, on the engine's main thread and away from it.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodeUtf8, toByteString } from '../../base/byte-string.ts';
import { AppError } from '../../base/errors.ts';
import { engineLimits } from '../base/limits.ts';
import type {
  CompileOutcome,
  EngineHandler,
  EngineStatus,
  EvaluationInput,
  EvaluationOutcome,
  PolicyDiagnostic,
  ClientAnswers,
} from '../contract/evaluation.ts';
import { SPAN, type RequestSnapshot } from '../contract/message.ts';
import type { SharedImages } from '../contract/shared-images.ts';
import {
  policyEntryFile,
  rulesetFolder,
  type KeyedPolicy,
  type PolicySource,
} from '../contract/policy.ts';
import type { SiteContent } from '../detect/learning/site-content.ts';
import { ClientIpResolver } from '../guard/client-ip.ts';
import type { GuardChain } from '../guard/guard-chain.ts';
import type { SiteDelivery } from '../guard/site-delivery.ts';
import type { PathPrefixes } from '../http/path-prefixes.ts';
import type { SiteChecks } from '../schema/site-checks.ts';
import type { SiteConfig } from '../contract/site.ts';
import { SCAN } from '../http/head-scanner.ts';
import type { Refusal } from '../http/refusal.ts';
import { RequestHeadParser } from '../http/request-head.ts';
import { routingHost } from '../http/routing-host.ts';
import { policyKey } from '../policies/keyed-policies.ts';
import type { SharedFiles } from '../policies/keyed-policies.ts';
import type { PatternTrial } from '../rollout/pattern-trial.ts';
import type { RuleSetTrial } from '../rollout/rule-set-trial.ts';
import type { Planner, PlanOutcome } from '../rollout/planner.ts';
import { linkPolicy } from '../policies/policy-build.ts';
import type { Diagnostic } from '../rules/language/diagnostic.ts';
import { parseSecLang } from '../rules/language/parse.ts';
import { writtenPatterns, type WrittenPattern } from '../rules/language/written-patterns.ts';
import type { PolicyEngine } from '../rules/run/policy-engine.ts';
import { policyAlone, simulateRequest } from './simulated-request.ts';
import { closeProgram } from '../rules/program/build-program.ts';

type BuildShared = (policy: KeyedPolicy, shared: SharedImages) => PolicyEngine;

/** What the evaluator works with. */
export interface EvaluatorOptions {
  readonly planner: Pick<Planner, 'link' | 'plan' | 'prepare' | 'planAhead'>;
  readonly trial: PatternTrial;
  readonly setTrial: Pick<RuleSetTrial, 'try'>;
  readonly files: SharedFiles;
  /** Builds from a plan and databases in shared memory. */
  readonly build: BuildShared;
  /** Whether a policy of this id serves, in whatever version. */
  readonly serves: (policyId: string) => boolean;
  readonly status: () => EngineStatus;
  readonly clients: ClientAnswers;
  /** What a site as it serves decides with beside its policy. */
  readonly siteOf: (siteId: string) => SimulatedSite;
  readonly origins: Pick<EngineHandler, 'probeUpstream' | 'readFirstPage'>;
}

/** Guards, checks of API documents and delivery of a site; null for none. */
export interface SimulatedSite {
  readonly guards: GuardChain | null;
  readonly schema: SiteChecks | null;
  readonly delivery: SiteDelivery | null;
  readonly routes: PathPrefixes<object> | null;
  /** What failed inspections and bodies that were not looked at lead to. */
  readonly failPolicy: SiteConfig['waf']['failPolicy'];
  readonly grpcFields: boolean;
  /** Null or absent for no value whose signs are content. */
  readonly content?: SiteContent | null;
}

const noSite: SimulatedSite = {
  ...{ guards: null, schema: null, delivery: null, routes: null },
  ...{ failPolicy: 'closed', grpcFields: false },
};

/** Makes the handler that the engine's own socket serves. */
export function createEvaluator(options: EvaluatorOptions): EngineHandler {
  const engines = new EngineCache(options);
  return {
    status: options.status,
    ...options.origins,
    ...options.clients,
    explainTrust: (config, peer, headers) =>
      new ClientIpResolver(config).resolve(peer, (name) => {
        const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
        return value === undefined ? [] : [value];
      }),
    compile: async (policy, { plan, tryRuleset }) => {
      const keyed = { key: policyKey(policy), source: options.files.share(policy) };
      const outcome = await compile(keyed, options.planner);
      if (!outcome.ok) return outcome;
      const found = await options.trial.try(patternsOf(policy, tryRuleset));
      if (found.length === 0) found.push(...(await options.setTrial.try(policy)));
      if (found.length > 0) return { ...outcome, ok: false, diagnostics: found.map(toDiagnostic) };
      if (plan) await options.planner.prepare(keyed);
      // A new version of what serves is published as soon as control has kept it.
      else if (options.serves(policy.id)) options.planner.planAhead(keyed);
      return outcome;
    },
    evaluate: async (policy, input) => {
      const keyed = { key: policyKey(policy), source: options.files.share(policy) };
      const asked = await engines.ask(keyed, (engine) => {
        return evaluate(engine, options.siteOf(input.siteId), input);
      });
      if (!asked.ok) return { record: null, diagnostics: asked.diagnostics, ...notRefused };
      const { outcome } = asked;
      if (outcome.failure === undefined) return outcome;
      throw new AppError('inspection_failed', `inspection failed: ${outcome.failure}`, {
        source: 'internal',
      });
    },
    evaluateBatch: async (policy, inputs) => {
      const keyed = { key: policyKey(policy), source: options.files.share(policy) };
      const outcomes: EvaluationOutcome[] = [];
      for (const input of inputs) {
        const asked = await engines.ask(keyed, (engine) => evaluate(engine, noSite, input));
        if (!asked.ok) return { outcomes: [], diagnostics: asked.diagnostics };
        outcomes.push(asked.outcome);
        await nextTurn();
      }
      return { outcomes, diagnostics: [] };
    },
  };
}

/** The few policies simulated last, built from what the planner has in shared memory. */
class EngineCache {
  private readonly engines = new Map<string, PolicyEngine>();
  private readonly planner: Pick<Planner, 'plan'>;
  private readonly build: BuildShared;

  constructor({ planner, build }: Pick<EvaluatorOptions, 'planner' | 'build'>) {
    this.planner = planner;
    this.build = build;
  }

  /** Asks the engine of a policy. `ask` is over before another question may retire the engine. */
  async ask(policy: KeyedPolicy, ask: (engine: PolicyEngine) => EvaluationOutcome): Promise<Asked> {
    const { key } = policy;
    if (!this.engines.has(key)) {
      const { ok, diagnostics, shared } = await this.planner.plan(policy);
      if (!ok) return { ok, diagnostics: diagnostics.map(toDiagnostic) };
      // Another question may have built it meanwhile.
      if (!this.engines.has(key)) this.engines.set(key, this.build(policy, shared));
    }
    const engine = this.engines.get(key)!;
    this.engines.delete(key);
    this.engines.set(key, engine);
    for (const [oldKey, old] of this.engines) {
      if (this.engines.size <= engineLimits.simulatedPoliciesMax) break;
      this.engines.delete(oldKey);
      old.retire();
    }
    return { ok: true, outcome: ask(engine) };
  }
}

/** What an engine answered, or what is wrong with a policy that does not link. */
type Asked =
  | { readonly ok: true; readonly outcome: EvaluationOutcome }
  | { readonly ok: false; readonly diagnostics: PolicyDiagnostic[] };

/** Links in a planner thread; here where those have work that takes seconds. */
async function compile(
  policy: KeyedPolicy,
  planner: EvaluatorOptions['planner'],
): Promise<CompileOutcome> {
  const outcome = (await planner.link(policy)) ?? linkHere(policy.source);
  const { ok, diagnostics, rules } = outcome;
  return { ok, diagnostics: diagnostics.map(toDiagnostic), ruleCount: rules };
}

function linkHere(policy: PolicySource): Omit<PlanOutcome, 'shared'> {
  const { program, diagnostics } = linkPolicy(policy);
  const rules = program?.rules.filter((rule) => rule.id !== 0).length ?? 0;
  if (program) closeProgram(program);
  return { ok: program !== null, diagnostics, rules };
}

/** Every pattern of a policy's text and of the operator's rule files, or of all rule files. */
function patternsOf({ seclangEntry, files }: PolicySource, ofRuleset: boolean): WrittenPattern[] {
  const ruleFiles = [...files].filter(
    ([path]) => path.endsWith('.conf') && (ofRuleset || !path.startsWith(rulesetFolder)),
  );
  const texts: [string, Uint8Array | string][] = [[policyEntryFile, seclangEntry], ...ruleFiles];
  return texts.flatMap(([path, text]) => {
    const bytes = typeof text === 'string' ? encodeUtf8(text) : toByteString(text);
    // Macros are filled in at run time; then a pattern that cannot be built does not match.
    return writtenPatterns(parseSecLang(bytes, path).directives).filter(
      ({ pattern }) => !pattern.includes('%{'),
    );
  });
}

function toDiagnostic({ severity, code, message, span }: Diagnostic): PolicyDiagnostic {
  const { file, line, column } = span;
  return { file, line, column, severity, code, message };
}

/** True for a head of HTTP/2 that control wrote. */
function namesHttp2(head: Uint8Array): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  const end = bytes.indexOf('\r\n');
  return end > 0 && bytes.subarray(0, end).toString('latin1').endsWith(' HTTP/2.0');
}

function evaluate(
  engine: PolicyEngine,
  { failPolicy, grpcFields, content, ...parts }: SimulatedSite,
  input: EvaluationInput,
): EvaluationOutcome {
  const parser = new RequestHeadParser();
  parser.reset(0);
  // As sessions of HTTP/2 write it; over HTTP/1.1 no client gets as far as this.
  parser.http2 = namesHttp2(input.head);
  const state = parser.execute(input.head, input.head.length);
  if (state !== SCAN.DONE) return { record: null, diagnostics: [], ...refusedWith(parser.refusal) };
  const snapshot: RequestSnapshot = {
    requestId: 'simulated',
    receivedAtMs: Date.now(),
    siteId: input.siteId,
    grpcFields,
    connection: {
      clientIp: input.clientIp,
      clientPort: 0,
      peerIp: input.peerIp,
      serverIp: '127.0.0.1',
      serverPort: 80,
      scheme: 'http',
    },
    head: { bytes: input.head, spans: parser.copySpans() },
    ...contentIn(content ?? null, input.head, parser.copySpans()),
  };
  const body = input.body.length === 0 ? null : input.body;
  const headRefusal = parser.refusal;
  // Control asks for a policy as the site runs it; detection is a state of that policy.
  const alone = policyAlone(engine);
  const site = { ...alone.site, waf: { ...alone.site.waf, failPolicy } };
  const found = simulateRequest(
    { ...alone, site, ...parts },
    { snapshot, head: parser, host: hostOf(input.head, parser), headRefusal, body },
  );
  const { record, refusal, guardTrace, siteAnswer } = found;
  const refusalStatus = refusal === '' ? 0 : found.status;
  const failure = record?.failure;
  const refused = { refusal, refusalStatus, guards: guardTrace, siteAnswer };
  const outcome = { record, diagnostics: [], ...refused };
  return failure === undefined ? outcome : { ...outcome, failure };
}

/** What is content in the values of the request, as live traffic has it. */
function contentIn(
  content: SiteContent | null,
  head: Uint8Array,
  spans: Int32Array,
): Pick<RequestSnapshot, 'content'> {
  if (content === null) return {};
  const text = (start: number, end: number): string =>
    Buffer.from(head.subarray(spans[start], spans[end])).toString('latin1');
  const method = text(SPAN.firstStart, SPAN.firstEnd);
  const target = text(SPAN.secondStart, SPAN.secondEnd);
  return { content: content.of(method, target, Date.now()) };
}

function hostOf(head: Uint8Array, { hostStart, hostEnd }: RequestHeadParser): string {
  return routingHost(Buffer.from(head.subarray(hostStart, hostEnd)).toString('latin1'));
}

type Refused = Pick<EvaluationOutcome, 'refusal' | 'refusalStatus' | 'guards' | 'siteAnswer'>;

const notRefused: Refused = { refusal: '', refusalStatus: 0, guards: [], siteAnswer: null };
function refusedWith(refusal: Refusal | null): Refused {
  const { reason, status } = refusal ?? { reason: 'head_incomplete', status: 400 };
  return { ...notRefused, refusal: reason, refusalStatus: status };
}
