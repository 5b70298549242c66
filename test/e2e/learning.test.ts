/**
 * Learning in the running product: fields of bodies are learned, hostile requests with planted
 * values leave none of them in the data folder, and a kill of control forgets nothing.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { learningLimits } from '../../engine/base/learning-limits.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';

/** Every planted value holds it. */
const canary = 'kanarienvogel';
/** A field that is learned; its name must be found where values must not. */
const learnedName = 'harmlessFieldName';
const hostile = 400;

interface State {
  readonly enabled: boolean;
  readonly revision: string;
  readonly generation: string;
  readonly evidence: {
    readonly samples: string;
    readonly fields: readonly { readonly path: string; readonly types: object }[];
  };
  readonly coverage: { readonly requests: string; readonly state: string };
  readonly drafts: readonly { readonly revision_id: string }[];
}

describe.skipIf(missingBuild !== null)('learning', () => {
  let product: Product;
  let origin: Server;
  let siteId = '';
  let assetId = '';
  const agent = new Agent();

  beforeAll(async () => {
    origin = createServer((asked, answer) => {
      asked.resume().once('end', () => answer.end('from the origin'));
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    product = await startProduct('--no-demo', '--workers', '1');
    const { port } = origin.address() as AddressInfo;
    const upstream = `http://127.0.0.1:${port}`;
    const site = ['--name', 'shop', '--host', 'shop.example', '--upstream', upstream];
    await product.wafBeside('site', 'create', ...site);
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    await agent.close();
    origin.close();
  });

  async function send(path: string, body: unknown): Promise<number> {
    const { statusCode, body: answer } = await request(
      `http://127.0.0.1:${product.proxyPort}${path}`,
      {
        dispatcher: agent,
        method: 'POST',
        headers: { host: 'shop.example', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      },
    );
    await answer.dump();
    return statusCode;
  }

  /** A path of the management API over the administration socket. */
  function admin(method: string, path: string, body: object | null): Promise<string> {
    const socketPath = join(product.data, 'admin.sock');
    const headers = { 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const sent = httpRequest({ socketPath, method, path, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        answer.on('end', () => resolve(text));
      });
      sent.on('error', reject);
      sent.end(body === null ? undefined : JSON.stringify(body));
    });
  }

  async function call(rpc: string, body: object): Promise<Record<string, unknown>> {
    const text = await admin('POST', `/waf.v1.${rpc}`, body);
    return JSON.parse(text) as Record<string, unknown>;
  }

  async function state(): Promise<State> {
    const answer = await call('ApiSchemaService/GetSchemaLearning', { siteId, assetId });
    const text = Buffer.from(String(answer['stateJson']), 'base64').toString('utf8');
    return JSON.parse(text) as State;
  }

  /** The asset of an endpoint that traffic showed. */
  async function findAsset(): Promise<string | null> {
    await send('/orders', { [learnedName]: 1 });
    const { items } = (await call('SiteService/ListSites', {})) as { items: { id: string }[] };
    siteId = items[0]!.id;
    const tree = await admin('GET', `/api/v1/telemetry/apitree?site=${siteId}&depth=9`, null);
    return /asset-[0-9a-f]{32}/.exec(tree)?.[0] ?? null;
  }

  test('an endpoint that traffic showed learns once it is asked to', async () => {
    assetId = await eventually(findAsset);
    const path = join(product.data, 'change.json');
    writeFileSync(path, JSON.stringify({ siteId, assetId, enabled: true, expectedRevision: '0' }));
    await product.wafBeside('api-document', 'learning-change', '-f', path);
    const learned = await eventually(async () => {
      expect(await send('/orders', { [learnedName]: 1, list: [true] })).toBe(200);
      const now = await state();
      return now.evidence.fields.length >= 4 ? now : null;
    });
    expect(learned.enabled).toBe(true);
    expect(learned.evidence.fields.map((one) => one.path)).toEqual([
      '',
      `/${learnedName}`,
      '/list',
      '/list[]',
    ]);
  });

  test('hostile requests are counted, bounded, and leave no planted value', async () => {
    const before = Number((await state()).coverage.requests);
    for (let at = 0; at < hostile; at++) {
      const name = `${canary}${letters(at)}`;
      const planted = { [name]: name, [`${name}@shop.example`]: [name, { [learnedName]: name }] };
      await send(`/random${letters(at)}`, planted);
      await send('/orders', { ...planted, [learnedName]: at });
    }
    const after = await eventually(async () => {
      const now = await state();
      return Number(now.coverage.requests) >= before + hostile ? now : null;
    });
    expect(Number(after.evidence.samples)).toBeGreaterThan(0);
    expect(after.evidence.fields.length).toBeLessThanOrEqual(learningLimits.fieldsPerEndpoint);
    expect(JSON.stringify(after)).not.toContain(canary);
    expect(after.coverage.state).toBe('partial');
    expect(filesWith(product.data, learnedName)).not.toEqual([]);
    expect(filesWith(product.data, canary)).toEqual([]);
  });

  test('a kill of control forgets nothing', async () => {
    const { revisionJson } = await call('ApiSchemaService/SnapshotSchemaLearning', {
      ...{ siteId, assetId },
    });
    const draft = JSON.parse(Buffer.from(String(revisionJson), 'base64').toString()) as object;
    const before = await state();
    const pid = product.childPid('control/main.js');
    process.kill(pid, 'SIGKILL');
    const after = await eventually(async () => {
      const next = product.childPid('control/main.js');
      return next !== 0 && next !== pid ? await state().catch(() => null) : null;
    });
    // The engine may still have reported requests between the two answers.
    expect(shrunk(before, after)).toEqual([]);
    expect(after.drafts).toEqual([draft]);
    const path = join(product.data, 'export.json');
    const { revision_id: revisionId } = after.drafts[0]!;
    writeFileSync(path, JSON.stringify({ siteId, assetId, revisionId }));
    const shown = await product.wafBeside('api-document', 'learning-export', '-f', path);
    expect(shown).toContain(learnedName);
  });
});

/** A name of letters, another one for each number. */
function letters(at: number): string {
  return [...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
}

/** Paths of what is gone from a state, or counts less than before. */
function shrunk(before: unknown, after: unknown, path = ''): string[] {
  if (typeof before === 'object' && before !== null) {
    const then = (after ?? {}) as Record<string, unknown>;
    return Object.entries(before).flatMap(([key, value]) =>
      shrunk(value, then[key], `${path}/${key}`),
    );
  }
  if (before === after) return [];
  const grew = isCount(before) && isCount(after) && BigInt(after) > BigInt(before);
  const later = path.endsWith('/last_at') && String(after) > String(before);
  return grew || later ? [] : [`${path}: ${String(before)}, then ${String(after)}`];
}

function isCount(value: unknown): value is string {
  return typeof value === 'string' && /^\d+$/.test(value);
}

/** Files of a folder, at any depth, that hold a text. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => bytesOf(path).includes(text));
}

/** A file that was put away meanwhile holds nothing. */
function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return Buffer.alloc(0);
  }
}
