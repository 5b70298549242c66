/** Tests that what was searched before is known by all its bytes and hides nothing else. */

import { describe, expect, test } from 'vitest';
import { detectLimits } from '../base/detect-limits.ts';
import { detect } from './detect.ts';
import type { DetectedValue } from './detection.ts';
import { QuietValues } from './quiet-values.ts';

const quietText = 'he said "yes" = 1 (or 2); see {"a":"b c"}';
const attack = "1' union select password from users-- -";

function value(text: string, path = 'args.q', fields: Partial<DetectedValue> = {}): DetectedValue {
  return { path, bytes: Buffer.from(text, 'latin1'), ...fields };
}

function idsIn(values: readonly DetectedValue[]): number[][] {
  return detect(values).leaves.map(({ hits }) => hits.map(({ id }) => id));
}

describe('values that were searched before', () => {
  test('are found by all their bytes, wherever they stand', () => {
    const quiet = new QuietValues();
    const bytes = Buffer.from(`..${quietText}..`, 'latin1');
    const end = bytes.length - 2;
    expect(quiet.find(bytes, 2, end)).toBe(false);
    quiet.keep(bytes, 2, end, 3, 40);
    expect(quiet.find(Buffer.from(quietText, 'latin1'), 0, quietText.length)).toBe(true);
    expect([quiet.openedLeaves, quiet.openedBytes]).toEqual([3, 40]);
    for (let at = 0; at < quietText.length; at++) {
      const other = Buffer.from(quietText, 'latin1');
      other[at]! ^= 1;
      expect(quiet.find(other, 0, other.length), `byte ${at}`).toBe(false);
    }
    expect(quiet.find(bytes, 2, end - 1)).toBe(false);
    expect(quiet.find(bytes, 1, end)).toBe(false);
  });

  test.each([1, 64, 65, 512, 513, 2048])('are kept with %d bytes', (length) => {
    const quiet = new QuietValues();
    const bytes = Buffer.alloc(length, 'a b');
    expect(quiet.find(bytes, 0, length)).toBe(false);
    quiet.keep(bytes, 0, length, 0, 0);
    expect(quiet.find(bytes, 0, length)).toBe(true);
  });

  test('are not kept past the longest length', () => {
    const quiet = new QuietValues();
    const bytes = Buffer.alloc(2049, 'a b');
    expect(quiet.find(bytes, 0, bytes.length)).toBe(false);
    quiet.keep(bytes, 0, bytes.length, 0, 0);
    expect(quiet.find(bytes, 0, bytes.length)).toBe(false);
  });

  test('hide no attack in another value, and none that is sent again', () => {
    const values = [value(quietText), value(attack), value(quietText), value(attack)];
    const first = idsIn(values);
    expect(first).toHaveLength(2);
    expect(idsIn(values)).toEqual(first);
    expect(detect([value(`${quietText} ${attack}`)]).leaves).toHaveLength(1);
  });

  test('are searched again where another path decides', () => {
    const url = 'http://localhost:8080/callback';
    const own = value(url, 'args.redirect_uri');
    expect(idsIn([own])).toEqual([]);
    expect(idsIn([value(url, 'args.page')])).toHaveLength(1);
    expect(idsIn([own])).toEqual([]);
  });

  test('take from the limits of a request what opening them takes', () => {
    const items = Array.from({ length: 150 }, (_, at) => `"text (${at})"`);
    const list = value(`[${items.join(',')}]`);
    const count = Math.ceil(detectLimits.leavesMax / items.length) + 1;
    const many = Array.from({ length: count }, () => list);
    expect(detect(many.slice(1, 3)).complete).toBe(true);
    expect(detect(many).complete).toBe(false);
    expect(detect([...many, value(attack)]).leaves.length).toBeGreaterThan(0);
  });

  test('are part of a slab', () => {
    const slab = Buffer.from(`${quietText}${attack}tail`, 'latin1');
    const [start, end] = [quietText.length, quietText.length + attack.length];
    const { leaves } = detect([value('', 'args.q', { bytes: slab, start, end })]);
    expect(Buffer.from(leaves[0]!.bytes).toString('latin1')).toBe(attack);
    expect(idsIn([value('', 'args.q', { bytes: slab, start, end })])).toEqual(
      idsIn([value(attack)]),
    );
  });
});
