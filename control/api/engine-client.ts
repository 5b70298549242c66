/** Asks the local engine for what needs compiled rules. */

import { Agent, get as httpGet } from 'node:http';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import type {
  RuntimePolicy,
  RuntimeRuleset,
  RuntimeUpstream,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import {
  CompilePolicyRequestSchema,
  EngineService,
  EvaluateBatchRequestSchema,
  EvaluateRequestSchema,
  type CompilePolicyResponse,
  type EvaluateBatchResponse,
  type EvaluateResponse,
  type ExplainTrustRequestSchema,
  type ExplainTrustResponse,
  type GetStatusResponse,
  type ListSpoofWarningsResponse,
  type ProbeUpstreamResponse,
  type ReadFirstPageResponse,
  type SampleClientsResponse,
} from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import { debugLimits } from '../../base/debug-figures.ts';
import type { DebugQuestion } from '../../base/debug-question.ts';
import { callLimits } from '../limits/call-limits.ts';
import { refusal } from '../domain/errors.ts';

/** A policy with the ruleset that it names. */
export interface PolicyForEngine {
  readonly policy: RuntimePolicy;
  readonly ruleset: RuntimeRuleset | null;
}

/** One request to try, as on the wire. */
export interface RequestForEngine {
  readonly siteId: string;
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  readonly clientIp: string;
  readonly peerIp: string;
}

/** An answer of the engine about itself. */
export interface DebugReply {
  readonly status: number;
  /** JSON text. */
  readonly text: string;
}

/** Questions to the local engine. */
export interface EngineClient {
  /** Errors: unavailable when no engine answers. */
  compile(policy: PolicyForEngine): Promise<CompilePolicyResponse>;
  /** Also makes the databases, for a quick start later; takes long the first time. */
  plan(policy: PolicyForEngine): Promise<CompilePolicyResponse>;
  /** As compile, and builds the patterns of the ruleset on trial; takes half a minute. */
  tryRuleset(policy: PolicyForEngine): Promise<CompilePolicyResponse>;
  /** Errors: unavailable when no engine answers. */
  evaluate(policy: PolicyForEngine, request: RequestForEngine): Promise<EvaluateResponse>;
  /** Requests one after the other, rules only. Errors: unavailable when no engine answers. */
  evaluateBatch(
    policy: PolicyForEngine,
    requests: readonly RequestForEngine[],
    signal?: AbortSignal,
  ): Promise<EvaluateBatchResponse>;
  /** Whose address a request has. Errors: unavailable when no engine answers. */
  explainTrust(
    request: MessageInitShape<typeof ExplainTrustRequestSchema>,
  ): Promise<ExplainTrustResponse>;
  /** Senders of a site's requests; see SampleClients. Errors: unavailable. */
  sampleClients(siteId: string, count: number, end: boolean): Promise<SampleClientsResponse>;
  /** What the engine is and serves. Errors: unavailable. */
  status(): Promise<GetStatusResponse>;
  /** Asks every address of a pool once. Errors: unavailable. */
  probe(upstream: RuntimeUpstream): Promise<ProbeUpstreamResponse>;
  /** The page of an origin under `/`; status 0 where none comes soon. Errors: unavailable. */
  firstPage(upstream: RuntimeUpstream, host: string): Promise<ReadFirstPageResponse>;
  /** What the engine says of itself, as JSON text. Errors: unavailable. */
  debug(question: DebugQuestion): Promise<DebugReply>;
  /** Forged address headers of the last hour. Errors: unavailable. */
  spoofWarnings(): Promise<ListSpoofWarningsResponse>;
}

const noEngine = 'no engine answers: is it running?';
/** What takes no compiling. */
const timeoutMs = 60_000;
/** What the engine has at hand. */
const quickTimeoutMs = 5_000;
/** Making databases on a slow machine beside traffic. */
const planTimeoutMs = 300_000;

/** A client of the engine over a Unix socket; connects on the first call. */
export function openEngineClient(socketPath: string): EngineClient {
  const agent = new Agent({ keepAlive: true, maxSockets: callLimits.engineCallsMax });
  const transport = createConnectTransport({
    baseUrl: 'http://engine',
    httpVersion: '1.1',
    useBinaryFormat: true,
    nodeOptions: { socketPath, agent },
    defaultTimeoutMs: timeoutMs,
  });
  const client = createClient(EngineService, transport);
  return {
    compile: (policy) =>
      asked(() => client.compilePolicy(compileRequest(policy, {}), { timeoutMs: planTimeoutMs })),
    plan: (policy) =>
      asked(() =>
        client.compilePolicy(compileRequest(policy, { plan: true }), { timeoutMs: planTimeoutMs }),
      ),
    tryRuleset: (policy) =>
      asked(() =>
        client.compilePolicy(compileRequest(policy, { tryRuleset: true }), {
          timeoutMs: planTimeoutMs,
        }),
      ),
    evaluate: ({ policy, ruleset }, request) =>
      asked(() =>
        client.evaluate(
          create(EvaluateRequestSchema, { policy, ...(ruleset ? { ruleset } : {}), ...request }),
          // The first evaluation of a policy makes its databases.
          { timeoutMs: planTimeoutMs },
        ),
      ),
    evaluateBatch: ({ policy, ruleset }, requests, signal) =>
      asked(() =>
        client.evaluateBatch(
          create(EvaluateBatchRequestSchema, {
            policy,
            ...(ruleset ? { ruleset } : {}),
            requests: requests.map((one) => ({ ...one })),
          }),
          { timeoutMs: planTimeoutMs, ...(signal === undefined ? {} : { signal }) },
        ),
      ),
    explainTrust: (request) => asked(() => client.explainTrust(request)),
    sampleClients: (siteId, count, end) =>
      asked(() => client.sampleClients({ siteId, count, end }, { timeoutMs: quickTimeoutMs })),
    status: () => asked(() => client.getStatus({}, { timeoutMs: quickTimeoutMs })),
    probe: (upstream) =>
      asked(() => client.probeUpstream({ upstream }, { timeoutMs: quickTimeoutMs })),
    firstPage: (upstream, host) =>
      asked(() => client.readFirstPage({ upstream, host }, { timeoutMs: quickTimeoutMs })),
    debug: (question) => askAboutItself(socketPath, question),
    spoofWarnings: () => asked(() => client.listSpoofWarnings({}, { timeoutMs: quickTimeoutMs })),
  };
}

/** Errors: unavailable. */
function askAboutItself(
  socketPath: string,
  { about, seconds, thread }: DebugQuestion,
): Promise<DebugReply> {
  const path = `/debug/${about}?seconds=${seconds}&thread=${thread}`;
  const { answerBytesMax, answerWaitMs } = debugLimits;
  return new Promise((resolve, reject) => {
    const absent = (): void => reject(refusal('unavailable', noEngine));
    const asked = httpGet({ socketPath, path, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > answerBytesMax) asked.destroy(new Error('the answer is too long'));
        else pieces.push(piece);
      });
      response.on('error', absent);
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString('utf8');
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    asked.setTimeout(seconds * 1000 + answerWaitMs, () => asked.destroy(new Error('no answer')));
    asked.on('error', absent);
  });
}

function compileRequest(
  { policy, ruleset }: PolicyForEngine,
  options: { readonly plan?: boolean; readonly tryRuleset?: boolean },
) {
  return create(CompilePolicyRequestSchema, {
    policy,
    ...(ruleset ? { ruleset } : {}),
    ...options,
  });
}

async function asked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const code = error instanceof ConnectError ? error.code : Code.Unknown;
    if (code === Code.DeadlineExceeded) throw refusal('unavailable', 'the engine took too long');
    if (code === Code.InvalidArgument || code === Code.FailedPrecondition) {
      throw refusal('failed_precondition', 'the engine could not use this policy; see its log');
    }
    if (code === Code.ResourceExhausted) {
      const problem = 'too many changes of rules wait to be tried by the engine; try again later';
      throw refusal('resource_exhausted', problem);
    }
    throw refusal('unavailable', noEngine);
  }
}
