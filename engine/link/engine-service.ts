/**
 * The engine's own Unix socket: control asks here for what needs compiled rules. Never changes what
 * serves.
 */

import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter, type ServiceImpl } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import type { RuntimePolicy, RuntimeRuleset } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import {
  CompilePolicyResponseSchema,
  DiagnosticSchema,
  EngineService,
  EvaluateBatchResponseSchema,
  EvaluateResponseSchema,
  GetStatusResponseSchema,
  GuardStepSchema,
  ProbeUpstreamResponseSchema,
  ReadFirstPageResponseSchema,
  type Diagnostic,
  type EvaluateResponse,
  type GuardStep,
  type ProbeUpstreamRequest,
  type ReadFirstPageRequest,
} from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import { readDebugQuestion, type DebugAnswerer } from '../../base/debug-question.ts';
import { toAppError } from '../../base/errors.ts';
import { linkLimits } from '../base/observation-limits.ts';
import type { Logger } from '../../base/log.ts';
import { toPolicySource, toUpstream } from '../bundle/runtime-config.ts';
import type {
  CompileOptions,
  EngineHandler,
  EvaluationOutcome,
  PolicyDiagnostic,
} from '../contract/evaluation.ts';
import type { GuardTraceEntry } from '../contract/guard.ts';
import type { PolicySource } from '../contract/policy.ts';
import { toSecurityMatch } from './security-fact.ts';
import type { FirstPage } from '../contract/health.ts';
import { trustMethods } from './trust-methods.ts';

/** Where the service listens and who answers. */
export interface EngineServiceOptions {
  /** Path of the socket; an old one is removed. Mode 0600. */
  readonly socketPath: string;
  readonly handler: EngineHandler;
  readonly logger: Logger;
  /** Answers to `/debug/…`; absent where nobody answers. */
  readonly debug?: DebugAnswerer;
}

