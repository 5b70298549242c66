/**
 * Virtual patches on one argument, header field or cookie, in running policies: every spelling that
 * an origin reads as the name is refused with the patch and passes without it; other names pass.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderPatch, readVirtualPatch } from '../../control/domain/policy/virtual-patch.ts';
import { requestFrom } from '../../engine/rules/load/test-sample.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { sendInProcess, templateEngine, type TableRequest } from './policy-in-process.ts';

const attack = 'planted-attack';

const conditions = [
  { in: 'arguments', name: 'user_id', contains: attack },
  { in: 'arguments', name: 'Sort.By', contains: attack },
  { in: 'arguments', name: 'json.cart_id', contains: attack },
  { in: 'arguments', name: 'page_no', not: true, matches: '^[0-9]+$' },
  { in: 'headers', name: 'X-Tool', contains: attack },
  { in: 'headers', name: 'X_Other.Tool', contains: attack },
  { in: 'cookies', name: 'user_id', contains: attack },
  { in: 'argument-names', is: 'import_url' },
  { in: 'argument-names', matches: '^_load_(?:file|path)$' },
];
const patches = conditions.map((condition, at) => {
  const requests = [
    { url: '/attack', expect: 'match' },
    { url: '/', expect: 'pass' },
  ];
  const patch = readVirtualPatch({ id: `FAULT-${at}`, conditions: [condition], requests }, 'patch');
  const rule = { ruleId: String(100_200 + at), phase: 2, message: patch.id };
  return renderPatch(patch, rule, 'deny,status:403,log');
});
/** Exclusions of the first patch's rule, by path. */
const exclusions = [
  ['/one', 'ARGS:user_id'],
  ['/dot', 'ARGS:user.id'],
  ['/all', 'ARGS'],
  ['/renamed', 'ARGS_RENAMED:user_id'],
  ['/other', 'ARGS:user'],
].map(([path, target], at) => {
  const removal = `ctl:ruleRemoveTargetById=100200;${target}`;
  return `SecRule REQUEST_URI "@beginsWith ${path}" "id:${100_100 + at},phase:1,pass,${removal}"`;
});

type Sent = (name: string, value: string) => TableRequest;

