/** Two people edit one record: each form shows what the other saved, and loses nothing typed. */

import { expect } from 'vitest';
import type { Desk } from './desk.ts';
import type { Task, World } from './task.ts';

const conflict = 'Somebody else saved this meanwhile.';

/** A form, what is entered there, and what somebody else saves before it is sent. */
interface Contested {
  readonly id: string;
  readonly page: string;
  /** The file of the form, so that none is forgotten. */
  readonly file: string;
  /** Where the form is; made with its record. */
  readonly at: (world: World) => Promise<string>;
  /** The row whose form is opened, or the fold. */
  readonly open?: readonly [words: string, within: string];
  readonly form: string;
  readonly label: string;
  readonly mine: string;
  /** What the form holds once the version of the other is taken. */
  readonly theirs: string;
  /** As the list of changes shows it, where a person reads other words. */
  readonly shown?: string;
  /** Saves as another session does; `path` is the page. */
  readonly save: (world: World, path: string) => Promise<unknown>;
  /** What later tasks are to find. */
  readonly after?: (world: World) => Promise<unknown>;
}

/** The id of the record that a path names. */
const idIn = (path: string): string => /([^/=?]+)(?:\?tab=\w+)?$/.exec(path)![1]!;

const siteAt =
  (name: string, tab: string) =>
  async (world: World): Promise<string> =>
    `/sites/${await world.site(name)}?tab=${tab}`;

const setValues = (world: World, values: object): Promise<object> =>
  world.call('SystemService/UpdateSystemSettings', { values });

/** Changes what a policy says of scores, limits and bodies. */
async function changeCore(world: World, id: string, changes: object): Promise<void> {
  const { policy } = await world.call('PolicyService/GetPolicy', { id });
  const { crsCore, revision } = policy as { crsCore: object; revision: string };
  const wanted = { id, crsCore: { ...crsCore, ...changes } };
  await world.call('PolicyService/UpdatePolicy', {
    ...{ policy: wanted, revision, updateMask: 'crs_core' },
  });
}

/** Changes the log policy of the deployment. */
async function changeLogPolicy(world: World, changes: object): Promise<void> {
  const { policy } = await world.call('LogService/GetGlobalLogPolicy', {});
  const { policy: held, revision } = policy as { policy: object; revision: string };
  await world.call('LogService/UpdateGlobalLogPolicy', {
    policy: { ...held, ...changes },
    ...{ expectedRevision: revision, acknowledgeStorageRisk: true },
  });
}

const target = (port: number): object => ({
  ...{ id: 'contested', transport: 'tcp', host: '127.0.0.1', port, format: 'ecs' },
});

const redirectTo = async (world: World, id: string, to: string): Promise<void> => {
  const { revision } = await world.siteAt(id);
  const delivery = { redirects: [{ path: '/old', target: to, status: 308 }] };
  const site = { id, delivery };
  await world.call('SiteService/UpdateSite', { site, revision, updateMask: 'delivery.redirects' });
};

