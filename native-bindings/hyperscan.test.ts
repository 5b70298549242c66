/** Proves databases and streams: flags, errors, serialized forms, shared memory. */
import { describe, expect, test } from 'vitest';
import {
  checkExpression,
  HS_FLAG,
  HsDatabase,
  HsStream,
  hyperscanVersion,
  platformKey,
} from './hyperscan.ts';

const flags = HS_FLAG.dotall | HS_FLAG.singleMatch | HS_FLAG.allowEmpty;
const block = { mode: 'block' } as const;

describe('HsDatabase', () => {
  test('mixes expressions and literals, NULs included', () => {
    const database = HsDatabase.compile(
      [
        { pattern: 'a.c', flags, id: 5 },
        { pattern: 'x\0y', flags, id: 6 },
        { pattern: 'x\\\0y', flags, id: 7 },
        { pattern: '.*\\', flags: flags | HS_FLAG.caseless, id: 8, literal: true },
      ],
      block,
    );
    expect([...database.scan('a\nc')]).toEqual([5]);
    expect([...database.scan('x\0y .*\\')]).toEqual([6, 7, 8]);
    expect([...database.scan(Buffer.from('nothing'))]).toEqual([]);
    expect(database.info()).toMatchObject({ mode: 'BLOCK', version: /^5\./ });
    expect(database.sizeBytes).toBeGreaterThan(1000);
    database.close();
    expect(() => database.scan('a')).toThrow(/closed/);
  });

  test('compiles pure literals, caseless too', () => {
    const list = ['Admin', '.\0(', '\xe9'];
    const literals = list.map((pattern, id) => ({
      pattern,
      flags: HS_FLAG.caseless | HS_FLAG.singleMatch,
      id,
      literal: true,
    }));
    const database = HsDatabase.compile(literals, block);
    expect([...database.scan('aDMIN .\0( \xe9')]).toEqual([0, 1, 2]);
    expect([...database.scan('\xc9')]).toEqual([]);
  });

  test('matches the empty value where the pattern does', () => {
    const list = ['^\\z', 'x*', 'x'].map((pattern, id) => ({ pattern, flags, id }));
    expect([...HsDatabase.compile(list, block).scan('')]).toEqual([0, 1]);
  });

  test('names the expression of a compile error', () => {
    const list = ['ok', 'a(', 'b'].map((pattern, id) => ({ pattern, flags, id }));
    expect(() => HsDatabase.compile(list, block)).toThrow(
      expect.objectContaining({ code: 'hs_compile', expression: 1 }) as Error,
    );
    expect(() => HsDatabase.compile([], block)).toThrow(TypeError);
  });

  test('survives serializing, also into shared memory', () => {
    const database = HsDatabase.compile([{ pattern: 'abc', flags, id: 3 }], block);
    const bytes = database.serialize();
    database.close();
    const copy = HsDatabase.deserialize(bytes);
    expect([...copy.scan('xabc')]).toEqual([3]);
    const attached = HsDatabase.attach(HsDatabase.deserializeShared(bytes));
    expect([...attached.scan('abcx')]).toEqual([3]);
  });

  test('refuses corrupt bytes and foreign versions', () => {
    const bytes = HsDatabase.compile([{ pattern: 'abc', flags, id: 3 }], block).serialize();
    const flipped = Uint8Array.from(bytes);
    flipped[300] = (flipped[300] ?? 0) ^ 1;
    const foreign = Uint8Array.from(bytes);
    foreign[5] = (foreign[5] ?? 0) ^ 1;
    const code = (name: string): Error => expect.objectContaining({ code: name }) as Error;
    expect(() => HsDatabase.deserialize(flipped)).toThrow(code('hs_invalid'));
    expect(() => HsDatabase.deserialize(bytes.slice(0, 500))).toThrow(code('hs_invalid'));
    expect(() => HsDatabase.deserialize(new Uint8Array(0))).toThrow(code('hs_invalid'));
    expect(() => HsDatabase.deserialize(foreign)).toThrow(code('hs_foreign'));
    expect(() => HsDatabase.attach(new SharedArrayBuffer(4096))).toThrow(code('hs_invalid'));
  });

  test('answers about single expressions', () => {
    expect(checkExpression('ab{2,3}', flags)).toMatchObject({ ok: true, minWidth: 3, maxWidth: 4 });
    expect(checkExpression('a+\\z', flags, { compile: true })).toMatchObject({
      maxWidth: Infinity,
      matchesOnlyAtEnd: true,
      sizeBytes: expect.any(Number) as number,
    });
    expect(checkExpression('(?<=a)b', flags)).toMatchObject({ ok: false });
    expect(hyperscanVersion()).toMatch(/^\d+\.\d+/);
    expect(platformKey()).toBe(platformKey());
  });
});

describe('HsStream', () => {
  const expressions = ['needle', 'end\\z'].map((pattern, id) => ({ pattern, flags, id }));
  const database = HsDatabase.compile(expressions, { mode: 'stream' });

  test('matches across pieces, each id once, the end at close', () => {
    const stream = HsStream.open(database);
    expect([...stream.write('a nee')]).toEqual([]);
    expect([...stream.write(Buffer.from('dle, needle'))]).toEqual([0]);
    expect([...stream.write('needle the end')]).toEqual([]);
    expect([...stream.close()]).toEqual([1]);
    expect([...stream.close()]).toEqual([]);
    expect(() => stream.write('x')).toThrow(/closed/);
  });

  test('refuses a block database and outlives a closed one', () => {
    const blockDatabase = HsDatabase.compile(expressions, block);
    expect(() => HsStream.open(blockDatabase)).toThrow(/mode/);
    const other = HsDatabase.compile(expressions, { mode: 'stream' });
    const stream = HsStream.open(other);
    other.close();
    expect([...stream.write('needle')]).toEqual([0]);
    expect(() => HsStream.open(other)).toThrow(/closed/);
  });
});
