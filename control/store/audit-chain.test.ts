/** The proof that damage to the audit chain is found and named. */

import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { hashRow, verifyChain, type AuditRow } from './audit-chain.ts';
import { auditKey, toBytes } from './keys.ts';
import type { Kv } from './kv.ts';
import { openMemoryKv } from './memory-kv.ts';
import { openStore } from './store.ts';

const note = {
  actorId: 'u',
  actorName: 'n',
  tenantId: 't',
  action: 'create',
  resourceType: 'session',
  resourceId: 's',
};

/** A store with the given number of rows, and a check of it after `tamper` changed it. */
async function checkAfter(
  count: number,
  tamper: (kv: Kv, rows: AuditRow[]) => Promise<unknown>,
): Promise<{ named: (number | string)[]; checked: number }> {
  const kv = openMemoryKv();
  const store = await openStore(kv, systemClock);
  for (let at = 0; at < count; at++) {
    await store.write((tx) => tx.audit({ ...note, after: { at } }));
  }
  await tamper(kv, [...store.auditRows()]);
  const { breaks, checked } = verifyChain(store.auditRows(), store.auditHead());
  return { named: breaks.map(({ rowId }) => Number(rowId)), checked };
}

const put = (kv: Kv, key: string, row: unknown): Promise<void> =>
  kv.write((writer) => writer.put(auditKey(key), toBytes(row)));
const rehash = (row: AuditRow, change: Partial<AuditRow>): AuditRow => {
  const { hash: old, ...content } = { ...row, ...change };
  const hash = hashRow(content);
  expect(hash).not.toBe(old);
  return { ...content, hash };
};

test('a whole chain has no breaks, nor has an empty one', async () => {
  expect(await checkAfter(5, async () => undefined)).toEqual({ named: [], checked: 5 });
  expect(await checkAfter(0, async () => undefined)).toEqual({ named: [], checked: 0 });
});

test.each([0, 2, 4])('a changed row is named: %i', async (at) => {
  const plain = await checkAfter(5, (kv, rows) =>
    put(kv, rows[at]!.id, { ...rows[at], after: { at: 9 } }),
  );
  expect(plain.named).toEqual([at + 1]);
  const clever = await checkAfter(5, (kv, rows) =>
    put(kv, rows[at]!.id, rehash(rows[at]!, { after: { at: 9 } })),
  );
  expect(clever.named).toEqual([at + 1]);
});

test.each([[[0]], [[2]], [[4]], [[1, 2]], [[3, 4]], [[0, 2, 4]], [[0, 1, 2, 3, 4]]])(
  'removed rows are named: %j',
  async (gone) => {
    const { named } = await checkAfter(5, (kv, rows) =>
      kv.write((writer) => gone.forEach((at) => writer.remove(auditKey(rows[at]!.id)))),
    );
    expect(named).toEqual(gone.map((at) => at + 1));
  },
);

test('the first of several removed rows says after which hash it stood, the last before which', async () => {
  const kv = openMemoryKv();
  const store = await openStore(kv, systemClock);
  for (let at = 0; at < 5; at++) await store.write((tx) => tx.audit({ ...note, after: { at } }));
  const rows = [...store.auditRows()];
  await kv.write((writer) => [1, 2].forEach((at) => writer.remove(auditKey(rows[at]!.id))));
  const { breaks } = verifyChain(store.auditRows(), store.auditHead());
  expect(breaks).toMatchObject([
    { rowId: rows[1]!.id, expectedPrevHash: rows[0]!.hash, expectedRowHash: '' },
    { rowId: rows[2]!.id, expectedPrevHash: '', expectedRowHash: rows[2]!.hash },
  ]);
});

test('rows that changed places are named', async () => {
  const { named } = await checkAfter(6, async (kv, rows) => {
    await put(kv, rows[1]!.id, rows[2]);
    await put(kv, rows[2]!.id, rows[1]);
  });
  expect(named).toEqual([2]);
  const renumbered = await checkAfter(6, async (kv, rows) => {
    await put(kv, rows[1]!.id, { ...rows[2], id: rows[1]!.id });
    await put(kv, rows[2]!.id, { ...rows[1], id: rows[2]!.id });
  });
  expect(renumbered.named).toEqual([2, 3]);
});

test('a row put in between, twice or with a number of its own is named', async () => {
  const twice = await checkAfter(4, (kv, rows) => put(kv, `${rows[1]!.id}x`, rows[1]));
  expect(twice.named).toEqual([2]);
  const far = await checkAfter(4, (kv, rows) =>
    put(kv, '0000000000000009', rehash(rows[3]!, { id: '0000000000000009' })),
  );
  expect(far.named).toContain(9);
});

test('bytes that are no row are named and break nothing else', async () => {
  for (const bytes of [
    new Uint8Array([0xff, 0x00]),
    toBytes(7),
    toBytes({ id: 3 }),
    toBytes(null),
  ]) {
    const { named, checked } = await checkAfter(5, (kv, rows) =>
      kv.write((writer) => writer.put(auditKey(rows[2]!.id), bytes)),
    );
    expect(named).toContain(3);
    expect(checked).toBe(5);
  }
});
