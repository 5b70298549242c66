/**
 * Traffic that never stops while a policy moves to another CRS ruleset and back, and while an
 * engine starts with nothing compiled: no request fails, no attack passes.
 */

import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packFolder } from '../../control/publish/rulesets/ruleset-pack.ts';
import { crs4Folder } from '../crs/standard-proxy.ts';
import { adminCall } from '../support/admin-call.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

type Json = Record<string, unknown>;

const clients = 4;
/** Between requests of one client: the engine's cores must be able to compile meanwhile. */
const breathMs = 10;
/** How long a ruleset may compile on a slow machine. */
const compileMs = 300_000;

/** Clients that ask for harmless pages and for attacks in turn until they are stopped. */
class Traffic {
  readonly statuses = { harmless: new Map<number, number>(), attack: new Map<number, number>() };
  /** Connections that broke, by the code of the error. */
  readonly broken: string[] = [];
  private readonly agent = new Agent({ headersTimeout: 120_000 });
  private readonly url: string;
  private going = true;
  private readonly running: Promise<void>[];

  constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.running = Array.from({ length: clients }, () => this.run());
  }

  /** Resolves when each client asked some more. */
  async more(requests: number): Promise<void> {
    const wanted = this.count() + requests;
    await eventually(() => this.count() >= wanted, compileMs);
  }

  async stop(): Promise<void> {
    this.going = false;
    await Promise.all(this.running);
    await this.agent.close();
  }

  count(): number {
    const { harmless, attack } = this.statuses;
    return [...harmless.values(), ...attack.values()].reduce((sum, one) => sum + one, 0);
  }

  seen(kind: 'harmless' | 'attack'): number[] {
    return [...this.statuses[kind].keys()].sort((a, b) => a - b);
  }

  private async run(): Promise<void> {
    for (let at = 0; this.going; at++) {
      const kind = at % 2 === 0 ? 'harmless' : 'attack';
      const path = kind === 'harmless' ? `/?page=${at}` : `/?id=${at}'+union+select+1,2--+-`;
      await this.ask(kind, path);
      await pause(breathMs);
    }
  }

  private async ask(kind: 'harmless' | 'attack', path: string): Promise<void> {
    try {
      const headers = { host: 'switched.example' };
      const options = { dispatcher: this.agent, headers };
      const { statusCode, body } = await request(`${this.url}${path}`, options);
      await body.dump();
      const counts = this.statuses[kind];
      counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1);
    } catch (thrown) {
      this.broken.push(String((thrown as { code?: unknown }).code));
    }
  }
}

const absent = missingBuild !== null || !existsSync(crs4Folder);

describe.skipIf(absent)('traffic that never stops', () => {
  let product: Product;
  let origin: Server;
  let policyId: string;
  let crs4: string;

  beforeAll(async () => {
    origin = createServer((_request, response) => response.end('from the origin'));
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    product = await startProduct('--workers', '2');
    const archive = packFolder(crs4Folder).toString('base64');
    const { ruleset } = await call('SystemService/ImportCrsRuleset', { archive });
    crs4 = (ruleset as { id: string }).id;
    const made = await call('PolicyService/CreatePolicyFromTemplate', {
      templateId: 'template-standard',
      name: 'switched',
    });
    policyId = (made['policy'] as { id: string }).id;
    const { port } = origin.address() as AddressInfo;
    await call('SiteService/CreateSite', {
      site: {
        name: 'switched',
        primaryHost: 'switched.example',
        upstreams: [{ inline: { url: `http://127.0.0.1:${port}`, weight: 1 } }],
        waf: { enabled: true, policyId, mode: 'WAF_MODE_BLOCKING' },
      },
    });
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    origin.close();
  });

  const call = async (rpc: string, body: Json): Promise<Json> => {
    const answer = await adminCall(product.data, rpc, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  /** Moves the policy and waits until the node serves that. */
  const move = async (crsRulesetId: string): Promise<void> => {
    const got = (await call('PolicyService/GetPolicy', { id: policyId }))['policy'] as Json;
    const { revision } = got;
    await call('PolicyService/SetActiveCrsRuleset', { policyId, revision, crsRulesetId });
    await eventually(async () => {
      const state = await call('AgentService/GetNodeServingState', { nodeId: 'local' });
      return state['publishing'] !== true && state['acknowledged'] === true;
    }, compileMs);
  };

  test('CRS 3.3.4 to 4.28 and back: none fails, no attack passes', async () => {
    const traffic = new Traffic(product.proxyPort);
    await traffic.more(40);
    for (const ruleset of [crs4, 'crs-default']) {
      await move(ruleset);
      await traffic.more(40);
    }
    await traffic.stop();
    console.log(`${traffic.count()} requests during two moves`);
    expect(traffic.broken).toEqual([]);
    expect([traffic.seen('harmless'), traffic.seen('attack')]).toEqual([[200], [403]]);
  }, 600_000);

  test('an engine that starts with nothing compiled answers each, 503 and 404 never', async () => {
    const traffic = new Traffic(product.proxyPort);
    await traffic.more(40);
    const before = product.childPid('engine/main.js');
    rmSync(join(product.data, 'engine', 'databases'), { force: true, recursive: true });
    mkdirSync(join(product.data, 'engine', 'databases'), { mode: 0o700 });
    process.kill(before, 'SIGKILL');
    await eventually(() => ![0, before].includes(product.childPid('engine/main.js')));
    await traffic.more(80);
    await traffic.stop();
    // The connections of the engine that was killed, no others.
    expect(traffic.broken.length).toBeLessThanOrEqual(clients);
    expect([traffic.seen('harmless'), traffic.seen('attack')]).toEqual([[200], [403]]);
  }, 600_000);
});
