/** Rows on virtual patches: where each kind of condition looks, and what it lets through. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, SetupCall } from './chain-row.ts';
import { formType, inspectedBy, jsonType, policyCalls, siteCall } from './chain-row.ts';

const stopped: ChainExpected = { status: 403, guards: ['virtual_patch deny'] };
const passed: ChainExpected = { status: 200, origin: 'a' };

interface Patch {
  readonly conditions: readonly object[];
  /** A request that it stops, and one that it lets through, as the patch states them. */
  readonly match: object;
  readonly pass: object;
  readonly expires?: string;
}

const form = (path: string, body: string): ChainRequest => ({
  ...{ path, method: 'POST', headers: formType, body },
});

/** Patches by what they look at. All are of one policy: each is about paths of its own. */
const patches: Readonly<Record<string, Patch>> = {
  method: {
    conditions: [
      { in: 'path', begins: '/by-method' },
      { in: 'method', is: 'OPTIONS' },
    ],
    match: { url: '/by-method', method: 'OPTIONS' },
    pass: { url: '/by-method' },
  },
  path: {
    conditions: [{ in: 'path', begins: '/by-path/admin' }],
    match: { url: '/by-path/admin' },
    pass: { url: '/by-path' },
  },
  exact: {
    conditions: [{ in: 'path', is: '/by-exact/Login' }],
    match: { url: '/by-exact/Login' },
    pass: { url: '/by-exact' },
  },
  argument: {
    conditions: [
      { in: 'path', begins: '/by-argument' },
      { in: 'arguments', name: 'cmd', contains: 'Start', ignoreCase: true },
    ],
    match: { url: '/by-argument?cmd=start' },
    pass: { url: '/by-argument?cmd=stop' },
  },
  header: {
    conditions: [
      { in: 'path', begins: '/by-header' },
      { in: 'headers', name: 'X-Tool', matches: '^probe/[0-9]+' },
    ],
    match: { url: '/by-header', headers: { 'X-Tool': 'probe/1' } },
    pass: { url: '/by-header', headers: { 'X-Tool': 'browser' } },
  },
  cookie: {
    conditions: [
      { in: 'path', begins: '/by-cookie' },
      { in: 'cookies', name: 'debug', is: 'on' },
    ],
    match: { url: '/by-cookie', headers: { Cookie: 'debug=on' } },
    pass: { url: '/by-cookie', headers: { Cookie: 'debug=off' } },
  },
  body: {
    conditions: [
      { in: 'path', begins: '/by-body' },
      { in: 'body', contains: '#markup' },
    ],
    match: {
      ...{ url: '/by-body', method: 'POST', body: 'a=%23markup' },
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    },
    pass: { url: '/by-body' },
  },
  end: {
    conditions: [{ in: 'path', begins: '/by-end' }],
    match: { url: '/by-end' },
    pass: { url: '/' },
    expires: '2999-01-01T00:00:00Z',
  },
  not: {
    conditions: [
      { in: 'path', begins: '/by-not' },
      { in: 'method', is: 'GET', not: true },
    ],
    match: { url: '/by-not', method: 'POST' },
    pass: { url: '/by-not' },
  },
};

type Told = readonly [says: string, request: ChainRequest, expected: ChainExpected];

const header = (value: string): ChainRequest => ({
  ...{ path: '/by-header', headers: { 'x-tool': value } },
});
const cookies = (text: string): ChainRequest => ({
  ...{ path: '/by-cookie', headers: { cookie: text } },
});

