/**
 * The sentences on API documents that concern requests, one line of api-live.jsonl a sentence, in
 * order: steps change what is published, through a control with its store; the others send a
 * request to a front that serves the signed bundle that its node got.
 */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toRuntimeConfig } from '../../engine/bundle/runtime-config.ts';
import type { VerifiedBundle } from '../../engine/bundle/signed-bundle.ts';
import { Closing, httpOrigin, RawClient, siteFor, startFront } from '../../engine/front/fixture.ts';
import { linearPattern } from '../../engine/match/linear-pattern.ts';
import { connectTakingLink } from '../support/test-link.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import { eventually } from '../support/eventually.ts';

interface Step {
  readonly publish: 'declaration' | 'bindings' | 'deactivate' | 'rollback';
  readonly enforce?: readonly string[] | 'all';
  readonly undeclared?: string;
  /** Row whose publication is restored. */
  readonly to?: string;
}

/** A change of the body control of one operation. */
interface BodyStep {
  readonly control: string;
  readonly mode?: 'observe' | 'enforce';
  readonly mismatch?: 'observe' | 'block';
  readonly remove?: boolean;
}

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly text?: string;
  readonly json?: unknown;
}

interface Row {
  readonly id: string;
  readonly sentence: string;
  readonly step?: Step | BodyStep;
  readonly send?: Sent;
  readonly status?: number;
  /** Texts that the answer must not have. */
  readonly lacks?: readonly string[];
}

const fileOf = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const rows = fileOf('api-live.jsonl')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Row);
const patienceMs = 120_000;

describe('sentences on API documents, live', () => {
  const closing = new Closing();
  const applied: VerifiedBundle[] = [];
  let waf: TestControl;
  let originPort = 0;
  let proxyPort = 0;
  let siteId = '';
  let publishing: Publishing;
  let ran = 0;

  beforeAll(async () => {
    originPort = await httpOrigin(closing, (asked, answer) => {
      asked.resume().once('end', () => answer.end('from the origin'));
    });
    waf = await startTestControl();
    closing.add(() => waf.control.close());
    const link = await connectTakingLink(waf.socket, applied);
    closing.add(() => link.close());
    const upstreams = [{ inline: { url: `http://127.0.0.1:${originPort}` } }];
    const site = { name: 'shop', primaryHost: 'shop.example', upstreams };
    siteId = idOf((await made('SiteService/CreateSite', { site }))['site']);
    publishing = new Publishing(made, siteId);
    await publishing.stage(fileOf('api-live.yaml'));
  });
  afterAll(() => closing.run());

  async function made(rpc: string, body: object): Promise<Record<string, unknown>> {
    const answer = await waf.call(rpc, body);
    expect([rpc, answer.status, answer.body['message']]).toEqual([rpc, 200, undefined]);
    return answer.body;
  }

  /** A front with the checks that the node has now; no rules, so that each 403 is of a check. */
  async function serve(): Promise<void> {
    const { sites } = toRuntimeConfig(applied.at(-1)!);
    const { api } = sites.find(({ id }) => id === siteId)!;
    const site = siteFor(originPort, api === undefined ? {} : { api });
    const services = { schemaServices: { pattern: linearPattern, onFault: () => undefined } };
    proxyPort = (await startFront(closing, [site], null, {}, 'strict', services)).port;
  }

  test.each(rows.map((row) => [row.id, row.sentence, row] as const))(
    '%s: %s',
    async (_, __, row) => {
      if (row.step !== undefined) {
        await publishing.carryOut(row.id, row.step);
        await serve();
      } else {
        const answer = await new RawClient(proxyPort).send(wireOf(row.send!)).all();
        expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${row.status!}`);
        for (const text of row.lacks ?? []) expect(answer).not.toContain(text);
      }
      ran++;
    },
  );

  test('every row of the table ran', () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(rows.filter(({ send }) => send !== undefined).length).toBeGreaterThanOrEqual(70);
    expect(ran).toBe(rows.length);
    console.log(`sentences on API documents, live: ${ran} of ${rows.length} rows ran`);
  });
});

function wireOf({ method = 'GET', path, headers = {}, type, text, json }: Sent): string {
  const body = text ?? (json === undefined ? '' : JSON.stringify(json));
  const typed = type ?? (json === undefined ? '' : 'application/json');
  const lines = Object.entries({
    ...{ Host: 'shop.example', Connection: 'close', ...headers },
    ...(typed === '' ? {} : { 'Content-Type': typed }),
    ...(body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

type Call = (rpc: string, body: object) => Promise<Record<string, unknown>>;

/** Takes one document its whole way, and publishes it as steps say. */
class Publishing {
  readonly #call: Call;
  readonly #siteId: string;
  /** Publications by the row that made them. */
  readonly #intents = new Map<string, string>();
  #contractId = '';
  #profileId = '';
  /** Catalogue entries by key. */
  #operations = new Map<string, string>();

  constructor(call: Call, siteId: string) {
    this.#call = call;
    this.#siteId = siteId;
  }

  async stage(document: string): Promise<void> {
    const source = Buffer.from(document).toString('base64');
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

function idOf(value: unknown): string {
  return (value as { id: string }).id;
}

function readJson(base64: unknown): unknown {
  return JSON.parse(Buffer.from(String(base64), 'base64').toString('utf8'));
}