const multipart: Sent = (name, value) => ({
  ...{ url: '/', method: 'POST', headers: { 'Content-Type': 'multipart/form-data; boundary=B' } },
  body: `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n` + '--B--\r\n',
});
const json: Sent = (name, value) => ({
  ...{ url: '/', method: 'POST', headers: { 'Content-Type': 'application/json' } },
  body: JSON.stringify({ [name]: value }),
});
const form = (body: string, url = '/'): TableRequest => ({
  ...{ url, method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
  body,
});
const pair: (name: string, value: string) => string = (name, value) =>
  `${encodeURIComponent(name)}=${value}`;

interface Row {
  readonly place: string;
  readonly send: Sent;
  readonly refused: readonly string[];
  readonly passing: readonly string[];
}

const phpNames = ['user_id', 'user.id', 'user id', 'user[id', ' user_id', 'User.Id'];
const phpOthers = [
  'userid',
  'user-id',
  'user[id]',
  'user.id[]',
  'x.user.id',
  'user.id.',
  '.user_id',
];

const rows: readonly Row[] = [
  {
    place: 'a query',
    send: (name, value) => ({ url: `/?${pair(name, value)}` }),
    refused: [...phpNames, 'user_id\0.x', 'Sort.By', 'sort_by', 'sort by', 'sort[by'],
    passing: [...phpOthers, 'sort[by]', 'sort-by', 'sortby', '[user_id'],
  },
  {
    place: 'a form',
    send: (name, value) => form(pair(name, value)),
    refused: [...phpNames, 'user_id\0.x', 'sort.by', 'sort_by'],
    passing: [...phpOthers, 'sort[by]'],
  },
  {
    place: 'a multipart body',
    send: multipart,
    refused: [...phpNames, 'sort.by', 'sort_by'],
    passing: phpOthers,
  },
  {
    place: 'JSON',
    send: json,
    // Nothing renames members.
    refused: ['cart_id'],
    passing: ['cart.id', 'cart id', 'cart[id', 'cartid'],
  },
  {
    place: 'a header field',
    send: (name, value) => ({ url: '/', headers: { [name]: value } }),
    refused: [
      'X-Tool',
      'X_Tool',
      'x.tool',
      'X!Tool',
      'X_Other.Tool',
      'X-Other-Tool',
      'X.Other_Tool',
    ],
    passing: ['XTool', 'X--Tool', 'X_Tool_2', 'X-Other'],
  },
  {
    place: 'a cookie',
    send: (name, value) => ({ url: '/', headers: { Cookie: `a=1; ${name}=${value}; b.c=2` } }),
    refused: ['user_id', 'user.id', 'user id', 'user[id', 'User.Id'],
    passing: ['userid', 'user-id', 'user[id]', 'user.id[]', 'sort_by'],
  },
];

describe('names that virtual patches state', () => {
  let patched: PolicyEngine;
  let plain: PolicyEngine;
  beforeAll(async () => {
    const beforeCrs = `${[...exclusions, ...patches].join('\n')}\n`;
    patched = await templateEngine('Light', null, (policy) => policy, { beforeCrs });
    plain = await templateEngine('Light', null);
  }, 120_000);
  afterAll(() => {
    patched?.retire();
    plain?.retire();
  });

  const refused = (request: TableRequest): boolean =>
    sendInProcess(patched, request).status === 403;

  test.each(rows)('in $place every spelling is seen, and no other name', (row) => {
    const { send } = row;
    const missed = row.refused.filter((name) => !refused(send(name, attack)));
    expect(missed).toEqual([]);
    const sent = [...row.refused, ...row.passing];
    expect(sent.filter((name) => sendInProcess(plain, send(name, attack)).status !== 0)).toEqual(
      [],
    );
    expect(sent.filter((name) => refused(send(name, 'harmless')))).toEqual([]);
    expect(row.passing.filter((name) => refused(send(name, attack)))).toEqual([]);
  });

  test.each<[string, TableRequest]>([
    ['before', { url: `/?user.id=${attack}&user_id=1` }],
    ['after', { url: `/?user_id=1&user.id=${attack}` }],
    ['as the plain one', { url: `/?user_id=${attack}&user.id=1` }],
    ['in the body', form(`user.id=${attack}`, '/?user_id=1')],
    ['in the query', form('user_id=1', `/?user.id=${attack}`)],
    ['as a negated condition', { url: '/?page_no=1&page.no=x' }],
    ['as a header field', { url: '/', headers: { 'X-Tool': '1', X_Tool: attack } }],
    ['as a cookie', { url: '/', headers: { Cookie: `user_id=1; user.id=${attack}` } }],
  ])('the plain name beside another spelling hides nothing: %s', (_where, request) => {
    expect(refused(request)).toBe(true);
  });

  test.each([
    [
      ['import_url', 'import.url', 'import url', 'import[url', ' import_url', 'import_url\0x'],
      true,
    ],
    [['_load_file', '.load.path', '_load path', '_load[file'], true],
    [
      ['importurl', 'import-url', 'import[url]', 'import.url[]', ' load.file', '_load.files'],
      false,
    ],
  ] as const)('names that patches look for: %j %s', (names, seen) => {
    for (const name of names) {
      const query = pair(name, '1');
      expect([name, refused({ url: `/?${query}` })]).toEqual([name, seen]);
      expect([name, refused(form(query))]).toEqual([name, seen]);
      expect(sendInProcess(plain, { url: `/?${query}` }).status).toBe(0);
    }
  });

  test('ordinary requests with such names pass', () => {
    const requests: readonly TableRequest[] = [
      { url: '/?page.no=12&page_no=3&item[0]=a&item[1]=b&filter[user.id]=1' },
      form('user.id=7&user%5Bname%5D=Ann&sort.by=price'),
      json('user.id', '7'),
      { url: '/', headers: { X_Tool: '1', 'X-Other.Tool': '2', Cookie: 'user.id=1; a.b=2' } },
    ];
    expect(requests.filter(refused)).toEqual([]);
  });

  test('an event names what matched as the origin has it, with the value as it was sent', () => {
    const session = patched.open(requestFrom(`GET /?user.id=${attack} HTTP/1.1\r\nHost: a`));
    session.requestHead();
    session.requestBody(null);
    const { matchedRules } = session.finish();
    const [one] = matchedRules.filter(({ ruleId }) => ruleId === 100_200);
    expect(one?.matched).toEqual([{ name: 'ARGS_RENAMED:user_id', value: attack }]);
  });

  test.each([
    ['/one', true],
    ['/dot', true],
    ['/all', true],
    ['/renamed', true],
    ['/other', false],
  ])('an exclusion of the name under %s holds for other spellings: %s', (path, excluded) => {
    const url = `${path}?user.id=${attack}`;
    expect(refused({ url })).toBe(!excluded);
    expect(refused({ url: `${path}?sort.by=${attack}` })).toBe(true);
  });
});
