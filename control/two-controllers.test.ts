/** Two controllers of one store in PostgreSQL, each with its API, as clients of both see them. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../test/support/eventually.ts';
import { missingPostgres, TestPostgres } from '../test/support/postgres.ts';
import {
  enrollTestNode,
  helloOf,
  issueTestToken,
  nodeTransport,
  openTestStream,
  type TestStream,
} from '../test/support/test-node.ts';
import { startTestControl, type TestControl } from '../test/support/test-control.ts';
import { readStoreAddress } from './store/shared/store-option.ts';

if (missingPostgres !== null) console.log(missingPostgres);

describe.skipIf(missingPostgres !== null)('two controllers of one store', () => {
  let postgres: TestPostgres;
  let url: string;
  let [first, second]: TestControl[] = [];
  const storeKeyFile = join(mkdtempSync(join(tmpdir(), 'waf-key-')), 'store-key');
  const start = (): Promise<TestControl> =>
    startTestControl({ store: readStoreAddress(url, 'the test'), storeKeyFile });

  beforeAll(async () => {
    postgres = await TestPostgres.start();
    url = await postgres.freshUrl();
    // Together: what a first start makes is made once.
    [first, second] = await Promise.all([start(), start()]);
  }, 600_000);
  afterAll(async () => {
    await first?.control.close();
    await second?.control.close();
    await postgres?.stop();
  });

  const createSite = (at: TestControl, name: string) =>
    at.call('SiteService/CreateSite', {
      site: {
        name,
        primaryHost: `${name}.test`,
        upstreams: [{ inline: { url: 'http://127.0.0.1:1', weight: 1 } }],
      },
    });
  const sitesOf = async (at: TestControl): Promise<string[]> => {
    const { body } = await at.call('SiteService/ListSites', {});
    return ((body['items'] ?? []) as { name: string }[]).map(({ name }) => name).sort();
  };
  const holder = async (): Promise<unknown> =>
    (
      await postgres.rows(url, "SELECT holder FROM waf.leases WHERE duty = 'all' AND until > now()")
    )[0]?.['holder'];

  test('what one creates the other lists; of two of one name one is refused', async () => {
    expect((await createSite(first!, 'shop')).status).toBe(200);
    await eventually(async () => (await sitesOf(second!)).includes('shop'));
    const both = await Promise.all([createSite(first!, 'twice'), createSite(second!, 'twice')]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    await eventually(async () => (await sitesOf(first!)).includes('twice'));
    expect(await sitesOf(second!)).toEqual(await sitesOf(first!));
  });

  test('a sign-in at one holds at the other, and so does its end', async () => {
    const password = first!.password || second!.password;
    const network = { network: true };
    const login = await first!.call('AuthService/Login', { username: 'admin', password }, network);
    const token = String(login.body['accessToken']);
    const who = (at: TestControl) => at.call('AuthService/GetUserInfo', {}, { token });
    await eventually(async () => (await who(second!)).status === 200);
    expect((await second!.call('AuthService/Logout', {}, { token })).status).toBe(200);
    await eventually(async () => (await who(first!)).status === 401);
  });

  test('the audit chain is one, and whole', async () => {
    for (const at of [first!, second!]) {
      const { status, body } = await at.call('AuditService/VerifyChain', {});
      expect(status).toBe(200);
      expect(body['healthy']).toBe(true);
    }
  });

  test('the health of each says what controllers do not share', async () => {
    for (const at of [first!, second!]) {
      const { body } = await at.call('SystemService/Health', {});
      const message = expect.stringMatching(/^events, evidence .* stay with/) as string;
      const said = { component: 'controllers', status: 'healthy', message };
      expect(body['checks']).toContainEqual(expect.objectContaining(said));
    }
  });

  test('duties are of one, and move when it ends', async () => {
    const held = (): Promise<unknown> => eventually(async () => (await holder()) ?? null);
    const holders = [await held()];
    await first!.control.close();
    holders.push(await held());
    first = await start();
    await second!.control.close();
    holders.push(await held());
    second = await start();
    // The first, the second, and the one that the first became; or twice the second.
    expect(new Set(holders).size).toBeGreaterThanOrEqual(2);
    expect(holders[2]).not.toBe(holders[1]);
  }, 600_000);

  test('while PostgreSQL is away reads are answered, and changes refused with the reason', async () => {
    const sites = await sitesOf(second!);
    await postgres.kill();
    const refused = await createSite(second!, 'away');
    expect(refused.status).toBe(503);
    expect(refused.text).toContain('the shared store cannot be reached');
    expect(await sitesOf(second!)).toEqual(sites);
    await postgres.begin();
    await eventually(async () => (await createSite(second!, 'back')).status === 200);
    await eventually(async () => (await sitesOf(first!)).includes('back'));
    expect(await sitesOf(first!)).not.toContain('away');
  }, 600_000);

  test('a node whose controller ends continues at the other one; one enrolled again connects anew', async () => {
    const store = readStoreAddress(await postgres.freshUrl(), 'the test');
    const place = {
      store,
      storeKeyFile: join(mkdtempSync(join(tmpdir(), 'waf-key-')), 'store-key'),
    };
    const begin = () => startTestControl({ ...place, managementTls: 'own' });
    const [left, right] = await Promise.all([begin(), begin()]);
    let node = await enrollTestNode(left, await issueTestToken(left, 1), 'node-1');
    const connect = ({ control }: TestControl): TestStream =>
      openTestStream(nodeTransport(control.managementPort, node, node), helloOf(node));
    const configurations = ({ heard }: TestStream): string[] =>
      heard.flatMap(({ message }) =>
        message.case === 'configUpdate' ? [message.value.bundleSha256] : [],
      );
    let before = connect(left);
    await eventually(() => configurations(before).length > 0);
    const statusAt = async (at: TestControl): Promise<unknown> => {
      const { body } = await at.call('AgentService/ListAgents', {});
      return (body['items'] as { status: string }[])[0]?.status;
    };
    await eventually(async () => (await statusAt(right)) === 'AGENT_STATUS_ONLINE');
    const { body: health } = await right.call('SystemService/Health', {});
    expect(health['remoteAgentsConnected']).toBe(1);
    const retried = await right.call('AgentService/RetryNodeConfig', { nodeId: node.id });
    expect(retried.text).toContain('connected to another controller');

    node = await enrollTestNode(right, await issueTestToken(right, 1), 'node-1', node);
    expect(await before.ended).toContain('enrolled again');
    await eventually(async () => (await statusAt(right)) === 'AGENT_STATUS_OFFLINE');
    before = connect(left);
    await eventually(() => configurations(before).length > 0);
    await left.control.close();
    await before.ended;

    const after = connect(right);
    await eventually(() => configurations(after).length > 0);
    expect(configurations(after)[0]).toBe(configurations(before).at(-1));
    expect((await createSite(right, 'moved')).status).toBe(200);
    await eventually(() => configurations(after).length > 1);
    const { body } = await right.call('AgentService/ListAgents', {});
    expect(body['items']).toMatchObject([{ id: node.id, status: 'AGENT_STATUS_ONLINE' }]);
    after.end();
    await right.control.close();
  }, 600_000);
});
