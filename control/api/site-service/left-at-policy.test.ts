/** A site that leaves its policy: what it has there is named, never dropped without a word. */

import { expect, test } from 'vitest';
import { startTestControl } from '../../../test/support/test-control.ts';

test('exclusions that a site leaves at its old policy are named in the answer', async () => {
  const waf = await startTestControl();
  try {
    const policy = async (name: string): Promise<string> => {
      const { body } = await waf.call('PolicyService/CreatePolicy', { policy: { name } });
      return (body['policy'] as { id: string }).id;
    };
    const [first, second] = [await policy('first'), await policy('second')];
    const made = await waf.call('SiteService/CreateSite', {
      site: {
        name: 'one',
        primaryHost: 'one.example',
        upstreams: [{ inline: { url: 'http://127.0.0.1:9000', weight: 1 } }],
        waf: { enabled: true, policyId: first, mode: 'WAF_MODE_BLOCKING' },
      },
    });
    const { id } = made.body['site'] as { id: string };
    const override = { policyId: first, siteId: id, crsRuleId: '942999' };
    const kept = await waf.call('RuleOverrideService/UpsertRuleOverride', {
      override: { ...override, actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE' },
    });
    expect(kept.status, kept.text).toBe(200);
    const update = async (waf1: object, updateMask: string): Promise<Record<string, unknown>> => {
      const { body } = await waf.call('SiteService/GetSite', { id });
      const { revision } = body['site'] as { revision: string };
      const site = { id, ...waf1 };
      const answer = await waf.call('SiteService/UpdateSite', { site, revision, updateMask });
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    };
    expect((await update({ name: 'two' }, 'name'))['warnings']).toBeUndefined();
    const moved = await update({ waf: { policyId: second } }, 'waf.policyId');
    expect(moved['warnings']).toEqual([expect.stringMatching(/^1 exclusions.*942999/)]);
    const back = await update({ waf: { policyId: first } }, 'waf.policyId');
    expect(back['warnings']).toBeUndefined();
  } finally {
    await waf.control.close();
  }
});
