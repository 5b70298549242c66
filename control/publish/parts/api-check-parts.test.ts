/** Proves that API checks are made anew when what they come from changes, and only then. */

import { expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { runAtOnce } from '../../../base/steps.ts';
import {
  noControls,
  type OperationIntentRecord,
} from '../../domain/documents/operation-control.ts';
import type { PolicyRecord, SiteRecord } from '../../domain/records.ts';
import { operationIntents, policies, sites } from '../../store/collections.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore } from '../../store/store.ts';
import { apiCheckKind } from './api-check-parts.ts';
import { PartCache } from './part-cache.ts';

const policy = (change: Partial<PolicyRecord>): PolicyRecord => ({
  id: 'p1',
  tenantId: 'default',
  name: 'p1',
  crsRulesetId: '',
  status: 'active',
  revision: '1',
  createdAt: '',
  updatedAt: '',
  ...change,
});
const site = (id: string): SiteRecord => ({
  id,
  tenantId: 'default',
  name: id,
  primaryHost: `${id}.example`,
  upstreams: [{ inline: { url: 'http://127.0.0.1:9000', weight: 1 } }],
  waf: { enabled: true, mode: 'WAF_MODE_BLOCKING', policyId: 'p1' },
  status: 'RESOURCE_STATUS_ACTIVE',
  revision: '1',
  createdAt: '',
  updatedAt: '',
});
const intent = (siteId: string): OperationIntentRecord => {
  const scope = { siteId, host: 'a.example', method: 'POST', path: '/a' };
  const spec = {
    ...{ assetId: 'asset', assetRevision: '1', scope, allowedFamilies: ['json'] },
    ...{ mismatchAction: 'observe', upload: null },
  };
  const slot = { specRevision: '1', specSha256: '', spec };
  const bodies = [{ apiAssetId: 'asset', candidate: slot }];
  return {
    ...{ id: `intent-${siteId}`, tenantId: 'default', siteId, controlRevision: 1 },
    controls: { ...noControls(siteId), bodies },
    ...{ snapshotSha256: '', reason: '', createdAt: '', createdBy: '', domain: 'body' },
    ...{ supersededByIntentId: '', rollbackSourceIntentId: '', rollbackSourceConfigRevisionId: '' },
    ...{ reviewed: {}, requiredTargets: [], dependencies: {}, approvalSha256: '' },
  } as unknown as OperationIntentRecord;
};

test('checks of a site stay when other sites, or other parts of its policy, change', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  await store.write((tx) => {
    tx.put(policies, policy({}));
    tx.put(sites, site('a'));
    tx.put(operationIntents, intent('a'));
  });
  const cache = new PartCache([apiCheckKind]);
  const checks = (): unknown => runAtOnce(cache.refresh(store))[0];
  const first = checks();
  expect(first).toMatchObject({ kind: 'api-checks', id: 'intent-a' });

  await store.write((tx) => tx.put(sites, site('b')));
  expect(checks()).toBe(first);
  await store.write((tx) => tx.put(policies, policy({ name: 'renamed', revision: '2' })));
  expect(checks()).toBe(first);

  const argLimits = { maxFileSize: '4096' };
  await store.write((tx) => tx.put(policies, policy({ argLimits, revision: '3' })));
  expect(checks()).not.toBe(first);
});