const told: Readonly<Record<string, readonly Told[]>> = {
  method: [
    ['its method', { path: '/by-method', method: 'OPTIONS' }, stopped],
    ['below its path', { path: '/by-method/x', method: 'OPTIONS' }, stopped],
    ['another method', { path: '/by-method' }, passed],
    ['its method elsewhere', { path: '/elsewhere', method: 'OPTIONS' }, passed],
  ],
  path: [
    ['its path', { path: '/by-path/admin' }, stopped],
    ['what begins with it', { path: '/by-path/admin-x' }, stopped],
    ['its path with a query', { path: '/by-path/admin?a=b' }, stopped],
    ['an escape does not lead past it', { path: '/by-path/%61dmin' }, stopped],
    ['dots do not lead past it', { path: '/by-path/x/../admin' }, stopped],
    ['two slashes do not lead past it', { path: '/by-path//admin' }, stopped],
    ['another path', { path: '/by-path/public' }, passed],
    ['its path in a query', { path: '/by-path/public?a=/by-path/admin' }, passed],
  ],
  exact: [
    ['its path', { path: '/by-exact/Login' }, stopped],
    ['a slash at its end does not lead past it', { path: '/by-exact/Login/' }, stopped],
    ['nor does another case', { path: '/BY-EXACT/login' }, stopped],
    ['nor does a parameter of a segment', { path: '/by-exact/Login;x=1' }, stopped],
    ['nor what some origins take for a host', { path: '//x/by-exact/login' }, stopped],
    ['nor do backslashes', { path: '/\\x\\by-exact\\login' }, stopped],
    ['nor does a script', { path: '/index.php/by-exact/login' }, stopped],
    ['a path below it', { path: '/by-exact/Login/x' }, passed],
    ['a path that begins with it', { path: '/by-exact/Login-x' }, passed],
  ],
  argument: [
    ['its argument', { path: '/by-argument?cmd=start' }, stopped],
    ['case does not count where the patch ignores it', { path: '/by-argument?cmd=START' }, stopped],
    ['a part of the value', { path: '/by-argument?cmd=restarted' }, stopped],
    ['in a form', form('/by-argument', 'cmd=start'), stopped],
    ['by an escape', { path: '/by-argument?cmd=%73tart' }, stopped],
    ['the last of several', { path: '/by-argument?cmd=stop&cmd=start' }, stopped],
    ['another value', { path: '/by-argument?cmd=stop' }, passed],
    ['another argument', { path: '/by-argument?x=start' }, passed],
    ['the name as a value', { path: '/by-argument?x=cmd&start=cmd' }, passed],
  ],
  header: [
    ['its field', header('probe/1'), stopped],
    ['another value', header('browser'), passed],
    ['the pattern is anchored', header('a probe/1'), passed],
    ['another field', { path: '/by-header', headers: { 'x-other': 'probe/1' } }, passed],
    ['without it', { path: '/by-header' }, passed],
  ],
  cookie: [
    ['its cookie', cookies('debug=on'), stopped],
    ['among others', cookies('a=b; debug=on; c=d'), stopped],
    ['another value', cookies('debug=off'), passed],
    ['another cookie', cookies('other=on'), passed],
  ],
  body: [
    ['in a form', form('/by-body', 'a=%23markup'), stopped],
    ['as a name of a form', form('/by-body', '%23markup=a'), stopped],
    [
      'in JSON',
      { path: '/by-body', method: 'POST', headers: jsonType, body: '{"a":{"b":"#markup"}}' },
      stopped,
    ],
    [
      'escaped in JSON',
      { path: '/by-body', method: 'POST', headers: jsonType, body: '{"a":"\\u0023markup"}' },
      stopped,
    ],
    [
      'in XML',
      {
        ...{ path: '/by-body', method: 'POST', body: '<a>#markup</a>' },
        headers: { 'content-type': 'text/xml' },
      },
      stopped,
    ],
    ['without a length', { ...form('/by-body', 'a=%23markup'), chunked: true }, stopped],
    ['in the query alone', { path: '/by-body?a=%23markup' }, passed],
    ['another body', form('/by-body', 'a=markup'), passed],
  ],
  end: [
    ['before its end it holds', { path: '/by-end' }, stopped],
    ['elsewhere', { path: '/elsewhere' }, passed],
  ],
  not: [
    ['any method but one', form('/by-not', 'a=1'), stopped],
    ['another method but one', { path: '/by-not', method: 'HEAD' }, stopped],
    ['the one method', { path: '/by-not' }, passed],
  ],
};

const rows = Object.entries(told).flatMap(([key, cases]) =>
  cases.map(([says, request, expected]): ChainRow => ({
    ...{ says: `Virtual patches, ${key}: ${says}`, site: 'patches', request, expected },
  })),
);

const patchCall = ([key, patch]: readonly [string, Patch]): SetupCall => {
  const { conditions, match, pass, expires } = patch;
  const requests = [
    { ...match, expect: 'match' },
    { ...pass, expect: 'pass' },
  ];
  const stated = { id: `CHAIN-${key}`, conditions, requests, ...(expires && { expires }) };
  const rule = { policyId: '$own', name: key, enabled: true, visualSpec: { patch: stated } };
  return { rpc: 'CustomRuleService/CreateCustomRule', body: { rule } };
};

/** The group. */
export const patchGroup: ChainGroup = {
  setup: [
    ...policyCalls('patches', 'light', ...Object.entries(patches).map(patchCall)),
    siteCall('patches', inspectedBy('patches')),
  ],
  rows,
};