const forms: readonly Contested[] = [
  {
    ...{ id: 'conflict-settings', page: 'Settings', file: 'setting-forms.tsx' },
    at: () => Promise.resolve('/settings?tab=sign-in'),
    form: 'Sign-in and sessions',
    label: 'A session ends without use after (seconds)',
    ...{ mine: '7300', theirs: '7400' },
    save: (world) => setValues(world, { 'auth.refresh_token_seconds': 7400 }),
    after: (world) => setValues(world, { 'auth.refresh_token_seconds': null }),
  },
  {
    ...{ id: 'conflict-entry', page: 'Settings', file: 'setting-forms.tsx' },
    at: async (world) => {
      await setValues(world, { 'siem.targets': [target(9)] });
      return '/settings?tab=services';
    },
    ...{ open: ['Edit', 'contested'], form: 'Edit: SIEM targets', label: 'Port' },
    ...{ mine: '10', theirs: '11' },
    save: (world) => setValues(world, { 'siem.targets': [target(11)] }),
    after: (world) => setValues(world, { 'siem.targets': [] }),
  },
  {
    ...{ id: 'conflict-console', page: 'Settings', file: 'settings.tsx' },
    at: () => Promise.resolve('/settings?tab=settings'),
    form: 'The console from outside',
    label: 'Host, for example waf.example.com',
    ...{ mine: 'mine.example', theirs: 'theirs.example' },
    save: (world) => setValues(world, { 'console.host': 'theirs.example' }),
    after: (world) => setValues(world, { 'console.host': '' }),
  },
  {
    ...{ id: 'conflict-keeping', page: 'Logs', file: 'log-keeping.tsx' },
    at: () => Promise.resolve('/logs?tab=keeping'),
    ...{ form: 'What is kept', label: 'Days requests are kept', mine: '8', theirs: '9' },
    save: (world) => changeLogPolicy(world, { accessFullRetentionDays: 9 }),
  },
  {
    ...{ id: 'conflict-policy', page: 'Policies', file: 'policy.tsx' },
    at: async (world) => `/policies/${await world.policy('Contested')}`,
    ...{ form: 'Settings', label: 'Blocks requests from score', mine: '7', theirs: '8' },
    save: (world, path) => changeCore(world, idIn(path), { inboundAnomalyScoreThreshold: 8 }),
  },
  {
    ...{ id: 'conflict-bodies', page: 'Policies', file: 'body-limits.tsx' },
    at: async (world) => {
      const policyId = await world.policy('Contested bodies');
      return `/sites/${await world.site('embodied', policyId)}?tab=inspection`;
    },
    form: 'Bodies of requests',
    ...{ label: 'Bytes that are always inspected', mine: '65536', theirs: '32768' },
    save: async (world, path) => {
      const { waf } = await world.siteAt(idIn(path));
      const { policyId } = waf as unknown as { policyId: string };
      await changeCore(world, policyId, {
        ...{ requestBodyLimit: 32_768, requestBodyLimitEnabled: true },
      });
    },
  },
  {
    ...{ id: 'conflict-own', page: 'Sites', file: 'site-inspection.tsx' },
    at: siteAt('own-numbers', 'inspection'),
    ...{ form: 'What this site changes in its policy', label: 'Why', mine: 'Mine' },
    theirs: 'Theirs of two',
    save: (world, path) =>
      world.call('SiteService/UpsertSitePolicyOverride', {
        override: { siteId: idIn(path), rationale: 'Theirs of two' },
      }),
  },
  {
    ...{ id: 'conflict-rest', page: 'Sites', file: 'site-routes.tsx' },
    at: siteAt('rest-of-two', 'routes'),
    ...{ form: 'Other paths', label: 'A path without a route', mine: 'Goes to the origins' },
    ...{ theirs: '2', shown: 'Is refused with 404' },
    save: (world, path) =>
      world.call('SiteService/UpdateSiteRouting', {
        ...{ siteId: idIn(path), routing: { unmatchedAction: 2 } },
      }),
  },
  {
    ...{ id: 'conflict-learning', page: 'Tuning', file: 'learning.tsx' },
    at: async (world) => `/tuning?site=${await world.site('taught-by-two')}`,
    ...{ form: 'The site', label: 'The site', mine: 'Acts by itself' },
    ...{ theirs: 'off', shown: 'Does not learn' },
    save: (world, path) => setValues(world, { 'detection.learning': { [idIn(path)]: 'off' } }),
  },
  {
    ...{ id: 'conflict-redirect', page: 'Sites', file: 'delivery-list.tsx' },
    at: async (world) => {
      const id = await world.site('redirected-by-two');
      await redirectTo(world, id, '/new');
      return `/sites/${id}?tab=delivery`;
    },
    ...{ open: ['Edit', '/old'], form: 'Edit: Redirects', label: 'Target' },
    ...{ mine: '/mine', theirs: '/theirs' },
    save: (world, path) => redirectTo(world, idIn(path), '/theirs'),
  },
];

