/** Proves PCRE2 patterns: captures, byte mode, limits, errors. */
import { describe, expect, test } from 'vitest';
import { LIMIT_EXCEEDED, Pcre } from './pcre.ts';

describe('Pcre', () => {
  test('gives byte offsets and unset captures', () => {
    const pcre = new Pcre('(a)|(\\xe9)(?=b)');
    expect(pcre.captureCount).toBe(2);
    expect([...(pcre.exec('xx\xe9b') as Int32Array)]).toEqual([2, 3, -1, -1, 2, 3]);
    expect([...(pcre.exec('aa', 1) as Int32Array)]).toEqual([1, 2, 1, 2, -1, -1]);
    expect(pcre.exec('aa', 3)).toBeNull();
    expect(pcre.test(Uint8Array.of(0x61))).toBe(true);
    expect(pcre.test('')).toBe(false);
    pcre.close();
    expect(() => pcre.test('a')).toThrow(/closed/);
  });

  test('folds ASCII only and honors the dollar', () => {
    expect(new Pcre('\xe9', { caseless: true }).test('\xc9')).toBe(false);
    expect(new Pcre('a$', { dollarEndOnly: true }).test('a\n')).toBe(false);
    expect(new Pcre('a$').test('a\n')).toBe(true);
    expect(new Pcre('^b$', { multiline: true }).test('a\nb\nc')).toBe(true);
    expect(new Pcre('a . b # blank', { extended: true, dotall: true }).test('a\nb')).toBe(true);
    expect(new Pcre('x\0y').test('x\0y')).toBe(true);
  });

  test('stops at its limits', () => {
    const slow = new Pcre('^(a+)+$', {}, { matchLimit: 1000, depthLimit: 1000 });
    expect(slow.test(`${'a'.repeat(40)}!`)).toBe(LIMIT_EXCEEDED);
    expect(slow.exec(`${'a'.repeat(40)}!`)).toBe(LIMIT_EXCEEDED);
    expect(slow.test('aaa')).toBe(true);
  });

  test('says where a pattern is wrong', () => {
    const wanted = expect.objectContaining({ code: 'pcre_compile', offset: 2 }) as Error;
    expect(() => new Pcre('a(')).toThrow(wanted);
    // The pattern may not switch to UTF by itself.
    expect(() => new Pcre('(*UTF)a')).toThrow();
  });
});
