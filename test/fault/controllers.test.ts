/**
 * Three controllers of one store in PostgreSQL, written to by the API while they hang and die,
 * PostgreSQL dies and connections break: what was acknowledged is everywhere, once.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startChainCheck } from '../../control/store/audit-chain.ts';
import { ipLists } from '../../control/store/access-collections.ts';
import { schemaSources } from '../../control/store/api-collections.ts';
import { collections } from '../../control/store/collection-list.ts';
import { publications } from '../../control/store/collections.ts';
import { readStoreAddress } from '../../control/store/shared/store-option.ts';
import { verifyStore } from '../../control/store/verify.ts';
import type { AdminAnswer } from '../support/admin-call.ts';
import { ControllerProcess } from '../support/controller-process.ts';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { missingPostgres, TestPostgres } from '../support/postgres.ts';
import { missingBuild } from '../support/product.ts';
import { seededRandom } from '../support/random.ts';
import { contentOf, newKeyFile, openController } from '../support/shared-stores.ts';

const missing = missingPostgres ?? missingBuild;
if (missing !== null) console.log(missing);

const document = readFileSync(join(import.meta.dirname, '..', 'schema', 'api-live.yaml'));
const seed = Number(process.env['WAF_FUZZ_SEED'] ?? Date.now() % 1_000_000);

/** What became of one write. */
type Outcome = 'made' | 'refused' | 'unknown';

/** Errors: an answer that no outage explains. */
function outcomeOf({ status, body }: AdminAnswer): Outcome {
  if (status === 200) return 'made';
  if (status !== 0 && status !== 503) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return String(body['message']).includes('nothing was changed') ? 'refused' : 'unknown';
}

