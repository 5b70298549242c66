/** Tasks of the settings of the deployment: values in forms, lists of entries, what is refused. */

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
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
      await eventually(async () => ((await targets()) as unknown[] | undefined)?.length === 1);
      const made = { id: 'archive', transport: 'tcp', host: '127.0.0.1', port: 9, format: 'ecs' };
      expect(await targets()).toEqual([made]);
      await desk.press('Edit', 'archive');
      await desk.fill('Port', '10', 'Edit: SIEM targets');
      await desk.press('Save', 'Edit: SIEM targets');
      await eventually(async () => JSON.stringify(await targets()).includes('"port":10'));
      expect(await targets()).toEqual([{ ...made, port: 10 }]);
      await desk.press('Remove', 'archive');
      await desk.press('Remove', 'archive');
      await desk.shows('No SIEM target.');
      expect(await targets()).toEqual([]);
    },
  },
  {
    id: 'settings-pipelines',
    page: 'Settings',
    does: 'reads whether observations are lost on their way to the store',
    expects: 'each pipeline of the API is there with nothing lost',
    run: async (desk, world) => {
      const { stats } = await world.call('SystemService/GetObservationPipelineStats', {});
      const { lanes } = stats as { lanes: unknown[] };
      await desk.go('/settings');
      for (const name of ['Security events', 'Exact counts', 'Error events'])
        await desk.shows(name);
      const lost = await desk.page.$$eval('main td[data-title=Lost]', (all) =>
        all.map((one) => one.textContent),
      );
      expect(lost).toEqual(lanes.map(() => '0'));
    },
  },
  {
    id: 'logs-storage',
    page: 'Logs',
    does: 'reads what logs take of the disk, and keeps all requests',
    expects: 'the API has the mode; the storage is that of the API',
    run: async (desk, world) => {
      await desk.go('/logs?tab=keeping');
      const { storageHealth } = await world.call('LogService/GetGlobalLogPolicy', {});
      const { filesystemTotalBytes } = storageHealth as { filesystemTotalBytes: string };
      const total = new Intl.NumberFormat('en', {
        ...{ style: 'unit', unit: 'gigabyte', maximumFractionDigits: 1 },
      }).format(Number(filesystemTotalBytes) / 1e9);
      await desk.shows(`of ${total}`);
      await desk.choose('Requests', 'All', 'What is kept');
      await desk.tick('I accept that this may fill the disk');
      await desk.press('Save', 'What is kept');
      await desk.shows('Saved.');
      const { policy } = await world.call('LogService/GetGlobalLogPolicy', {});
      expect(policy).toMatchObject({ policy: { accessMode: 'LOG_DETAIL_MODE_ALL' } });
    },
  },
  {
    id: 'exclusion-events',
    page: 'Policies',
    does: 'reads how many events name the rule of an exclusion',
    expects: 'their number, as the way to them; another rule was never met',
    run: async (desk, world) => {
      const { eventId } = await world.refused('matched');
      const { event } = await world.call('LogService/GetSecurityEvent', { id: eventId });
      const { messages } = event as { messages: { ruleId: string }[] };
      const rule = messages.find(({ ruleId }) => ruleId.startsWith('942'))!.ruleId;
      const policyId = await world.policy('Matched');
      for (const crsRuleId of [rule, '920100']) {
        const override = { policyId, crsRuleId, actionEnum: 'RULE_OVERRIDE_ACTION_LOG_ONLY' };
        await world.call('RuleOverrideService/UpsertRuleOverride', { override });
      }
      await desk.go(`/policies/${policyId}?tab=exclusions`);
      const link = await desk.page.waitForSelector(`main a[href="/attacks?span=30d&rule=${rule}"]`);
      expect(Number(await link!.evaluate((one) => one.textContent))).toBeGreaterThan(0);
      await desk.shows('Never');
    },
  },
];
