/** Which words, bounds and values flags of fields take from generated messages, and set in them. */

import { expect, test } from 'vitest';
import { LogPolicySchema } from '../../proto/gen/waf/v1/log_pb.ts';
import { RateLimitEndpointRecordSchema } from '../../proto/gen/waf/v1/rate_limit_pb.ts';
import { BotProtectionConfigSchema } from '../../proto/gen/waf/v1/site_pb.ts';
import { UpstreamTlsSchema } from '../../proto/gen/waf/v1/upstream_pb.ts';
import { flagsOf, readFields, shownField, wordsOf, type FieldFlag } from './field-flags.ts';

const mode = { flags: '--access <mode>', field: 'accessMode', summary: 'what is kept' };
const pairing = { flags: '--pairing <on|off>', field: 'evidencePairing', summary: 'in pairs' };
const days = { flags: '--access-days <number>', field: 'accessFullRetentionDays', summary: 'days' };
const logRows = [mode, pairing, days];

const botMode: FieldFlag = {
  flags: '--mode <mode>',
  field: 'mode',
  summary: 'what is asked',
  words: { off: 'BOT_PROTECTION_MODE_OFF', browser: 'BOT_PROTECTION_MODE_BROWSER_CHECK' },
};

test('a flag takes the words of its field, or those of its row', () => {
  const choicesOf = flagsOf(LogPolicySchema, logRows).map(({ choices }) => choices);
  expect(choicesOf).toEqual([['none', 'exemplars', 'all'], ['on', 'off'], undefined]);
  const [own] = flagsOf(BotProtectionConfigSchema, [botMode]);
  expect(own?.choices).toEqual(['off', 'browser']);
});

test('words of a list of texts leave out the empty one', () => {
  expect(wordsOf(RateLimitEndpointRecordSchema, 'action')).toEqual(['block', 'ban', 'challenge']);
  expect(() => wordsOf(RateLimitEndpointRecordSchema, 'pathPattern')).toThrow('takes any text');
  expect(() => wordsOf(RateLimitEndpointRecordSchema, 'pathPatern')).toThrow('no field pathPatern');
});

test('a summary names the bounds of the field', () => {
  const row = { flags: '--difficulty <n>', field: 'proofDifficulty', summary: 'bits, {bounds}; n' };
  expect(flagsOf(BotProtectionConfigSchema, [row])).toEqual([
    { flags: '--difficulty <n>', summary: 'bits, 12 to 24; n' },
  ]);
});

test('only given flags set fields, in the JSON form of the message', () => {
  const given = { access: 'all', pairing: 'off', accessDays: '14' };
  expect(readFields(LogPolicySchema, logRows, given)).toEqual({
    accessMode: 'LOG_DETAIL_MODE_ALL',
    evidencePairing: false,
    accessFullRetentionDays: 14,
  });
  expect(readFields(LogPolicySchema, logRows, {})).toEqual({});
  expect(readFields(BotProtectionConfigSchema, [botMode], { mode: 'browser' })).toEqual({
    mode: 'BOT_PROTECTION_MODE_BROWSER_CHECK',
  });
});

test('a row reads a text as it says', () => {
  const rows = [
    { flags: '--origin-ca <file>', field: 'caPem', summary: '', read: (file: string) => [file] },
    { flags: '--server-name <name>', field: 'serverName', summary: '' },
  ];
  expect(flagsOf(UpstreamTlsSchema, rows).map(({ choices }) => choices)).toEqual([
    undefined,
    undefined,
  ]);
  const given = { originCa: 'ca.pem', serverName: '7' };
  expect(readFields(UpstreamTlsSchema, rows, given)).toEqual({
    caPem: ['ca.pem'],
    serverName: '7',
  });
});

test('no number is refused in the words of the row', () => {
  const read = (row: FieldFlag): unknown =>
    readFields(LogPolicySchema, [row], { accessDays: '-1' });
  expect(() => read(days)).toThrow('--access-days wants a whole number');
  expect(() => read({ ...days, wanted: 'takes days' })).toThrow('--access-days takes days');
});

test('a value is shown by the word that sets it; an absent one is zero', () => {
  const shown = (row: FieldFlag, value?: string | number | boolean): string =>
    shownField(LogPolicySchema, row, value);
  expect(shown(mode, 'LOG_DETAIL_MODE_ALL')).toBe('all');
  expect(shown(pairing, true)).toBe('on');
  expect(shown(pairing, undefined)).toBe('off');
  expect(shown(days, 14)).toBe('14');
  expect(shown(days, undefined)).toBe('0');
});
