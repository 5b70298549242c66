/** Tasks on policies and on what protects all sites: settings, rules, versions, address lists. */

import { expect } from 'vitest';
import { inList } from '../../../control/console/parts/in-list.ts';
import { eventually } from '../../support/eventually.ts';
import { attackIn, type Task, type World } from './task.ts';

const attack = '/?id=1%27%20OR%20%271%27=%271';

/** Sets the score from which a policy blocks, as another client of the API does. */
async function setThreshold(world: World, id: string, score: number): Promise<void> {
  const { policy } = await world.call('PolicyService/GetPolicy', { id });
  const { crsCore, revision } = policy as { crsCore: object; revision: string };
  const wanted = { id, crsCore: { ...crsCore, inboundAnomalyScoreThreshold: score } };
  const request = { policy: wanted, revision, updateMask: 'crs_core' };
  await world.call('PolicyService/UpdatePolicy', request);
}

/** The first word of the hits of each list that acts for all sites, by its name. */
const hitsShown = `(() => {
  const table = document.querySelector('[aria-label="Where lists act for all sites"] table');
  const rows = [...(table?.querySelectorAll('tbody tr') ?? [])].map((row) => [
    row.cells[0].textContent.replace(/[\\u2068\\u2069]/g, ''),
    row.querySelector('[data-title=Hits]').textContent.split(' ')[0],
  ]);
  return Object.fromEntries(rows);
})()`;

/** How many bindings for all sites each list of this name has. */
async function listedAs(world: World, name: string): Promise<number[]> {
  const { items } = await world.call('IpListService/ListIpLists', { query: name });
  const lists = (items ?? []) as { globalRefCount?: number }[];
  return lists.map(({ globalRefCount = 0 }) => globalRefCount);
}

