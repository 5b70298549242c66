/**
 * The sentences on API documents that concern requests, one line of api-live.jsonl a sentence, in
 * order, and what carries their steps out through calls of the management API.
 */

import { readFileSync } from 'node:fs';
import { eventually } from '../support/eventually.ts';

/** A change of what is published. */
export interface Step {
  readonly publish: 'declaration' | 'bindings' | 'deactivate' | 'rollback';
  readonly enforce?: readonly string[] | 'all';
  readonly undeclared?: string;
  /** Row whose publication is restored. */
  readonly to?: string;
}

/** A change of the body control of one operation. */
export interface BodyStep {
  readonly control: string;
  readonly mode?: 'observe' | 'enforce';
  readonly mismatch?: 'observe' | 'block';
  readonly remove?: boolean;
}

/** A request. */
export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly text?: string;
  readonly json?: unknown;
}

/** A sentence: a step, or a request and its answer. */
export interface Row {
  readonly id: string;
  readonly sentence: string;
  readonly step?: Step | BodyStep;
  readonly send?: Sent;
  readonly status?: number;
  /** Texts that the answer must not have. */
  readonly lacks?: readonly string[];
}

const fileOf = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

/** All sentences, in order. */
export const rows = fileOf('api-live.jsonl')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Row);

const patienceMs = 120_000;

/** A request as bytes. */
export function wireOf({ method = 'GET', path, headers = {}, type, text, json }: Sent): string {
  const body = text ?? (json === undefined ? '' : JSON.stringify(json));
  const typed = type ?? (json === undefined ? '' : 'application/json');
  const lines = Object.entries({
    ...{ Host: 'shop.example', Connection: 'close', ...headers },
    ...(typed === '' ? {} : { 'Content-Type': typed }),
    ...(body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** One call that has to succeed. */
export type Call = (rpc: string, body: object) => Promise<Record<string, unknown>>;

/** Takes one document its whole way, and publishes it as steps say. */
export class Publishing {
  readonly #call: Call;
  readonly #siteId: string;
  /** Publications by the row that made them. */
  readonly #intents = new Map<string, string>();
  #contractId = '';
  #profileId = '';
  /** Catalog entries by key. */
  #operations = new Map<string, string>();

  constructor(call: Call, siteId: string) {
    this.#call = call;
    this.#siteId = siteId;
  }

  /** Stages the document of the rows. */
  async stage(): Promise<void> {
    const source = Buffer.from(fileOf('api-live.yaml')).toString('base64');
    const named = { name: 'pets', format: 'yaml', source };
    const { source: staged } = await this.#schema('StageSchemaSource', named);
    const mappings = [{ host: 'shop.example', basePath: '/v1', approved: true }];
    const place = { sourceId: idOf(staged), mappings };
    const preview = await this.#schema('PreviewApiDeclaration', place);
    const { reportSha256, catalogSha256 } = preview;
    const { scopes } = readJson(preview['declarationJson']) as { scopes: { sha256: string }[] };
    const coverage = scopes.map(({ sha256 }) => ({
      ...{ scopeSha256: sha256, state: 'partial', acknowledged: true },
    }));
    const reviewed = { ...place, reportSha256, catalogSha256, coverage };
    const { contract } = await this.#schema('StageApiDeclaration', reviewed);
    this.#contractId = idOf(contract);
    const { profile } = await this.#schema('StageSchemaProfile', place);
    this.#profileId = idOf(profile);
    const kept = await this.#schema('GetSchemaContract', { contractId: this.#contractId });
    const { operations } = readJson(kept['contractJson']) as {
      operations: { key: string; assetId: string }[];
    };
    this.#operations = new Map(operations.map(({ key, assetId }) => [key, assetId]));
  }

  /** Makes a change, and waits until the node has it. */
  async carryOut(row: string, step: Step | BodyStep): Promise<void> {
    const intent =
      'control' in step ? await this.#control(row, step) : await this.#publish(row, step);
    this.#intents.set(row, idOf(intent));
    await eventually(async () => {
      const state = await this.#call('OperationControlService/GetOperationControlState', {
        ...{ siteId: this.#siteId, intentId: idOf(intent) },
      });
      return state['deploymentState'] === 'converged';
    }, patienceMs);
  }

  async #publish(row: string, step: Step): Promise<unknown> {
    const selection = await this.#selectionOf(step);
    const preview = await this.#schema('PreviewSchemaControl', selection);
    if (preview['executionSupported'] !== true) throw new Error('cannot be executed');
    const { intent } = await this.#call('ApiSchemaService/ChangeSchemaControl', {
      ...{ approval: preview['approval'], reason: step.publish, idempotencyKey: row },
      ...{ impactAcknowledged: true, resourceAcknowledged: true, typeOnlyAcknowledged: true },
    });
    return intent;
  }

  async #control(row: string, step: BodyStep): Promise<unknown> {
    const service = 'OperationControlService';
    const place = { siteId: this.#siteId, apiAssetId: this.#operations.get(step.control) };
    const { mode: controlMode, mismatch: mismatchAction } = step;
    const draft = { ...place, profile: 'json', controlMode, mismatchAction };
    const { approval } =
      step.remove === true
        ? await this.#call(`${service}/PreviewBodyChange`, { ...place, action: 'remove_effective' })
        : await this.#call(`${service}/PreviewBodyControl`, { draft });
    const method = step.remove === true ? 'ChangeBodyControl' : 'ApplyBodyControl';
    const change = { approval, reason: row, idempotencyKey: row };
    return (await this.#call(`${service}/${method}`, change))['intent'];
  }

  async #selectionOf({ publish, enforce = [], undeclared, to }: Step): Promise<object> {
    const undeclaredAction = undeclared ?? 'allow';
    if (publish === 'deactivate') return { action: 'deactivate' };
    if (publish === 'rollback') {
      return { action: 'rollback', sourceIntentId: this.#intents.get(to!) };
    }
    const activate = { action: 'activate', contractId: this.#contractId, undeclaredAction };
    if (publish === 'declaration') return activate;
    const keys = [...this.#operations.keys()];
    const { bindings } = await this.#schema('StageSchemaBindings', {
      ...{ declarationId: this.#contractId, profileId: this.#profileId },
      operationKeys: keys,
      enforceOperationKeys: enforce === 'all' ? keys : enforce,
    });
    return { ...activate, bindingId: idOf(bindings) };
  }

  #schema(method: string, body: object): Promise<Record<string, unknown>> {
    return this.#call(`ApiSchemaService/${method}`, { siteId: this.#siteId, ...body });
  }
}

/** The id of a resource in an answer. */
export function idOf(value: unknown): string {
  return (value as { id: string }).id;
}

function readJson(base64: unknown): unknown {
  return JSON.parse(Buffer.from(String(base64), 'base64').toString('utf8'));
}
