/**
 * Policies that run in the test's own process: a built-in template on a ruleset's folder, and one
 * request through it as the front would ask. Nothing listens; a request costs under a millisecond,
 * so that tables of hundreds of requests cost seconds.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { renderPolicy, type AddedSecLang } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import {
  builtInCrsFolder,
  readRulesetFolder,
} from '../../control/publish/rulesets/ruleset-folder.ts';
import type { RequestContent } from '../../engine/contract/detection-content.ts';
import { headFrom, responseFrom } from '../../engine/rules/load/test-sample.ts';
import { makeConnection } from '../../engine/rules/oracle/conformance/exchange.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { policyAlone, simulateRequest } from '../../engine/simulate/simulated-request.ts';
import type { PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import { corpusRoot } from '../seclang/corpus.ts';
import { builtPolicy } from '../support/built-policy.ts';

const crs4Folder = path.join(corpusRoot, 'crs', '4.28.0');

/** The rulesets that are here, by name. */
export const rulesetFolders: readonly { readonly name: string; readonly folder: string }[] = [
  { name: 'CRS 3.3.4', folder: builtInCrsFolder },
  { name: 'CRS 4.28.0', folder: crs4Folder },
].filter(({ folder }) => existsSync(folder));

/** A request as tables write it; a header of `null` is left out. */
export interface TableRequest {
  readonly method?: string;
  readonly url: string;
  readonly protocol?: string;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: string | Buffer;
  /** Body of the origin's answer, HTML; phases 3 and 4 run where there is one. */
  readonly answer?: string;
  /** Signs that are content of its values. */
  readonly content?: readonly RequestContent[];
  /** Sampling draws by it. */
  readonly requestId?: string;
}

/** What became of it. */
export interface TableAnswer {
  /** 0 where it passed. */
  readonly status: number;
  /** Rules that matched and were logged, ascending. */
  readonly rules: readonly number[];
}

/** What a policy is changed by before it is rendered. */
export type PolicyChange = (policy: PolicyJson) => PolicyJson;

/**
 * A template's engine, compiled into the shared databases; null: without a ruleset. The caller
 * retires it.
 */
export async function templateEngine(
  template: string,
  folder: string | null,
  change: PolicyChange = (policy) => policy,
  added: AddedSecLang = {},
): Promise<PolicyEngine> {
  const policy = change(builtInTemplates.find(({ name }) => name === template)!);
  const ruleset = folder === null ? null : readRulesetFolder(folder);
  const { seclang } = renderPolicy(policy, ruleset, added);
  const texts = new Map((ruleset?.files ?? []).map((file) => [file.path, file.content]));
  const source = { id: 's', name: 's', revision: '1', seclangEntry: seclang, files: texts };
  return builtPolicy(source, `in process ${template} ${ruleset?.version ?? 'none'}`);
}

const usual = { Host: 'api.example', 'User-Agent': 'Mozilla/5.0', Accept: '*/*' };

/** Sends one request through the engine. */
export function sendInProcess(engine: PolicyEngine, request: TableRequest): TableAnswer {
  const { method = 'GET', url, protocol = 'HTTP/1.1', body = '' } = request;
  const bytes = Buffer.from(body as string);
  const length = bytes.length > 0 ? { 'Content-Length': String(bytes.length) } : {};
  const headers: Record<string, string | null> = { ...usual, ...request.headers, ...length };
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${value}`],
  );
  const snapshot = {
    requestId: request.requestId ?? 'x',
    receivedAtMs: 0,
    siteId: 's',
    connection: makeConnection(),
    ...(request.content !== undefined && { content: request.content }),
    head: headFrom([`${method} ${url} ${protocol}`, ...lines].join('\r\n')),
  };
  const { status, outcome, record } = simulateRequest(policyAlone(engine), {
    snapshot,
    body: bytes.length === 0 ? null : bytes,
    ...(request.answer === undefined
      ? {}
      : {
          answer: {
            head: responseFrom('HTTP/1.1 200 OK\r\nContent-Type: text/html'),
            body: Buffer.from(request.answer),
          },
        }),
  });
  const rules = [...new Set(record!.matchedRules.map(({ ruleId }) => ruleId))];
  return {
    status: outcome === 'inspection_failed' ? -1 : status,
    rules: rules.sort((left, right) => left - right),
  };
}
