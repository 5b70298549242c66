/** A group that members join and leave, beside a Set that does the same. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Places } from './places.ts';

interface Member {
  place: number;
}

test('it holds whom a set would hold, whatever the order', () => {
  const step = fc.record({ join: fc.boolean(), who: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const places = new Places<Member>();
      const set = new Set<Member>();
      const members = Array.from({ length: 10 }, () => ({ place: -1 }));
      for (const { join, who } of steps) {
        const member = members[who]!;
        if (join && !set.has(member)) {
          member.place = places.add(member);
          set.add(member);
        }
        // One that has left, or never came, may leave again.
        if (!join) expect(places.remove(member.place, member)).toBe(set.delete(member));
        expect(places.size).toBe(set.size);
        expect(new Set(places)).toEqual(set);
        expect(members.every((one) => places.has(one.place, one) === set.has(one))).toBe(true);
      }
    }),
  );
});

test('members may leave while it is walked', () => {
  const places = new Places<Member>();
  const members = [{ place: -1 }, { place: -1 }, { place: -1 }];
  for (const member of members) member.place = places.add(member);
  const seen: Member[] = [];
  for (const member of places) {
    seen.push(member);
    for (const one of members.slice(1)) places.remove(one.place, one);
  }
  expect(seen).toEqual([members[0]]);
  places.clear();
  expect([places.size, ...places]).toEqual([0]);
});
