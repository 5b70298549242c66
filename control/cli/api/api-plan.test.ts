/** Where a document lies on a site, and which modes its operations get, when nobody says it. */

import { expect, test } from 'vitest';
import { modelOf } from '../../documents/read-document.ts';
import { planMappings, type NamedPlace } from './api-mappings.ts';
import { meantOperations, planModes, type OperationMode, type WantedMode } from './api-modes.ts';

const nobody: NamedPlace = { hosts: [], basePath: undefined };

function places(servers: readonly object[], hosts: readonly string[], named = nobody): string[] {
  const paths = { '/pets': { get: {}, post: {} }, '/own': { servers: [{ url: '/own' }], get: {} } };
  const model = modelOf({ openapi: '3.1.0', servers, paths });
  return planMappings(model, hosts, named).map(
    ({ host, basePath, serverUrl }) => `${serverUrl} ${host}${basePath}`,
  );
}

const region = { url: 'https://{region}.x.example/{v}', variables: { v: { default: 'v2' } } };

test.each([
  ['no server', [], ['a.test'], nobody, [' a.test', '/own a.test/own']],
  ['a path', [{ url: '/v1/' }], ['a.test'], nobody, ['/v1/ a.test/v1', '/own a.test/own']],
  [
    'a host of the site',
    [{ url: 'https://B.test:8443/v1' }],
    ['a.test', 'b.test'],
    nobody,
    ['https://B.test:8443/v1 b.test/v1', '/own a.test/own', '/own b.test/own'],
  ],
  [
    'a host under a star of the site',
    [{ url: '//api.b.test/v1' }],
    ['a.test', '*.b.test'],
    nobody,
    ['//api.b.test/v1 api.b.test/v1', '/own a.test/own'],
  ],
  [
    'a host that the site does not have, with variables',
    [region],
    ['a.test'],
    nobody,
    ['https://{region}.x.example/{v} a.test/v2', '/own a.test/own'],
  ],
  [
    'two servers at one place count once',
    [{ url: 'https://x/v1' }, { url: 'https://y/v1' }],
    ['a.test'],
    nobody,
    ['https://x/v1 a.test/v1', '/own a.test/own'],
  ],
  [
    'two servers at two places',
    [{ url: '/v1' }, { url: '/v2' }],
    ['a.test'],
    nobody,
    ['/v1 a.test/v1', '/v2 a.test/v2', '/own a.test/own'],
  ],
  [
    'what the operator names',
    [{ url: 'https://a.test/v1' }],
    ['a.test', '*.b.test'],
    { hosts: ['c.b.test'], basePath: '/api' },
    ['https://a.test/v1 c.b.test/api', '/own c.b.test/api'],
  ],
] as const)('a document lies at %s', (_says, servers, hosts, named, expected) => {
  expect(places(servers, hosts, named)).toEqual(expected);
});

test.each([
  ['a site of stars only', [{ url: '/v1' }], ['*.a.test'], /--host is missing/],
  ['a relative server', [{ url: 'v1' }], ['a.test'], /--base-path is missing: the server "v1"/],
  ['an open variable', [{ url: '/{v}' }], ['a.test'], /--base-path is missing/],
] as const)('a place is asked for: %s', (_says, servers, hosts, reason) => {
  expect(() => places(servers, hosts)).toThrow(reason);
});

const compiled = [
  { key: 'GET a.test/whole', checked: 2, unchecked: 0 },
  { key: 'GET a.test/part', checked: 1, unchecked: 1 },
  { key: 'GET a.test/none', checked: 0, unchecked: 1 },
];
type Modes = readonly [whole: OperationMode, part: OperationMode, none: OperationMode];
const off: Modes = ['off', 'off', 'off'];
const enforced: Modes = ['enforce', 'enforce', 'enforce'];

test.each<[string, WantedMode['mode'], boolean, Modes, Modes]>([
  ['operations begin in observe', '', false, off, ['observe', 'observe', 'off']],
  ['what is enforced stays so', '', false, enforced, ['enforce', 'enforce', 'off']],
  ['observe is meant', 'observe', false, enforced, ['observe', 'observe', 'off']],
  ['what is checked in part is observed', 'enforce', false, off, ['enforce', 'observe', 'off']],
  ['unless it is accepted', 'enforce', true, off, ['enforce', 'enforce', 'off']],
  ['enforce lowers nothing', 'enforce', false, enforced, ['enforce', 'enforce', 'off']],
])('%s', (_says, mode, partial, before, after) => {
  const modes = new Map(compiled.map(({ key }, at) => [key, before[at]!]));
  const meant = new Set(compiled.map(({ key }) => key));
  const found = new Map(
    planModes(compiled, modes, { mode, partial, meant }).map((one) => [one.key, one.after]),
  );
  expect(compiled.map(({ key }) => found.get(key))).toEqual(after);
});

test('only what is meant changes, by key or by method and path', () => {
  const operations = [
    { key: 'GET a.test/v1/x', mode: 'observe' },
    { key: 'GET b.test/v1/x', mode: 'off' },
    { key: 'PUT a.test/v1/x', mode: 'observe' },
  ];
  const [both, one, bound] = [['GET /v1/x'], ['GET a.test/v1/x'], []].map((names) => [
    ...meantOperations(operations, names),
  ]);
  expect(both).toEqual(['GET a.test/v1/x', 'GET b.test/v1/x']);
  expect(one).toEqual(['GET a.test/v1/x']);
  expect(bound).toEqual(['GET a.test/v1/x', 'PUT a.test/v1/x']);
  expect(() => meantOperations(operations, ['GET /v1'])).toThrow(/"GET \/v1" is no operation/);
  const modes = new Map(compiled.map(({ key }) => [key, 'observe' as const]));
  const meant = new Set(['GET a.test/whole']);
  const changed = planModes(compiled, modes, { mode: 'enforce', partial: true, meant });
  expect(changed.map(({ after }) => after)).toEqual(['observe', 'observe', 'enforce']);
});