/** Serves EngineService until `close`. Rejects when the socket cannot be made. */
export async function serveEngineService(
  options: EngineServiceOptions,
): Promise<{ close(): Promise<void> }> {
  const { socketPath, handler, logger, debug } = options;
  const routes = (router: ConnectRouter): void => {
    router.service(EngineService, implement(handler, logger));
  };
  const server = createServer(
    connectNodeAdapter({
      routes,
      readMaxBytes: linkLimits.messageBytesMax,
      fallback: (request, response) =>
        void answerQuestion(debug, request.url ?? '').then(({ status, body }) => {
          response.writeHead(status, { 'content-type': 'application/json' });
          response.end(JSON.stringify(body));
        }),
    }),
  );
  // Control keeps its connections: one that ends as the next call begins would fail that call.
  server.keepAliveTimeout = 0;
  rmSync(socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  chmodSync(socketPath, 0o600);
  return { close: () => closeServer(server) };
}

interface DebugAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Never throws. */
async function answerQuestion(
  debug: DebugAnswerer | undefined,
  path: string,
): Promise<DebugAnswer> {
  const question = readDebugQuestion(path);
  if (debug === undefined || typeof question === 'string') {
    return { status: 404, body: { message: 'Unknown path.' } };
  }
  try {
    return { status: 200, body: await debug(question) };
  } catch (error) {
    const { source, message } = toAppError(error);
    return { status: source === 'client' ? 409 : 503, body: { message } };
  }
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function implement(handler: EngineHandler, logger: Logger): ServiceImpl<typeof EngineService> {
  return {
    compilePolicy: guarded(logger, async (request: PolicyRequest & CompileOptions) => {
      const { plan, tryRuleset } = request;
      const outcome = await handler.compile(policyOf(request), { plan, tryRuleset });
      return create(CompilePolicyResponseSchema, {
        ok: outcome.ok,
        ruleCount: outcome.ruleCount,
        diagnostics: outcome.diagnostics.map(toDiagnostic),
      });
    }),
    evaluate: guarded(logger, async (request: PolicyRequest & EvaluationFields) => {
      const { siteId, head, body, clientIp, peerIp } = request;
      const input = { siteId, head, body, clientIp, peerIp };
      return toAnswer(await handler.evaluate(policyOf(request), input));
    }),
    evaluateBatch: guarded(
      logger,
      async (request: PolicyRequest & { readonly requests: readonly EvaluationFields[] }) => {
        const { requests } = request;
        if (requests.length > linkLimits.batchedRequestsMax) {
          const problem = `requests: has at most ${linkLimits.batchedRequestsMax} entries`;
          throw new ConnectError(problem, Code.InvalidArgument);
        }
        const { outcomes, diagnostics } = await handler.evaluateBatch(policyOf(request), requests);
        return create(EvaluateBatchResponseSchema, {
          answers: outcomes.map(toAnswer),
          diagnostics: diagnostics.map(toDiagnostic),
        });
      },
    ),
    ...trustMethods(handler, logger),
    probeUpstream: guarded(logger, async ({ upstream }: ProbeUpstreamRequest) => {
      if (upstream === undefined) {
        throw new ConnectError('upstream: is required', Code.InvalidArgument);
      }
      const found = await handler.probeUpstream(toUpstream(upstream));
      return create(ProbeUpstreamResponseSchema, { endpoints: found.map((one) => ({ ...one })) });
    }),
    readFirstPage: guarded(logger, async ({ upstream, host }: ReadFirstPageRequest) => {
      if (upstream === undefined) {
        throw new ConnectError('upstream: is required', Code.InvalidArgument);
      }
      const page = await handler.readFirstPage(toUpstream(upstream), host);
      return create(ReadFirstPageResponseSchema, page === null ? {} : toPage(page));
    }),
    getStatus: () => {
      const { revision, sha256, version, uptimeMs, libraries } = handler.status();
      return create(GetStatusResponseSchema, {
        revision: BigInt(revision),
        sha256,
        version,
        uptimeMs: BigInt(Math.round(uptimeMs)),
        libraries: { ...libraries },
      });
    },
  };
}

function toAnswer(outcome: EvaluationOutcome): EvaluateResponse {
  const { record, diagnostics, refusal } = outcome;
  return create(EvaluateResponseSchema, {
    blocked: record !== null && record.verdict.action !== 'pass' && !record.detectionOnly,
    status: refusal === '' ? (record?.verdict.status ?? 0) : outcome.refusalStatus,
    ruleId: record?.verdict.ruleId ?? 0,
    phase: record?.verdict.phase ?? 0,
    inboundScore: record?.inboundScore ?? 0,
    outboundScore: record?.outboundScore ?? 0,
    matches: (record?.matchedRules ?? []).filter((rule) => rule.log).map(toSecurityMatch),
    inspectionUs: BigInt(Math.round(record?.inspectionUs ?? 0)),
    detectionOnly: record?.detectionOnly ?? false,
    diagnostics: diagnostics.map(toDiagnostic),
    refusal,
    guards: outcome.guards.map(toGuardStep),
    failure: outcome.failure ?? '',
    ...(outcome.siteAnswer === null ? {} : { siteAnswer: { ...outcome.siteAnswer } }),
  });
}

interface PolicyRequest {
  readonly policy?: RuntimePolicy | undefined;
  readonly ruleset?: RuntimeRuleset | undefined;
}

interface EvaluationFields {
  readonly siteId: string;
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  readonly clientIp: string;
  readonly peerIp: string;
}

function policyOf({ policy, ruleset }: PolicyRequest): PolicySource {
  if (policy === undefined) throw new ConnectError('policy: is required', Code.InvalidArgument);
  return toPolicySource(policy, { rulesets: ruleset === undefined ? [] : [ruleset] });
}

function toGuardStep({ guard, saw, verdict, skipped }: GuardTraceEntry): GuardStep {
  const { action = '', reason = '', ruleId = '', detail = '', skips = [] } = verdict ?? {};
  const decided = { action, reason, ruleId, detail, skips: [...skips] };
  return create(GuardStepSchema, { guard, saw, skipped, ...decided });
}

function toDiagnostic(one: PolicyDiagnostic): Diagnostic {
  const { file, line, column, code, message } = one;
  return create(DiagnosticSchema, {
    file,
    line,
    column,
    error: one.severity === 'error',
    code,
    message,
  });
}

/** Answers failures with a stable code; what went wrong stays in the log. */
function guarded<I, O>(logger: Logger, run: (input: I) => Promise<O>): (input: I) => Promise<O> {
  return async (input) => {
    try {
      return await run(input);
    } catch (error) {
      if (error instanceof ConnectError) throw error;
      const failed = toAppError(error);
      if (failed.code === 'resource_exhausted') {
        throw new ConnectError(failed.message, Code.ResourceExhausted);
      }
      logger.error('an engine call failed', { code: failed.code, reason: failed.message });
      throw new ConnectError('the engine could not answer', Code.FailedPrecondition);
    }
  };
}

function toPage({ status, cookieNames, text }: FirstPage) {
  return { status, cookieNames: [...cookieNames], text };
}
