/** New records join a list at its top; what would leave a gap does not. */

import { expect, test } from 'vitest';
import { withNewest } from './newest-first.ts';

const of = (...ids: string[]): { id: string }[] => ids.map((id) => ({ id }));
const kept = { items: of('3', '2', '1'), next: 'after 1', hasMore: true, behind: false };
const page = { next: 'after page', hasMore: true };

test.each([
  ['nothing new', of('3', '2'), of('3', '2', '1'), 'after 1', false],
  ['two new ones', of('5', '4', '3'), of('5', '4', '3', '2', '1'), 'after 1', false],
  [
    'more new ones than a page: records between are missing',
    of('9', '8'),
    kept.items,
    'after 1',
    true,
  ],
  ['a whole page of new ones', of('9', '8', '7'), of('9', '8', '7'), 'after page', false],
  ['an empty page', [], kept.items, 'after 1', false],
])('%s', (_name, items, shown, next, behind) => {
  expect(withNewest(kept, { ...page, items }, 10)).toEqual({
    items: shown,
    next,
    hasMore: true,
    behind,
  });
});

test('a list that is full stays as it is, and knows that newer records are left out', () => {
  const found = withNewest(kept, { ...page, items: of('4', '3') }, 3);
  expect(found).toEqual({ ...kept, behind: true });
});
