/** Which configuration a node took in place of one that it skipped. */

import { expect, test } from 'vitest';
import type { OperationIntentRecord } from '../../domain/documents/operation-control.ts';
import type { NodeDelivery, PublicationRecord } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { attemptOf, deploymentStateOf, supersededBy } from './attempts.ts';

function publication(revision: string, result?: NodeDelivery['result']): PublicationRecord {
  const delivery = { deliveredAt: '', appliedAt: '2026-01-01T00:00:00Z', error: '' };
  return {
    ...{ id: revision, revision, sha256: `sha-${revision}`, createdAt: '' },
    ...(result === undefined ? {} : { nodes: { node: { ...delivery, result } } }),
  };
}

const all = [
  publication('8', 'success'),
  publication('9', 'superseded'),
  publication('10', 'superseded'),
  publication('12', 'success'),
  publication('11'),
  publication('13', 'success'),
];
const by = supersededBy({ list: () => all } as unknown as ReadStore);

test.each([
  ['one that was skipped', '9', '12'],
  ['one that was skipped just before', '10', '12'],
  ['one after which nothing was answered', '13', ''],
])('%s', (_, revision, later) => {
  expect(by('node', revision)).toBe(later);
  expect(by('other', revision)).toBe('');
});

test('a target that skipped a configuration names the one that it took', () => {
  const requiredTargets = [{ nodeId: 'node', kind: 'local' }];
  const targetsOf = (at: number) => attemptOf(all[at]!, { requiredTargets }, by).targets ?? [];
  expect(targetsOf(1)).toMatchObject([{ status: 'superseded', supersededByRevisionId: '12' }]);
  expect(targetsOf(3)[0]).not.toHaveProperty('supersededByRevisionId');
});

test.each([
  [['applied', 'applied'], 'converged'],
  [['applied', 'pending'], 'applying'],
  [['pending', 'pending'], 'pending'],
  [['applied', 'failed'], 'failed'],
])('targets that are %j: %s', (statuses, state) => {
  const targets = statuses.map((status, at) => ({ nodeId: `node-${at}`, status }));
  const intent = { supersededByIntentId: '', requiredTargets: targets };
  expect(deploymentStateOf(intent as unknown as OperationIntentRecord, { targets })).toBe(state);
});
