/** Ids come back as they were, in each of the layouts. */

import { expect, test } from 'vitest';
import type { Entry } from './entry.ts';
import { makeEventId } from './event-id.ts';
import { idParts, packIds, readIds } from './event-ids.ts';

const agents = ['a', 'b'];
const tenants = ['t', 'u', 'v'];
const at = 1_700_000_000_000;

function entriesOf(list: readonly (readonly [number, number, string?, string?])[]): Entry[] {
  return list.map(([ms, number, agentId = 'a', tenantId = 't']) => {
    return { id: makeEventId(ms, number), agentId, tenantId, form: 0, bytes: new Uint8Array() };
  });
}

test.each([
  [
    'of one node',
    idParts.narrow,
    entriesOf([
      [at, 7],
      [at, 9],
      [at + 5, 3],
    ]),
    16 + 3 * 8,
  ],
  [
    'of several',
    idParts.narrow,
    entriesOf([
      [at, 7, 'b', 'v'],
      [at + 1, 8, 'a', 'u'],
      [at + 2, 9, 'b', 't'],
    ]),
    16 + 3 * 12,
  ],
  [
    'as far apart as fits',
    idParts.narrow,
    entriesOf([
      [at, 1],
      [at + 0xffff_ffff, 2],
    ]),
    16 + 2 * 8,
  ],
  [
    'of months',
    idParts.wide,
    entriesOf([
      [at, 1],
      [at + 0x1_0000_0000, 2],
    ]),
    2 * 24,
  ],
  [
    'of very many',
    idParts.wide,
    entriesOf([
      [at, 1, 'b'],
      [at, 0x1_0000_0002],
    ]),
    2 * 24,
  ],
])('%s', (_name, part, entries, size) => {
  const single = entries.every(({ agentId, tenantId }) => agentId === 'a' && tenantId === 't');
  const [owners, clients] = single ? [['a'], ['t']] : [agents, tenants];
  const [name, bytes] = packIds(entries, owners, clients);
  expect([name, bytes.length]).toEqual([part, size]);
  // As the store gives it: anywhere in a larger piece of memory.
  const within = Buffer.concat([Buffer.alloc(3), bytes]).subarray(3);
  const ids = readIds((wanted) => (wanted === name ? within : undefined), entries.length);
  entries.forEach(({ id, agentId, tenantId }, event) => {
    expect(ids.idOf(event)).toBe(id);
    expect(ids.timeOf(event)).toBe(Number(id.slice(0, 14)));
    const [agent, tenant] = ids.ownersOf(event);
    expect([owners[agent], clients[tenant]]).toEqual([agentId, tenantId]);
  });
});
