/** What every storage driver is tested for. */

import { expect, test } from 'vitest';
import { prefixRange, type Kv } from '../../control/store/kv.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : new TextDecoder().decode(value);

const nameOf = (at: number): string => `n/${String(at).padStart(6, '0')}`;

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

  test(`${name}: a look at a value shows its bytes, short or long, written or on their way`, async () => {
    const kv = open();
    const sizes = [0, 1, 4_000, 300_000, 20, 70_000];
    const valueOf = (at: number): Uint8Array => Buffer.alloc(sizes[at]!, at + 1);
    const expectAll = (): void => {
      for (const [at, size] of sizes.entries()) {
        const looked = kv.peek(`v${at}`)!;
        expect(looked).toHaveLength(size);
        expect(Buffer.compare(looked, valueOf(at))).toBe(0);
      }
      expect(kv.peek('v')).toBeUndefined();
    };
    await kv.write((writer) => {
      for (const at of sizes.keys()) writer.put(`v${at}`, valueOf(at));
      expect(writer.peek('v1')?.[0]).toBe(2);
    });
    expectAll();
    // What was got stays what it was, whatever is looked at later.
    const got = kv.get('v4')!;
    expectAll();
    expect(Buffer.compare(got, valueOf(4))).toBe(0);
    const snapshot = kv.snapshot();
    const removed = kv.write((writer) => writer.remove('v2'));
    expect(kv.peek('v2')).toBeUndefined();
    await removed;
    expect(snapshot.peek('v2')).toHaveLength(4_000);
    snapshot.close();
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

  test(`${name}: transactions see those before them, also while these are on their way`, async () => {
    const kv = open();
    const count = 300;
    const writes = Array.from({ length: count }, (_, at) =>
      kv.write((writer) => {
        const [last] = [...writer.range({ ...prefixRange('n/'), reverse: true, limit: 1 })];
        expect(last?.key ?? '').toBe(at === 0 ? '' : nameOf(at - 1));
        writer.put(nameOf(at), bytes(String(at)));
        if (at % 3 === 0) writer.remove(nameOf(at - 1));
        else writer.put('sum', bytes(String(Number(text(writer.get('sum')) ?? 0) + 1)));
      }),
    );
    expect(text(kv.get(nameOf(count - 1)))).toBe(String(count - 1));
    const seen = [...kv.range(prefixRange('n/'))].map(({ key }) => key);
    await Promise.all(writes);
    expect([...kv.range(prefixRange('n/'))].map(({ key }) => key)).toEqual(seen);
    expect(seen).toHaveLength(count - Math.floor((count - 1) / 3));
    expect(text(kv.get('sum'))).toBe(String(count - Math.ceil(count / 3)));
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

  test(`${name}: a reverse range takes its first key last, and no more than asked for`, async () => {
    const kv = open();
    await kv.write((writer) => ['a', 'b', 'c'].forEach((key) => writer.put(key, bytes(key))));
    const keys = (limit?: number): string[] => {
      const range = { start: 'a', end: 'c', reverse: true };
      return [...kv.range(limit === undefined ? range : { ...range, limit })].map(({ key }) => key);
    };
    expect(keys()).toEqual(['b', 'a']);
    expect(keys(2)).toEqual(['b', 'a']);
    expect(keys(1)).toEqual(['b']);
    expect(keys(0)).toEqual([]);
    expect([...kv.range({ start: 'c', end: 'a' })]).toEqual([]);
    expect([...kv.range({ start: 'b', end: 'b', reverse: true })]).toEqual([]);
    await kv.close();
  });

  test(`${name}: keys alone, when values are not asked for`, async () => {
    const kv = open();
    await kv.write((writer) => ['a', 'b'].forEach((key) => writer.put(key, bytes('value'))));
    const found = [...kv.range({ start: 'a', end: 'z', keysOnly: true })];
    expect(found.map(({ key, value }) => [key, value.length])).toEqual([
      ['a', 0],
      ['b', 0],
    ]);
    await kv.close();
  });

  test(`${name}: a snapshot stays what it was while others write`, async () => {
    const kv = open();
    await kv.write((writer) => writer.put('a', bytes('1')));
    const snapshot = kv.snapshot();
    for (let at = 0; at < 50; at++) {
      await kv.write((writer) => {
        writer.put('a', bytes('2'));
        writer.put(`b${at}`, bytes('3'));
      });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(text(snapshot.get('a'))).toBe('1');
    expect([...snapshot.range({ start: 'a', end: 'z' })].map(({ key }) => key)).toEqual(['a']);
    snapshot.close();
    snapshot.close();
    expect(text(kv.get('a'))).toBe('2');
    expect([...kv.range({ start: 'a', end: 'z' })]).toHaveLength(51);
    await kv.close();
  });

  test(`${name}: values of every size, empty ones too`, async () => {
    const kv = open();
    const sizes = [0, 1, 4095, 4096, 100_000, 5_000_000];
    await kv.write((writer) =>
      sizes.forEach((size) => writer.put(`v${size}`, new Uint8Array(size).fill(7))),
    );
    expect(sizes.map((size) => kv.get(`v${size}`)?.length)).toEqual(sizes);
    const ranged = [...kv.range({ start: 'v', end: 'w' })].map(({ value }) => value.length);
    expect(ranged.toSorted((left, right) => left - right)).toEqual(sizes);
    // What was read stays what it was when something else is read or written.
    const first = kv.get('v4096');
    await kv.write((writer) => writer.put('v4096', new Uint8Array(4096).fill(9)));
    kv.get('v100000');
    expect(new Set(first)).toEqual(new Set([7]));
    await kv.close();
  });

  test(`${name}: a range that is walked slowly survives writes`, async () => {
    const kv = open();
    const keys = Array.from({ length: 300 }, (_, at) => `k${String(at).padStart(4, '0')}`);
    await kv.write((writer) => keys.forEach((key) => writer.put(key, bytes(key))));
    const seen: string[] = [];
    for (const { key, value } of kv.range({ start: 'k', end: 'l' })) {
      expect(text(value)).toBe(key);
      seen.push(key);
      await kv.write((writer) => {
        writer.remove(keys.at(-seen.length) ?? '');
        writer.put(`a${seen.length}`, bytes('other'));
      });
    }
    expect(seen.slice(0, 150)).toEqual(keys.slice(0, 150));
    expect(new Set(seen).size).toBe(seen.length);
    await kv.close();
  });
}
