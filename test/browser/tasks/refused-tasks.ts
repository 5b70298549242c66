/** Tasks of forms whose values the API refuses: the field is named beside the field. */

import { expect } from 'vitest';
import type { Desk } from './desk.ts';
import type { Task, World } from './task.ts';

/** One form, what is entered there, and the field that the API refuses. */
interface RefusedForm {
  readonly id: string;
  readonly page: string;
  /** Where the form is; made with the records that it needs. */
  readonly at: (world: World) => Promise<string>;
  /** The fold that is opened first. */
  readonly fold?: string;
  /** The form's name, where the page has several. */
  readonly form?: string;
  /** Labels and what is entered. */
  readonly fill: Readonly<Record<string, string>>;
  readonly submit: string;
  /** Name of the field that is refused. */
  readonly field: string;
}

const here = (path: string) => (): Promise<string> => Promise.resolve(path);
const siteAt =
  (tab: string) =>
  async (world: World): Promise<string> =>
    `/sites/${await world.site(`refused-${tab}`)}?tab=${tab}`;

const forms: readonly RefusedForm[] = [
  {
    ...{ id: 'refused-site', page: 'Sites', at: here('/sites'), fold: 'Create a site' },
    ...{ fill: { Host: 'not a host', Origin: 'http://127.0.0.1:9' }, submit: 'Create' },
    field: 'host',
  },
  {
    ...{ id: 'refused-origin', page: 'Sites', at: siteAt('names') },
    ...{ fill: { 'Addresses of origins, one a line': 'ftp://127.0.0.1' }, submit: 'Save' },
    field: 'origins',
  },
  {
    ...{ id: 'refused-limit', page: 'Sites', at: siteAt('limits'), fold: 'Add a rate limit' },
    ...{ form: 'Add a rate limit', fill: { Path: '/api', Requests: '0' }, submit: 'Add' },
    field: 'count',
  },
  {
    ...{ id: 'refused-redirect', page: 'Sites', at: siteAt('delivery'), fold: 'Add a redirect' },
    ...{ form: 'Add a redirect', fill: { Path: 'old', Target: '/new' }, submit: 'Add' },
    field: 'path',
  },
  {
    ...{ id: 'refused-list', page: 'Protection', at: here('/protection'), fold: 'Make a list' },
    ...{
      form: 'Make a list',
      fill: { Name: 'Wrong', 'Addresses or networks, one a line': 'nonsense' },
    },
    ...{ submit: 'Make a list', field: 'addresses' },
  },
  {
    ...{ id: 'refused-level', page: 'Policies', submit: 'Save', field: 'blocking' },
    at: async (world) => `/policies/${await world.policy('Refused level')}`,
    fill: { 'Paranoia level that blocks': '9' },
  },
  {
    ...{ id: 'refused-rule', page: 'Policies', fold: 'Add a rule', form: 'Add a rule' },
    at: async (world) => `/policies/${await world.policy('Refused rule')}?tab=rules`,
    ...{ fill: { Name: 'Wrong', SecLang: 'SecRule nonsense' }, submit: 'Add' },
    field: 'text',
  },
  {
    ...{ id: 'refused-role', page: 'Access', at: here('/access?tab=roles'), fold: 'Add a role' },
    ...{ form: 'Add a role', fill: { Name: 'Wrong', 'Permission codes, one a line': 'no:such' } },
    ...{ submit: 'Add', field: 'codes' },
  },
  {
    ...{ id: 'refused-channel', page: 'Alerts', at: here('/alerts?tab=channels') },
    ...{ fold: 'Add a channel', form: 'Add a channel', submit: 'Add', field: 'url' },
    fill: { Name: 'Wrong', 'Address that is called': 'ftp://hooks.shop.example' },
  },
];

/** The field that is marked as wrong, with what stands below it. */
const marked = `(() => {
  const input = document.querySelector('main [aria-invalid=true]');
  return input === null ? null :
    { name: input.name, note: input.closest('label').querySelector('small.notice').textContent };
})()`;

async function run(desk: Desk, world: World, of: RefusedForm): Promise<void> {
  await desk.go(await of.at(world));
  if (of.fold !== undefined) await desk.press(of.fold);
  for (const [label, text] of Object.entries(of.fill)) await desk.fill(label, text, of.form);
  await desk.press(of.submit, of.form);
  // The focus follows the mark.
  await desk.page.waitForSelector('main [aria-invalid=true]:focus');
  const found = (await desk.page.evaluate(marked)) as { name: string; note: string };
  expect(found.name).toBe(of.field);
  expect(found.note.length).toBeGreaterThan(10);
}

/** The table. */
export const refusedTasks: readonly Task[] = forms.map((of) => ({
  id: of.id,
  page: of.page,
  does: `enters what the API refuses in the field ${of.field}`,
  expects: 'the field is marked, has the focus, and says below it what is wrong',
  run: (desk, world) => run(desk, world, of),
}));
