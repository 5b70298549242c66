/** Owns what every storage driver is tested for. */

import { expect, test } from 'vitest';
import { prefixRange, type Kv } from '../../control/store/kv.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : new TextDecoder().decode(value);

/** Registers the suite for a driver; `open` makes an empty store. */
export function testKvDriver(name: string, open: () => Kv): void {
  test(`${name}: reads what was written and nothing else`, async () => {
    const kv = open();
    await kv.write((writer) => {
      writer.put('a', bytes('1'));
      expect(text(writer.get('a'))).toBe('1');
    });
    expect(text(kv.get('a'))).toBe('1');
    expect(kv.get('b')).toBeUndefined();
    await kv.write((writer) => writer.remove('a'));
    expect(kv.get('a')).toBeUndefined();
    await kv.close();
  });

  test(`${name}: a transaction that throws leaves nothing`, async () => {
    const kv = open();
    const failing = kv.write((writer) => {
      writer.put('a', bytes('1'));
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(kv.get('a')).toBeUndefined();
    await kv.write((writer) => writer.put('b', bytes('2')));
    expect(text(kv.get('b'))).toBe('2');
    await kv.close();
  });

  test(`${name}: ranges are ordered by bytes, bounded and reversible`, async () => {
    const kv = open();
    const names = ['p\u0000a', 'p\u0000b', 'p\u0000\u00e9', 'p\u0000z', 'q'];
    await kv.write((writer) => names.forEach((key) => writer.put(key, bytes(key))));
    const range = prefixRange('p\u0000');
    const found = [...kv.range(range)].map(({ key }) => key);
    expect(found).toEqual(['p\u0000a', 'p\u0000b', 'p\u0000z', 'p\u0000\u00e9']);
    const back = [...kv.range({ ...range, reverse: true })].map(({ key }) => key);
    expect(back).toEqual(found.toReversed());
    expect([...kv.range({ ...range, limit: 2 })]).toHaveLength(2);
    const exact = [...kv.range({ start: 'p\u0000a', end: 'p\u0000b', reverse: true })];
    expect(exact.map(({ key }) => key)).toEqual(['p\u0000a']);
    await kv.close();
  });
}
