/** Tests that every call of the API has a place in the console, and that the place makes it. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { coverage } from './coverage.ts';

const protos = join(import.meta.dirname, '../../proto');

/** Calls as the contract's files have them: `Service/Method`, and whether a client streams. */
function contract(): Map<string, boolean> {
  const own = ['replay', 'access', 'learning', 'evidence', 'guard', 'shadow'];
  const folders = ['waf', ...own.map((name) => `waf/${name}`)].map((path) =>
    join(protos, path, 'v1'),
  );
  const found = new Map<string, boolean>();
  for (const folder of folders) {
    for (const name of readdirSync(folder)) {
      const text = readFileSync(join(folder, name), 'utf8');
      for (const [, service, body] of text.matchAll(/^service (\w+) \{(.*?)^\}/gms)) {
        for (const [, method, streams] of body!.matchAll(/rpc (\w+)\((stream )?/g)) {
          found.set(`${service}/${method}`, streams !== undefined);
        }
      }
    }
  }
  return found;
}

const places = [...contract()].map(([call, streams]) => {
  const [service = '', method = ''] = call.split('/');
  return { service, method, streams, place: coverage[service]?.[method] ?? 'operations' };
});

const scripts: readonly string[] = ['session', 'pages/site-losses', 'pages/api-review'];
const source = (path: string): string =>
  readFileSync(
    join(import.meta.dirname, `${path}.${scripts.includes(path) ? 'ts' : 'tsx'}`),
    'utf8',
  );

test('no call of the contract is missing, and none is invented', () => {
  expect(places.length).toBeGreaterThan(300);
  const calls = contract();
  const named = Object.entries(coverage).flatMap(([service, methods]) =>
    Object.keys(methods).map((method) => `${service}/${method}`),
  );
  expect(named.filter((call) => !calls.has(call))).toEqual([]);
});

test('a page that is named makes the call through a client of that service', () => {
  const named = places.filter(({ place }) => place.includes('/') || place === 'session');
  // What has a page of its own only becomes more.
  expect(named.length).toBeGreaterThanOrEqual(133);
  const wrong = named.filter(({ service, method, place }) => {
    const text = source(place);
    const [, made] = new RegExp(String.raw`(\w+) = createClient\(${service},`).exec(text) ?? [];
    const client = made ?? (service === 'AuthService' ? 'auth' : '');
    const call = `${method[0]!.toLowerCase()}${method.slice(1)}`;
    return client === '' || !new RegExp(String.raw`\b${client}\s*\.${call}\(`).test(text);
  });
  expect(wrong).toEqual([]);
});

test('the page of all operations offers what it is named for', () => {
  const offered = readFileSync(join(import.meta.dirname, 'pages/operation-services.ts'), 'utf8');
  const wrong = places.filter(
    ({ service, streams, place }) =>
      place === 'operations' && (!offered.includes(`  ${service}: async`) || streams),
  );
  expect(wrong).toEqual([]);
});

test('only what programs call is left to machines', () => {
  const machines = places.filter(({ place }) => place === 'machines');
  expect(machines.map(({ service, method }) => `${service}/${method}`).sort()).toEqual([
    'AgentService/Enroll',
    'AgentStreamService/Connect',
    'EvidenceUploadService/Upload',
  ]);
});

/** Scripts whose calls the forms of another file make. */
const formsOf: Readonly<Record<string, string>> = { 'pages/api-review': 'pages/api-enforce' };

test('a page names the rights of each call that changes something', () => {
  const lines = readFileSync(join(protos, 'permissions.txt'), 'utf8').split('\n');
  const rights = new Map(lines.map((line) => [line.split(' ')[0], line.split(' ').slice(1)]));
  const named = places.filter(({ place }) => place.startsWith('pages/'));
  let checked = 0;
  const wrong = named.flatMap(({ service, method, place }) => {
    const codes = (rights.get(`${service}/${method}`) ?? []).filter(
      (code) => code.includes(':') && !code.endsWith(':read'),
    );
    checked += codes.length;
    const text = source(formsOf[place] ?? place);
    return codes
      .filter((code) => !text.includes(`'${code}'`))
      .map((code) => `${place}: ${method} needs ${code}`);
  });
  expect(wrong).toEqual([]);
  expect(checked).toBeGreaterThan(60);
});
