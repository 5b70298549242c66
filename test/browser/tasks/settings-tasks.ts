/** Tasks of the settings of the deployment: values in forms, lists of entries, what is refused. */

import { expect } from 'vitest';
import type { Task, World } from './task.ts';

/** The values of the deployment as the API has them. */
async function valuesOf(world: World): Promise<Record<string, unknown>> {
  const { settings } = await world.call('SystemService/GetSystemSettings', {});
  return (settings as { values: Record<string, unknown> }).values;
}

const signIn = '/settings?tab=sign-in';
const services = '/settings?tab=services';

/** The tasks. */
export const settingsTasks: readonly Task[] = [
  {
    id: 'settings-value',
    page: 'Settings',
    does: 'has sessions end earlier, and returns to the standard by an empty field',
    expects: 'the API has the number, then the standard again; no other value changed',
    run: async (desk, world) => {
      const key = 'auth.refresh_token_seconds';
      const label = 'A session ends without use after (seconds)';
      const before = await valuesOf(world);
      await desk.go(signIn);
      await desk.fill(label, '7200');
      await desk.press('Save', 'Sign-in and sessions');
      await desk.shows('Saved.');
      expect(await valuesOf(world)).toEqual({ ...before, [key]: 7200 });
      await desk.go('/settings');
      await desk.go(signIn);
      expect(await desk.held(label)).toBe('7200');
      await desk.fill(label, '');
      await desk.press('Save', 'Sign-in and sessions');
      await desk.shows('Saved.');
      expect(await valuesOf(world)).toEqual(before);
    },
  },
  {
    id: 'settings-refused',
    page: 'Settings',
    does: 'gives a language model no address',
    expects: 'it is said at that field, and nothing is changed',
    run: async (desk, world) => {
      const before = await valuesOf(world);
      await desk.go(services);
      await desk.tick('In use', 'Language model');
      await desk.press('Save', 'Language model');
      await desk.page.waitForSelector('input[name="ai.config.endpoint"][aria-invalid=true]');
      expect(await valuesOf(world)).toEqual(before);
    },
  },
  {
    id: 'settings-entry',
    page: 'Settings',
    does: 'adds a SIEM target, changes its port, and removes it',
    expects: 'the API has each version; fields that were not touched stay unset',
    run: async (desk, world) => {
      const targets = async (): Promise<unknown> => (await valuesOf(world))['siem.targets'];
      const add = 'Add a SIEM target';
      await desk.go(services);
      await desk.press(add);
      await desk.fill('Id, in lower-case letters', 'archive', add);
      await desk.choose('Transport', 'TCP', add);
      await desk.fill('Host', '127.0.0.1', add);
      await desk.fill('Port', '9', add);
      await desk.press(add, add);
      await desk.page.waitForSelector('section tbody tr');
      const made = { id: 'archive', transport: 'tcp', host: '127.0.0.1', port: 9, format: 'ecs' };
      expect(await targets()).toEqual([made]);
      await desk.press('Edit', 'archive');
      await desk.fill('Port', '10', 'Edit: SIEM targets');
      await desk.press('Save', 'Edit: SIEM targets');
      await desk.shows('Saved.');
      expect(await targets()).toEqual([{ ...made, port: 10 }]);
      await desk.press('Remove', 'archive');
      await desk.press('Remove', 'archive');
      await desk.shows('No SIEM target.');
      expect(await targets()).toEqual([]);
    },
  },
];
