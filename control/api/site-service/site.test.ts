/** Changes of sites: what they clear, and what they leave alone. */

import { expect, test } from 'vitest';
import { startTestControl } from '../../../test/support/test-control.ts';

const origin = { inline: { url: 'http://127.0.0.1:9000', weight: 1 } };
const asked = {
  name: 'one',
  primaryHost: 'one.example',
  aliases: ['two.example'],
  upstreams: [origin],
  waf: { enabled: true, mode: 'WAF_MODE_DETECTION' },
  botProtection: { mode: 'BOT_PROTECTION_MODE_BROWSER_CHECK', proofDifficulty: 12 },
  delivery: { maintenance: { enabled: true } },
};

test('a masked field that a change of a site leaves out is cleared', async () => {
  const waf = await startTestControl();
  try {
    const made = await waf.call('SiteService/CreateSite', { site: asked });
    expect(made.body['site']).toMatchObject(asked);
    const { id, revision } = made.body['site'] as { id: string; revision: string };
    const changed = await waf.call('SiteService/UpdateSite', {
      site: { id },
      revision,
      updateMask: 'aliases,botProtection,delivery,tls,waf',
    });
    expect(changed.status).toBe(200);
    const site = changed.body['site'] as Record<string, unknown>;
    expect(site).not.toHaveProperty('aliases');
    expect(site).not.toHaveProperty('botProtection');
    expect(site).not.toHaveProperty('delivery');
    // Without a stated WAF, the default policy protects the site.
    expect(site).toMatchObject({
      name: 'one',
      upstreams: [origin],
      waf: { enabled: true, mode: 'WAF_MODE_BLOCKING' },
    });
  } finally {
    await waf.control.close();
  }
});

test('a change of a site leaves its override of the policy as it was', async () => {
  const waf = await startTestControl();
  try {
    const made = await waf.call('SiteService/CreateSite', { site: asked });
    const { id, revision } = made.body['site'] as { id: string; revision: string };
    const kept = await waf.call('SiteService/UpsertSitePolicyOverride', {
      override: { siteId: id, blockingParanoiaLevel: 2 },
    });
    expect(kept.body['override']).toMatchObject({ siteId: id, blockingParanoiaLevel: 2 });
    const site = { id, name: 'two' };
    await waf.call('SiteService/UpdateSite', { site, revision, updateMask: 'name' });
    const read = await waf.call('SiteService/GetSitePolicyOverride', { siteId: id });
    expect(read.body['override']).toEqual(kept.body['override']);
  } finally {
    await waf.control.close();
  }
});