/** Enters a text, or chooses the entry with these words. */
async function enter(desk: Desk, { form, label, mine, shown }: Contested): Promise<void> {
  await (shown === undefined ? desk.fill(label, mine, form) : desk.choose(label, mine, form));
}

async function run(desk: Desk, world: World, of: Contested): Promise<void> {
  const { form, label, theirs, shown = theirs } = of;
  const path = await of.at(world);
  await desk.go(path);
  if (of.open !== undefined) await desk.press(...of.open);
  await enter(desk, of);
  const mine = await desk.held(label, form);
  await of.save(world, path);
  await desk.press('Save', form);
  await desk.shows(conflict);
  const now = await desk.page.$$eval('.conflict dd', (all) => all.map((one) => one.textContent));
  expect(now).toEqual([shown]);
  expect(await desk.held(label, form)).toBe(mine);
  await desk.press('Take theirs', form);
  expect(await desk.held(label, form)).toBe(theirs);
  await desk.hides(conflict);
  await of.after?.(world);
}

/** Changes elsewhere in the record are nobody to ask about. */
const apart: readonly Task[] = [
  {
    id: 'apart-settings',
    page: 'Settings',
    does: 'saves one group of settings while somebody else saves another',
    expects: 'both are kept, and nothing is asked',
    run: async (desk, world) => {
      const label = 'A session ends without use after (seconds)';
      await desk.go('/settings?tab=sign-in');
      await desk.fill(label, '7500');
      await setValues(world, { 'siem.targets': [target(12)] });
      await desk.press('Save', 'Sign-in and sessions');
      await desk.shows('Saved.');
      const { settings } = await world.call('SystemService/GetSystemSettings', {});
      expect((settings as { values: object }).values).toMatchObject({
        ...{ 'auth.refresh_token_seconds': 7500, 'siem.targets': [target(12)] },
      });
      await setValues(world, { 'auth.refresh_token_seconds': null, 'siem.targets': [] });
    },
  },
  {
    id: 'apart-policy',
    page: 'Policies',
    does: 'changes the score of a policy that somebody else renames',
    expects: 'both are kept, and nothing is asked',
    run: async (desk, world) => {
      const id = await world.policy('Named by two');
      await desk.go(`/policies/${id}`);
      await desk.fill('Blocks requests from score', '12');
      const { policy } = await world.call('PolicyService/GetPolicy', { id });
      const { revision } = policy as { revision: string };
      const renamed = { id, name: 'Named by the other' };
      await world.call('PolicyService/UpdatePolicy', {
        ...{ policy: renamed, revision, updateMask: 'name' },
      });
      await desk.press('Save', 'Settings');
      await desk.shows('Saved. Compiling rules…');
      expect(await world.call('PolicyService/GetPolicy', { id })).toMatchObject({
        policy: { name: 'Named by the other', crsCore: { inboundAnomalyScoreThreshold: 12 } },
      });
    },
  },
];

/** Forms of records, by file, whose conflict is a task of another table. */
const elsewhere = ['site-form.tsx', 'site-trust.tsx', 'rate-limits.tsx'] as const;

/** Every file with a form that is tried with two editors. */
export const contestedFiles: readonly string[] = [
  ...new Set([...forms.map(({ file }) => file), ...elsewhere]),
];

/** The table. */
export const conflictTasks: readonly Task[] = [
  ...forms.map((of) => ({
    id: of.id,
    page: of.page,
    does: `edits “${of.label}”, which somebody else changed meanwhile`,
    expects: 'it says what the other saved, keeps what was typed, and takes theirs over',
    run: (desk: Desk, world: World) => run(desk, world, of),
  })),
  ...apart,
];
