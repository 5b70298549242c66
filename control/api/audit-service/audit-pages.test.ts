/** Every audit entry is on one page, and the last page ends with the first entry. */

import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

const made = 60;
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  for (let at = 0; at < made; at++) {
    const upstream = { name: `pool-${at}`, endpoints: [{ url: 'http://127.0.0.1:9', weight: 1 }] };
    await waf.call('UpstreamService/CreateUpstream', { upstream });
  }
});
afterAll(async () => {
  await waf.control.close();
  rmSync(waf.folder, { recursive: true, force: true });
});

interface Entry {
  readonly id: string;
  readonly resourceName?: string;
}

/** Reads pages until the last; `between` runs after each. */
async function readAll(pageSize: number, between: () => Promise<unknown>): Promise<Entry[]> {
  const found: Entry[] = [];
  for (let cursor = ''; ;) {
    const answer = await waf.call('AuditService/QueryAudit', { page: { pageSize, cursor } });
    expect(answer.status).toBe(200);
    const { items, page } = answer.body as {
      items: Entry[];
      page: { hasMore?: boolean; nextCursor?: string };
    };
    expect(items.length).toBeLessThanOrEqual(pageSize);
    found.push(...items);
    if (page.hasMore !== true) return found;
    cursor = page.nextCursor ?? '';
    expect(cursor).not.toBe('');
    await between();
  }
}

test.each([1, 7, 200])('pages of %i reach the first entry, each entry once', async (pageSize) => {
  const { body } = await waf.call('AuditService/QueryAudit', { page: { pageSize: 1 } });
  const total = Number(body['total']);
  expect(total).toBeGreaterThanOrEqual(made);
  const ids = (await readAll(pageSize, async () => undefined)).map(({ id }) => id);
  expect(ids).toHaveLength(total);
  expect(new Set(ids).size).toBe(total);
  const numbers = ids.map(Number);
  expect(numbers).toEqual(numbers.toSorted((left, right) => right - left));
  expect(numbers.at(-1)).toBe(Math.min(...numbers));
  expect((await waf.call('AuditService/GetAuditEntry', { id: ids.at(-1) })).status).toBe(200);
});

test('what is audited meanwhile moves no page', async () => {
  const before = (await readAll(200, async () => undefined)).map(({ id }) => id);
  let changes = 0;
  const during = await readAll(9, async () => {
    const upstream = { name: `more-${changes++}`, endpoints: [{ url: 'http://127.0.0.1:9' }] };
    expect((await waf.call('UpstreamService/CreateUpstream', { upstream })).status).toBe(200);
  });
  expect(changes).toBeGreaterThan(5);
  expect(during.map(({ id }) => id)).toEqual(before);
});
