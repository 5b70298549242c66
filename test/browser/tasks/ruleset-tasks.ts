/** Tasks on what changes beside live traffic: another ruleset, and a second pool of a route. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { packArchive } from '../../../control/publish/rulesets/ruleset-pack.ts';
import { eventually } from '../../support/eventually.ts';
import { sendRaw } from '../console-driver.ts';
import { inChinese } from './chinese-tasks.ts';
import type { Task, World } from './task.ts';

/** The only rule of a ruleset of the tasks. */
const rule = `SecRule REQUEST_URI "@beginsWith /beside" \\
  "id:920999,phase:1,deny,status:403,log,msg:'Beside',ver:'OWASP_CRS/4.99.0'"
`;

/** Imports the ruleset, once. */
async function importRuleset(world: World): Promise<void> {
  const { items } = await world.call('CrsService/ListCrsRulesets', {});
  if ((items as { version: string }[]).some(({ version }) => version === '4.99.0')) return;
  const files = ['REQUEST-901-INITIALIZATION', 'REQUEST-949-BLOCKING-EVALUATION'].map(
    (name, at) => ({
      path: `release/rules/${name}.conf`,
      content: Buffer.from(at === 0 ? rule : '# Nothing.\n'),
    }),
  );
  const archive = packArchive(files).toString('base64');
  await world.call('SystemService/ImportCrsRuleset', { archive });
}

/** The counts of the last run of a policy. */
async function counts(world: World, policyId: string): Promise<Record<string, unknown>> {
  const found = await world.call('waf.shadow.v1.ShadowService/GetShadowRun', { policyId });
  return found['run'] as Record<string, unknown>;
}

const chinese: readonly Task[] = [
  {
    id: 'zh-ruleset-shadow',
    page: 'Policies',
    does: 'starts another ruleset beside the one in use',
    expects: 'the run is there, and its counts are said',
    run: async (desk, world) => {
      await importRuleset(world);
      const policyId = await world.policy('Tried in Chinese');
      await desk.go(`/policies/${policyId}?tab=ruleset`);
      await desk.choose('要试运行的规则集', 'CRS 4.99.0', '试运行另一规则集');
      await desk.press('开始', '试运行另一规则集');
      await desk.shows('已开始，正在编译规则…');
      await desk.shows('仅试运行的会拦截');
      await desk.press('停止');
      await desk.shows('已于');
      expect((await counts(world, policyId))['running']).toBeUndefined();
    },
  },
];

/** The table. */
export const rulesetTasks: readonly Task[] = [
  {
    id: 'ruleset-shadow',
    page: 'Policies',
    does: 'tries another ruleset on live traffic, and switches to it',
    expects: 'what only the other would block is shown and not blocked until the switch',
    run: async (desk, world) => {
      await importRuleset(world);
      const policyId = await world.crsPolicy('Tried');
      await world.site('tried', policyId);
      const get = (): Promise<number> => world.get('/beside', '127.0.0.1', 'tried.example');
      await eventually(async () => (await get()) === 200);
      await desk.go(`/policies/${policyId}?tab=ruleset`);
      await desk.choose('Ruleset to try', 'CRS 4.99.0', 'Another ruleset beside it');
      await desk.press('Start', 'Another ruleset beside it');
      await desk.shows('Started. Compiling rules…');
      await eventually(async () => {
        expect(await get()).toBe(200);
        return (await counts(world, policyId))['onlyNew'] !== undefined;
      });
      await desk.refreshes(() => desk.has('GET /beside'));
      await desk.shows('Only the other would block');
      await desk.press('Stop');
      await desk.shows('CRS 4.99.0 beside CRS 3.3.4, ended');
      expect((await counts(world, policyId))['running']).toBeUndefined();
      await desk.press('Switch to it', 'CRS 4.99.0');
      await desk.shows('Let its rules decide from now on?');
      await desk.press('Switch to it', 'CRS 4.99.0');
      await eventually(async () => (await get()) === 403);
    },
  },
  ...chinese.map(inChinese),
  {
    id: 'policy-differs',
    page: 'Policies',
    does: 'compares an earlier version of a policy with the newest',
    expects: 'each setting that differs is a row with both values',
    run: async (desk, world) => {
      const id = await world.policy('Compared');
      const { policy } = await world.call('PolicyService/GetPolicy', { id });
      const { crsCore, revision } = policy as { crsCore: object; revision: string };
      const wanted = { id, crsCore: { ...crsCore, inboundAnomalyScoreThreshold: 77 } };
      await world.call('PolicyService/UpdatePolicy', {
        ...{ policy: wanted, revision, updateMask: 'crs_core' },
      });
      await desk.go(`/policies/${id}?tab=versions`);
      await desk.press('Compare with the newest');
      await desk.shows('In the newest');
      const rows = await desk.page.$$eval('main [aria-label="What differs"] tbody tr', (all) =>
        all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')),
      );
      const threshold = rows.find(([setting]) => setting?.includes('inboundAnomalyScoreThreshold'));
      expect(threshold?.at(-1)).toContain('77');
      expect(rows.flat().join(' ')).not.toMatch(/[{}"]/);
    },
  },
  {
    id: 'route-canary',
    page: 'Sites',
    does: 'sends requests with a field to a second pool of a route',
    expects: 'they go there, others do not',
    run: async (desk, world) => {
      const newer = createServer((_request, response) => response.writeHead(299).end('newer'));
      await new Promise<void>((resolve) => newer.listen(0, '127.0.0.1', resolve));
      try {
        const pool = async (name: string, url: string): Promise<void> => {
          const upstream = {
            name,
            endpoints: [{ url, weight: 1 }],
            status: 'RESOURCE_STATUS_ACTIVE',
          };
          await world.call('UpstreamService/CreateUpstream', { upstream });
        };
        await pool('Older', world.origin);
        await pool('Newer', `http://127.0.0.1:${(newer.address() as AddressInfo).port}`);
        await desk.go(`/sites/${await world.site('canary')}?tab=routes`);
        await desk.press('Add a route');
        await desk.choose('Pool', 'Older', 'Add a route');
        await desk.fill('Header field that decides', 'X-Newer', 'Add a route');
        await desk.press('Add a route', 'Add a route');
        await desk.shows('Choose the second pool that this is for.');
        await desk.choose('Second pool', 'Newer', 'Add a route');
        await desk.press('Add a route', 'Add a route');
        await desk.shows('Newer, 0 %');
        const get = (fields: Readonly<Record<string, string>>): Promise<number> =>
          sendRaw(world.product, '/', { host: 'canary.example', ...fields });
        await eventually(async () => (await get({ 'x-newer': 'always' })) === 299);
        expect(await get({})).toBe(200);
        expect(await get({ 'x-newer': 'never' })).toBe(200);
      } finally {
        newer.closeAllConnections();
        newer.close();
      }
    },
  },
];
