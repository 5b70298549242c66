/** Notes on rules that check a list of the policy. */

import { expect, test } from 'vitest';
import type { SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { settingNote, settingOfRule } from './setting-notes.ts';

const policy = {
  name: 'Light',
  httpPolicy: {
    allowedMethods: ['GET', 'POST'],
    restrictedExtensions: ['.bak', '.sql'],
    restrictedHeadersBasic: ['Proxy', 'Content-Range'],
    allowedRequestContentCharsets: ['utf-8'],
  },
};

type Row = readonly [ruleId: string, event: SecurityEventJson, value: string, note: string];

test.each<Row>([
  ['911100', { method: 'PROPFIND' }, 'PROPFIND', 'allowedMethods: [GET, POST, PROPFIND]'],
  ['920440', { path: '/a/dump.SQL' }, '.sql', 'restrictedExtensions: [.bak]'],
  ['920450', {}, '/content-range/', 'restrictedHeadersBasic: [Proxy]'],
  ['920480', {}, 'charset=koi8-r', 'allowedRequestContentCharsets: [utf-8, koi8-r]'],
  ['920420', {}, '|application/x-own|', 'set the list with application/x-own'],
  ['920430', {}, 'HTTP/3', 'set the list with HTTP/3'],
  ['911100', { method: "x'; id #" }, '', 'set the list with what the request has'],
])('the note on rule %s proposes its list', (ruleId, event, value, wanted) => {
  const matchedValues = [{ variable: 'X', key: ruleId === '920450' ? 'Content-Range' : '', value }];
  expect(settingNote(event, { ruleId, matchedValues }, policy)).toContain(wanted);
  expect(settingOfRule(ruleId)).not.toBeNull();
});

test('other rules check no list', () => {
  expect(settingOfRule('942100')).toBeNull();
});
