/** Messages that wait for evidence: they leave in order, with it or without, and each once. */

import { expect, test, vi } from 'vitest';
import { siemLimits } from '../limits/siem-limits.ts';
import { EvidenceWait, type EvidencedRequest, type RequestEvidence } from './evidence-wait.ts';

const request = (requestId: string): EvidencedRequest => {
  return { requestId, siteId: 's', tenantId: 't', receivedAtMs: 0 };
};
const evidence: RequestEvidence = {
  ...{ headers: [], body: new Uint8Array([1]), bodyBytes: 1, answerHeaders: [] },
  ...{ answerBody: new Uint8Array(), answerBodyLack: '' },
};

function start() {
  vi.useFakeTimers();
  const kept = new Map<string, RequestEvidence | 'none'>();
  const left: string[] = [];
  const wait = new EvidenceWait(({ requestId }) => kept.get(requestId) ?? 'later', Date.now);
  const add = (id: string): void =>
    wait.add(request(id), (found) => left.push(`${id} ${found === null ? 'without' : 'with'}`));
  return { kept, left, wait, add };
}

test('what is there, or never comes, leaves at once', () => {
  const { kept, left, add } = start();
  kept.set('a', evidence);
  kept.set('b', 'none');
  add('a');
  add('b');
  expect(left).toEqual(['a with', 'b without']);
});

test('one that waits holds up those after it until its evidence comes', async () => {
  const { kept, left, add } = start();
  kept.set('b', evidence);
  add('a');
  add('b');
  await vi.advanceTimersByTimeAsync(siemLimits.evidenceLookEveryMs * 3);
  expect(left).toEqual([]);
  kept.set('a', evidence);
  await vi.advanceTimersByTimeAsync(siemLimits.evidenceLookEveryMs);
  expect(left).toEqual(['a with', 'b with']);
});

test('messages after one that waits are not looked for one by one', () => {
  vi.useFakeTimers();
  let looked = 0;
  const find = (): 'later' => {
    looked++;
    return 'later';
  };
  const wait = new EvidenceWait(find, Date.now);
  for (let at = 0; at < 100; at++) wait.add(request(`n${at}`), () => undefined);
  expect(looked).toBe(1);
});

test('one whose evidence never comes leaves without it', async () => {
  const { left, add } = start();
  add('a');
  await vi.advanceTimersByTimeAsync(siemLimits.evidenceWaitMs * 2);
  expect(left).toEqual(['a without']);
});

test('more than may wait: the oldest leaves without; the end lets all leave', () => {
  const { kept, left, wait, add } = start();
  for (let at = 0; at <= siemLimits.evidenceWaitingMax; at++) add(`n${at}`);
  expect(left).toEqual(['n0 without']);
  kept.set('n2', evidence);
  wait.close();
  expect(left).toHaveLength(siemLimits.evidenceWaitingMax + 1);
  expect(left.slice(0, 3)).toEqual(['n0 without', 'n1 without', 'n2 with']);
  wait.close();
  expect(left).toHaveLength(siemLimits.evidenceWaitingMax + 1);
});