describe.skipIf(missing !== null)(`three controllers, seed ${seed}`, () => {
  const random = seededRandom(seed);
  const keyFile = newKeyFile();
  const all: ControllerProcess[] = [];
  let postgres: TestPostgres;
  let proxy: CuttingProxy;
  let url: string;
  let token = '';
  let [siteId, sharedList] = ['', ''];
  /** By what they wrote: names of lists, of sources, and addresses. */
  const outcomes = new Map<string, Outcome>();
  const namesWith = (outcome: Outcome): string[] =>
    [...outcomes].filter(([, one]) => one === outcome).map(([name]) => name);
  let entries: readonly string[] = [];
  let written = 0;
  let names = 0;

  beforeAll(async () => {
    postgres = await TestPostgres.start();
    proxy = await CuttingProxy.start(postgres.port);
    url = await postgres.freshUrl(proxy.port);
    const place = { store: readStoreAddress(url, 'the test')!, storeKeyFile: keyFile };
    // The first has the duties.
    all.push(await ControllerProcess.start(place));
    await eventually(async () => (await lease()) !== '');
    all.push(...(await Promise.all([1, 2].map(() => ControllerProcess.start(place)))));
    token = await signIn();
    const site = {
      ...{ name: 'shop', primaryHost: 'shop.test' },
      upstreams: [{ inline: { url: 'http://127.0.0.1:1', weight: 1 } }],
    };
    siteId = await create('SiteService/CreateSite', { site }, 'site');
    const ipList = { name: 'shared' };
    sharedList = await create('IpListService/CreateIpList', { ipList }, 'ipList');
    await showsEverywhere('shared');
  });
  afterAll(async () => {
    for (const one of all) await one.kill();
    proxy?.close();
    await postgres?.stop();
  });

  async function signIn(): Promise<string> {
    const password = readFileSync(join(all[0]!.folder, 'admin-password'), 'utf8').trim();
    const login = { username: 'admin', password };
    const { body } = await all[0]!.callAs('', 'AuthService/Login', login);
    return String(body['accessToken']);
  }

  /** Resolves when all controllers have a list. */
  async function showsEverywhere(name: string): Promise<void> {
    for (const one of all) {
      await eventually(async () => {
        const { body } = await one.call('IpListService/ListIpLists', { query: name });
        return ((body['items'] ?? []) as object[]).length === 1;
      });
    }
  }

  /** The id of what the first controller makes. */
  async function create(rpc: string, body: object, field: string): Promise<string> {
    const answer = await all[0]!.call(rpc, body);
    expect(answer.status).toBe(200);
    return (answer.body[field] as { id: string }).id;
  }

  async function lease(): Promise<string> {
    const rows = await postgres.rows(
      url,
      "SELECT holder, until::text AS until FROM waf.leases WHERE duty = 'all'",
    );
    return rows.map(({ holder, until }) => `${String(holder)} ${String(until)}`).join();
  }
  const holder = async (): Promise<string> => (await lease()).split(' ')[0]!;

  const anyOf = (): ControllerProcess => all[Math.floor(random() * all.length)]!;

  /** A new list, or one more address in the list that all share. */
  async function writeOnce(): Promise<boolean> {
    const at = names++;
    const isList = random() < 0.5;
    const name = isList ? `list-${at}` : `10.1.${at >> 8}.${at & 255}`;
    outcomes.set(name, 'unknown');
    const answer = isList
      ? await anyOf().call('IpListService/CreateIpList', { ipList: { name } })
      : await anyOf().call('IpListService/AddEntries', {
          ...{ ipListId: sharedList, entries: [{ value: name }] },
        });
    const outcome = outcomeOf(answer);
    outcomes.set(name, outcome);
    return outcome === 'made';
  }

  /** The same call with its key, at whichever controller, until one says that it is made. */
  async function writeKeyed(): Promise<void> {
    const name = `source-${names++}`;
    const source = document.toString('base64');
    const keyed = { siteId, name, format: 'yaml', source, idempotencyKey: name };
    const answers = new Set<string>();
    const ask = async (): Promise<boolean> => {
      const answer = await anyOf().call('ApiSchemaService/StageSchemaSource', keyed);
      if (outcomeOf(answer) !== 'made') return false;
      answers.add(JSON.stringify(answer.body['source']));
      return true;
    };
    await eventually(ask);
    await eventually(ask);
    expect(answers.size).toBe(1);
    outcomes.set(name, 'made');
  }

  /** What the list has that all write to. */
  async function entriesOf(one: ControllerProcess): Promise<string[]> {
    const values: string[] = [];
    for (let page = 1; ; page++) {
      const asked = { ipListId: sharedList, page: { page, pageSize: 100 } };
      const { body } = await one.call('IpListService/ListIpListEntries', asked);
      const items = (body['items'] ?? []) as { value: string }[];
      if (items.length === 0) return values;
      values.push(...items.map(({ value }) => value));
    }
  }

  /** Sixty acknowledged writes, twenty after one another by each of three clients. */
  async function writeSixty(): Promise<void> {
    const client = async (): Promise<void> => {
      for (let at = 0; at < 20; at++) {
        if (at % 10 === 5) await writeKeyed();
        else await eventually(writeOnce);
        written++;
      }
    };
    await Promise.all([client(), client(), client()]);
  }

  test.each<[string, () => Promise<void>]>([
    [
      'the one with the duties hangs',
      async () => {
        const before = await holder();
        all[0]!.suspend();
        await eventually(async () => (await holder()) !== before).finally(() => all[0]!.resume());
      },
    ],
    [
      'one is killed and starts again',
      async () => {
        await all[1]!.kill();
        await all[1]!.begin();
      },
    ],
    [
      'PostgreSQL is killed and starts again',
      async () => {
        await postgres.kill();
        await postgres.begin();
      },
    ],
    [
      'connections are cut again and again',
      async () => {
        for (let round = 0; round < 3; round++) {
          const before = written;
          proxy.cutAll();
          await eventually(() => written >= before + 5);
        }
      },
    ],
    [
      'PostgreSQL and a controller are killed at once',
      async () => {
        await Promise.all([postgres.kill(), all[2]!.kill()]);
        await postgres.begin();
        await all[2]!.begin();
      },
    ],
  ])('writes are made while %s', async (_, harm) => {
    const before = written;
    const harmed = eventually(() => written >= before + 10).then(harm);
    await Promise.all([writeSixty(), harmed]);
    expect(written).toBe(before + 60);
  });

  test('a session of one holds at all, and its end, too', async () => {
    const statuses = (): Promise<number[]> =>
      Promise.all(
        all.map(async (one) => (await one.callAs(token, 'AuthService/GetUserInfo', {})).status),
      );
    await eventually(async () => (await statuses()).every((status) => status === 200));
    expect((await all[1]!.callAs(token, 'AuthService/Logout', {})).status).toBe(200);
    await eventually(async () => (await statuses()).every((status) => status === 401));
  });

  test('the duties are taken over by the one that is left', async () => {
    const ipList = { name: 'last' };
    await eventually(
      async () => (await anyOf().call('IpListService/CreateIpList', { ipList })).status === 200,
    );
    await showsEverywhere('last');
    entries = await entriesOf(all[2]!);
    for (const one of all.slice(0, 2)) await one.kill();
    const leases = new Set<string>();
    // What the others renewed before they died may be seen once.
    await eventually(async () => leases.add(await lease()).size > 3);
    expect(new Set([...leases].slice(1).map((one) => one.split(' ')[0])).size).toBe(1);
    await all[2]!.kill();
  });

  test('all have the same: each write once, one audit chain, one row of revisions', async () => {
    // They catch up as they open: what a copy lacks is in the log.
    const opened = await Promise.all(
      all.map(({ folder }) => openController(url, keyFile, join(folder, 'control'))),
    );
    const [first] = opened;
    for (const { kv } of opened.slice(1)) expect(contentOf(kv)).toEqual(contentOf(first!.kv));
    const { kv, store } = first!;
    expect(verifyStore(kv, collections).problems).toEqual([]);
    const chain = startChainCheck();
    const rowsOf = new Map<string, number>();
    for (const row of store.auditRows()) {
      chain.add(row);
      rowsOf.set(row.resourceId, (rowsOf.get(row.resourceId) ?? 0) + 1);
    }
    expect(chain.finish(store.auditHead()).breaks).toEqual([]);

    const lists = store.list(ipLists);
    const sources = store.list(schemaSources);
    const found = [...lists, ...sources].map(({ name }) => name).concat(entries);
    expect(new Set(found).size).toBe(found.length);
    expect(namesWith('made').filter((name) => !found.includes(name))).toEqual([]);
    expect(namesWith('refused').filter((name) => found.includes(name))).toEqual([]);
    expect(namesWith('made')).toHaveLength(300);
    for (const { id } of lists) {
      expect(rowsOf.get(id)).toBe(id === sharedList ? entries.length + 1 : 1);
    }
    expect(revisionsOf(sources)).toEqual(sources.map((_, at) => at + 1));
    const published = revisionsOf(store.list(publications));
    expect(published).toEqual(published.map((_, at) => at + 1));
    for (const one of opened) await one.kv.close();
  });
});

function revisionsOf(records: readonly { readonly revision: string }[]): number[] {
  return records.map(({ revision }) => Number(revision)).sort((a, b) => a - b);
}