/** The table. */
export const policyTasks: readonly Task[] = [
  {
    id: 'policy-create',
    page: 'Policies',
    does: 'makes a policy from a template',
    expects: 'the list and the API have it',
    run: async (desk, world) => {
      await desk.go('/policies');
      await desk.press('Make a policy from a template');
      await desk.fill('Name', 'Made by hand');
      await desk.press('Make it');
      await desk.shows('Made by hand');
      const found = await world.call('PolicyService/ListPolicies', {});
      expect(JSON.stringify(found['items'])).toContain('Made by hand');
    },
  },
  {
    id: 'policy-score',
    page: 'Policies',
    does: 'lets a policy block from another score',
    expects: 'the service holds the score',
    run: async (desk, world) => {
      const id = await world.policy('Scores');
      await desk.go(`/policies/${id}`);
      await desk.fill('Blocks requests from score', '9');
      await desk.press('Save');
      await desk.shows('Saved. Compiling rules…');
      expect(await world.call('PolicyService/GetPolicy', { id })).toMatchObject({
        policy: { crsCore: { inboundAnomalyScoreThreshold: 9 } },
      });
    },
  },
  {
    id: 'policy-rollback',
    page: 'Policies',
    does: 'goes back to the version before the last change',
    expects: 'the policy is as it was, after a question',
    run: async (desk, world) => {
      const id = await world.policy('Versions');
      await setThreshold(world, id, 6);
      await setThreshold(world, id, 77);
      await desk.go(`/policies/${id}?tab=versions`);
      await desk.press('Go back to this');
      await desk.shows('Serve this version from now on?');
      await desk.press('Go back to this');
      await eventually(async () => {
        const { policy } = await world.call('PolicyService/GetPolicy', { id });
        const { crsCore } = policy as { crsCore: { inboundAnomalyScoreThreshold: number } };
        return crsCore.inboundAnomalyScoreThreshold === 6;
      });
    },
  },
  {
    id: 'policy-rule',
    page: 'Policies',
    does: 'adds a rule of its own',
    expects: 'a request that it names is refused, another is not',
    run: async (desk, world) => {
      const id = await world.policy('Own rule');
      await world.site('ruled', id);
      await desk.go(`/policies/${id}?tab=rules`);
      await desk.press('Add a rule');
      await desk.fill('Name', 'No vault', 'Add a rule');
      const text =
        'SecRule REQUEST_URI "@beginsWith /vault" "id:10701,phase:1,deny,status:403,msg:\'vault\'"';
      await desk.fill('SecLang', text, 'Add a rule');
      await desk.press('Add');
      await desk.shows('No vault');
      const get = (path: string): Promise<number> => world.get(path, '127.0.0.1', 'ruled.example');
      await eventually(async () => (await get('/vault')) === 403);
      expect(await get('/')).toBe(200);
    },
  },
  {
    id: 'policy-exclusion',
    page: 'Policies',
    does: 'turns one rule off',
    expects: 'a request that only this rule found passes',
    run: async (desk, world) => {
      const id = await world.crsPolicy('Excluding');
      await world.site('excluded', id);
      const get = (): Promise<number> => world.get(attack, '127.0.0.1', 'excluded.example');
      await eventually(async () => (await get()) === 403);
      await desk.go(`/policies/${id}?tab=exclusions`);
      await desk.press('Add an exclusion to a rule');
      await desk.fill('Rule', '942100');
      await desk.choose('Effect', 'Turn the rule off');
      await desk.press('Add');
      await eventually(async () => (await get()) === 200);
    },
  },
  {
    id: 'policy-test',
    page: 'Policies',
    does: 'asks the engine what a policy makes of a request',
    expects: 'the verdict with its score, and nothing is recorded',
    run: async (desk, world) => {
      await desk.go(`/policies/${await world.policy('Asked')}?tab=test`);
      await desk.press('Ask the engine');
      await desk.shows('Blocked with status 403.');
      // Each answer differs from the one before, so that none is taken for the next.
      await desk.fill('Address', '/harmless');
      await desk.press('Ask the engine');
      await desk.shows('Passes.');
      await desk.fill('Address', "/?id=1' OR '1'='1");
      await desk.press('Ask the engine');
      await desk.shows('Blocked with status 403.');
    },
  },
  {
    id: 'list-create',
    page: 'Protection',
    does: 'makes an address list',
    expects: 'the list is there with its entry',
    run: async (desk, world) => {
      await desk.go('/');
      await desk.go('/protection');
      await desk.press('Make a list');
      await desk.fill('Name', 'Office', 'Make a list');
      await desk.fill('Addresses or networks, one a line', '192.0.2.0/24', 'Make a list');
      await desk.press('Make a list');
      await eventually(async () => {
        const found = await world.call('IpListService/ListIpLists', {});
        return JSON.stringify(found).includes('"Office"');
      });
      await desk.shows('Office');
    },
  },
  {
    id: 'list-allow',
    page: 'Protection',
    does: 'makes a list of addresses that are let in everywhere, in one form',
    expects: 'an attack from there is served, the same from elsewhere is not',
    run: async (desk, world) => {
      const { get, client } = await world.refused('let-in');
      await desk.go('/');
      await desk.go('/protection');
      const form = 'Make a list';
      await desk.press(form);
      await desk.fill('Name', 'Let in', form);
      await desk.fill('Addresses or networks, one a line', client, form);
      await desk.choose('On all sites', 'Allow, and inspect nothing', form);
      await desk.press(form, form);
      await eventually(async () => (await get(attackIn('q'))) === 200);
      expect(await world.get(attackIn('q'), world.client(), 'let-in.example')).toBe(403);
    },
  },
  {
    id: 'list-half',
    page: 'Protection',
    does: 'makes a list that acts, of which the second half fails, and submits again',
    expects: 'it says which half is done, and lists it; then it acts, and is there once',
    run: async (desk, world) => {
      await desk.go('/');
      await desk.go('/protection');
      const form = 'Make a list';
      await desk.press(form);
      await desk.fill('Name', 'Half made', form);
      await desk.fill('Addresses or networks, one a line', '203.0.113.178', form);
      await desk.choose('On all sites', 'Deny', form);
      await desk.refuseOnce('UpsertGlobalIpListBinding', () => desk.press(form, form));
      await desk.shows('The list “Half made” was made, but acts nowhere yet.');
      await desk.shows('Reason: the store could not be written');
      expect(await listedAs(world, 'Half made')).toEqual([0]);
      await desk.press(form, form);
      await desk.hides('acts nowhere yet');
      await eventually(async () => (await listedAs(world, 'Half made')).join() === '1');
    },
  },
  {
    id: 'list-deny',
    page: 'Protection',
    does: 'denies a list on all sites',
    expects: 'its address is refused, another is not',
    run: async (desk, world) => {
      await world.site('denied');
      const client = world.client();
      await world.ipList('Denied', client);
      const get = (from: string): Promise<number> => world.get('/', from, 'denied.example');
      await eventually(async () => (await get(client)) === 200);
      await desk.go('/');
      await desk.go('/protection');
      await desk.choose('Name', 'Denied', 'Let a list act for all sites');
      await desk.choose('Effect', 'Deny', 'Let a list act for all sites');
      await desk.press('Let a list act for all sites');
      await eventually(async () => (await get(client)) === 403);
      expect(await get(world.client())).toBe(200);
    },
  },
  {
    id: 'list-hits',
    page: 'Protection',
    does: 'reads how often a list was hit where it acts',
    expects: 'the number is that of the API, and of what was refused; another list was never hit',
    run: async (desk, world) => {
      await world.site('hits');
      const client = world.client();
      const bind = async (name: string, address: string): Promise<string> => {
        const ipListId = await world.ipList(name, address);
        const made = await world.call('IpListService/UpsertGlobalIpListBinding', {
          binding: { ipListId, kind: 'deny', ...inList },
        });
        return (made['binding'] as { id: string }).id;
      };
      const ruleIds = [await bind('Hit', client), await bind('Quiet', '203.0.113.200')];
      const get = (): Promise<number> => world.get('/', client, 'hits.example');
      let refused = 0;
      await eventually(async () => {
        if ((await get()) === 403) refused += 1;
        return refused === 3;
      });
      await eventually(async () => {
        const { items } = await world.call('waf.guard.v1.GuardService/ListRuleHits', { ruleIds });
        const [hit, quiet] = items as { hits?: string }[];
        expect(quiet!.hits ?? '0').toBe('0');
        return hit!.hits === '3';
      });
      await desk.go('/protection');
      await desk.refreshes(async () => {
        const rows = (await desk.page.evaluate(hitsShown)) as Record<string, string>;
        return rows['Hit'] === '3' && rows['Quiet'] === 'Never';
      });
      await desk.press('Open', 'Hit');
      await eventually(async () => {
        const uses = await desk.page.$$eval(
          'main [aria-label="Where this list is used"] tbody td',
          (cells) => cells.map((cell) => cell.textContent?.split(' last')[0]),
        );
        return uses.join(' | ') === 'All sites | Deny | 3';
      });
      await eventually(async () => {
        const hits = await desk.page.$$eval('main [aria-label="Hit"] [data-title=Hits]', (cells) =>
          cells.map((cell) => cell.textContent?.split(' ')[0]),
        );
        return hits.join() === '3';
      });
    },
  },
  {
    id: 'list-lookup',
    page: 'Protection',
    does: 'asks which lists an address meets',
    expects: 'an address of no list meets none',
    run: async (desk) => {
      await desk.go('/protection');
      await desk.fill('Address', '203.0.113.77', 'What does an address meet?');
      await desk.press('Look up');
      await desk.shows('No list names this address.');
    },
  },
];
