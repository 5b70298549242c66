/** What is said of controls that are stored but not enforced; the table itself may be empty. */

import { expect, test } from 'vitest';
import { unenforcedIn, warningsFor, type UnenforcedControl } from './enforcement.ts';

const planted: readonly UnenforcedControl[] = [
  {
    says: 'lights are stored but not enforced yet',
    collection: 'lamps',
    messages: ['waf.v1.Lamp'],
    states: ({ on }) => on === true,
  },
];

test('a message and the stored records that state a control are named, with their number', () => {
  expect(warningsFor('waf.v1.Lamp', { on: true }, planted)).toEqual([planted[0]!.says]);
  expect(warningsFor('waf.v1.Lamp', { on: false }, planted)).toEqual([]);
  expect(warningsFor('waf.v1.Site', { on: true }, planted)).toEqual([]);
  const records = { lamps: [{ on: true }, { on: false }, { on: true }] };
  const recordsOf = (name: string) => records[name as 'lamps'];
  expect(unenforcedIn(recordsOf, planted)).toEqual([`${planted[0]!.says} (2 stored)`]);
});
