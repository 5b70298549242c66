/** Proves the detectors by the operator tables and by known values. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  detectSqli,
  detectXss,
  hasBadUrlEncoding,
  hasBadUtf8,
  isOutsideByteRange,
} from './injection.ts';

test('libinjection finds what it should', () => {
  expect(detectSqli("1' or '1'='1")).toBe('s&sos');
  expect(detectSqli(Buffer.from('hello world'))).toBeNull();
  expect(detectSqli('')).toBeNull();
  expect(detectXss('<script>alert(1)</script>')).toBe(true);
  expect(detectXss('a < b')).toBe(false);
});

test.each<[string, boolean]>([
  ['plain', false],
  ['%41%7a', false],
  ['%4', true],
  ['%', true],
  ['%g1', true],
])('url encoding of %j: bad %j', (value, bad) => {
  expect(hasBadUrlEncoding(value)).toBe(bad);
});

test.each<[string, boolean]>([
  ['caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80', false],
  ['\xc0\x80', true],
  ['\xed\xa0\x80', true],
  ['\xe0\x80\x80', true],
  ['\xf4\x90\x80\x80', true],
  ['\xe2\x82', true],
  ['\x80', true],
])('utf-8 %j: bad %j', (value, bad) => {
  expect(hasBadUtf8(value)).toBe(bad);
});

test('byte ranges are bitmaps', () => {
  const allowed = new Uint8Array(32).fill(0xff, 4, 16);
  expect(isOutsideByteRange('abc', allowed)).toBe(false);
  expect(isOutsideByteRange('a\0', allowed)).toBe(true);
  expect(() => isOutsideByteRange('a', new Uint8Array(3))).toThrow(TypeError);
});

test('a build without libinjection names the package to install', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-build-'));
  const compiler = join(folder, 'compiler');
  // Answers -print-file-name=X with X, as a compiler does that knows no such library.
  writeFileSync(compiler, '#!/bin/sh\necho "${1#-print-file-name=}"\n', { mode: 0o755 });
  const script = join(process.cwd(), 'native-bindings', 'find-libinjection.mjs');
  const env = { ...process.env, CXX: compiler };
  const run = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect(run.status).toBe(1);
  expect(run.stderr).toContain('libmodsecurity-dev');
});
