/** Proves how the form of log lines is chosen: by the flag, the environment, and the terminal. */

import { afterEach, expect, test } from 'vitest';
import { resolveSettings } from './settings.ts';

const { isTTY } = process.stderr;
afterEach(() => {
  process.stderr.isTTY = isTTY;
});

test.each([
  ['text on a terminal', true, {}, {}, 'text'],
  ['JSON elsewhere', false, {}, {}, 'json'],
  ['that of the flag on a terminal', true, { logFormat: 'json' }, {}, 'json'],
  ['that of the flag elsewhere', false, { logFormat: 'text' }, {}, 'text'],
  ['that of the environment', true, {}, { WAF_LOG_FORMAT: 'json' }, 'json'],
  ['that of the flag before it', true, { logFormat: 'text' }, { WAF_LOG_FORMAT: 'json' }, 'text'],
])('the log format is %s', (_name, terminal, flags, environment, expected) => {
  process.stderr.isTTY = terminal;
  const { logFormat } = resolveSettings(flags, environment, '/nonexistent', null);
  expect(logFormat).toBe(expected);
});

test('another log format is refused by its flag', () => {
  const ask = () => resolveSettings({ logFormat: 'xml' }, {}, '/nonexistent', null);
  expect(ask).toThrow('--log-format wants one of: json, text');
});
