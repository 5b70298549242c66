/**
 * Proof that learning takes names and types only, in bounded number: values, names that look like
 * values and names that came by chance leave nothing, and what was left out is counted.
 */

import { describe, expect, test } from 'vitest';
import { learningLimits } from '../../base/learning-limits.ts';
import { apiLearningFormat, type LearningEndpoint } from '../../contract/api-learning.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type { SiteConfig } from '../../contract/site.ts';
import { viewOf } from '../../../test/support/request-view.ts';
import { structureOf } from './body-structure.ts';
import { Learner, type SiteLearning } from './learner.ts';

const fieldsOf = (text: string): Record<string, string> | string => {
  const found = structureOf(Buffer.from(text));
  if (typeof found === 'string') return found;
  const names = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'];
  const texts = [...found.fields].map(([path, counts]) => {
    const seen = names.flatMap((name, at) => (counts[at]! > 0 ? [`${name} ${counts[at]!}`] : []));
    return [path, seen.join(', ')];
  });
  return Object.fromEntries(texts) as Record<string, string>;
};

describe('the structure of a body', () => {
  test('has paths and types', () => {
    expect(fieldsOf('{"a":1,"b":[{"c":"x"},{"c":null,"d":1.5}],"@type":true}')).toEqual({
      '': 'object 1',
      '/a': 'integer 1',
      '/b': 'array 1',
      '/b[]': 'object 2',
      '/b[]/c': 'string 1, null 1',
      '/b[]/d': 'number 1',
      '/@type': 'boolean 1',
    });
  });

  test.each([
    ['an address', 'joe@shop.example'],
    ['an identifier', '550e8400-e29b-41d4-a716-446655440000'],
    ['a number', '4711'],
    ['a sentence', 'two words'],
    ['a path', '../etc/passwd'],
    ['another alphabet', 'имя'],
    ['a long one', 'x'.repeat(learningLimits.nameCharsMax + 1)],
    ['a token', 'a1b2c3d4e5f6'],
  ])('has no name that looks like data: %s', (_, name) => {
    expect(fieldsOf(JSON.stringify({ [name]: 1 }))).toEqual({ '': 'object 1', '{}': 'integer 1' });
  });

  test('an object of many members is a map', () => {
    const names = Array.from({ length: learningLimits.membersMax + 1 }, (_, at) => word(at));
    const map = Object.fromEntries(names.map((name) => [name, 1]));
    expect(Object.keys(fieldsOf(JSON.stringify(map)))).toEqual(['', '{}']);
  });

  test.each([
    ['no JSON', '{"a":', 'malformed'],
    ['a member twice', '{"a":1,"a":2}', 'malformed'],
    ['many values', `[${'[1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6],'.repeat(15)}[]]`, null],
    ['too many', JSON.stringify(nested(4)), 'too_complex'],
    ['too deep to read', '['.repeat(65) + ']'.repeat(65), 'too_complex'],
  ])('of %s', (_, text, fault) => {
    const found = fieldsOf(text);
    if (fault === null) expect(found).toMatchObject({ '[][]': 'integer 240' });
    else expect(found).toBe(fault);
  });
});

/** Lists of 16 in lists of 16. */
function nested(depth: number): unknown {
  return depth === 0 ? 1 : Array.from({ length: 16 }, () => nested(depth - 1));
}

/** A name of letters, another one for each number. */
function word(at: number): string {
  return `f${[...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('')}`;
}

function endpoint(assetId: string, path: string, generation = 1): LearningEndpoint {
  const segments = path
    .slice(1)
    .split('/')
    .map((text) => [text.startsWith('{') ? { parameter: text.slice(1, -1) } : { literal: text }]);
  const place = { method: 'POST', host: 'shop.test', path: segments };
  return { ...place, assetId, generation, observed: true };
}

function learnerOf(endpoints: readonly LearningEndpoint[], learner = new Learner()) {
  const learning = { format: apiLearningFormat, siteId: 's', endpoints, others: [] };
  const site = { id: 's', learning } as unknown as SiteConfig;
  return { learner, site: learner.prepare([site]).get('s')! };
}

const served = { outcome: 'served', status: 200, transaction: null } as RequestEvent;

interface Sent {
  readonly path?: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly end?: Partial<RequestEvent>;
}

function send(site: SiteLearning, { path = '/orders', body, type, end }: Sent): void {
  const fields = [`Content-Type: ${type ?? 'application/json'}`];
  const view = viewOf({ method: 'POST', target: path, fields });
  view.host = 'shop.test';
  const bytes = Buffer.from(JSON.stringify(body ?? {}));
  const run = site.begin(view, true);
  run?.take({ takeBody: () => ({ bytes, truncated: false }) }, bytes.length, true);
  run?.end({ ...served, ...end });
}

const drained = (learner: Learner): Record<string, number> =>
  Object.fromEntries(learner.drain().flatMap(({ entries }) => [...entries]));

describe('a thread', () => {
  test('reports a field once several bodies had it, and then every one', () => {
    const { learner, site } = learnerOf([endpoint('a', '/orders')]);
    send(site, { body: { name: 'x', once: 1 } });
    send(site, { body: { name: 'x' } });
    expect(drained(learner)).toEqual({ requests: 2, samples: 2 });
    send(site, { body: { name: 'x' } });
    expect(drained(learner)).toEqual({
      ...{ requests: 1, samples: 1 },
      ...{ 'type object ': 3, 'type string /name': 3 },
    });
    send(site, { body: { name: null } });
    expect(drained(learner)).toMatchObject({ 'type null /name': 1 });
  });

  test.each([
    ['an answer that is none of success', { end: { status: 404 } }, 'not_successful'],
    ['a blocked request', { end: { outcome: 'blocked', status: 403 } }, 'not_successful'],
    ['what rules would block', { end: { transaction: { detectionOnly: true } } }, 'flagged'],
    ['another media type', { type: 'text/plain' }, 'other_media'],
    ['a body that is too long', { body: 'x'.repeat(learningLimits.bodyBytesMax) }, 'too_long'],
  ])('learns nothing of %s, which is counted', (_, sent, gap) => {
    const { learner, site } = learnerOf([endpoint('a', '/orders')]);
    send(site, sent as Sent);
    expect(drained(learner)).toEqual({ requests: 1, [`gap ${gap}`]: 1 });
  });

  test('learns of paths that the template means, and no other', () => {
    const { learner, site } = learnerOf([endpoint('a', '/users/{value}/notes')]);
    for (const path of ['/users/7/notes', '/users/7/notes?a=b', '/Users/7/notes/']) {
      send(site, { path });
    }
    for (const path of ['/users/me/notes', '/users/7', '/users/7/notes/8']) send(site, { path });
    expect(drained(learner)).toMatchObject({ requests: 3 });
  });

  test('looks at a bounded number of bodies in an interval, and counts the others', () => {
    const { learner, site } = learnerOf([endpoint('a', '/orders')]);
    const { bodiesPerEndpoint } = learningLimits;
    for (let at = 0; at < 2 * bodiesPerEndpoint; at++) send(site, { body: { name: 'x' } });
    expect(drained(learner)).toMatchObject({
      samples: bodiesPerEndpoint,
      'gap not_sampled': bodiesPerEndpoint,
    });
    send(site, { body: { name: 'x' } });
    expect(drained(learner)).toMatchObject({ samples: 1 });
  });

  test('begins anew with another generation, and gives places back', () => {
    const { learner, site } = learnerOf([endpoint('a', '/orders')]);
    for (let at = 0; at < 5; at++) send(site, { body: { name: 'x' } });
    const next = learnerOf([endpoint('a', '/orders', 2)], learner);
    expect(learner.size).toBe(0);
    send(site, { body: { late: 'x' } });
    send(next.site, { body: { name: 'x' } });
    expect(learner.drain()).toMatchObject([{ generation: 2 }]);
    learner.prepare([]);
    expect(learner.size).toBe(0);
  });
});

test('20,000 hostile requests leave no value, and no more than there is place for', () => {
  const random = randomOf(Number(process.env['WAF_FUZZ_SEED'] ?? 1));
  const paths = ['/orders', '/users/{value}', '/deep/{value}/{any}'];
  const { learner, site } = learnerOf(paths.map((path, at) => endpoint(`asset-${at}`, path)));
  const reported: string[] = [];
  let requests = 0;
  let largest = 0;
  for (let at = 0; at < 20_000; at++) {
    const path = ['/orders', `/users/${at}`, `/deep/${at}/${word(at)}`, `/${word(at)}`][at % 4]!;
    const body = { usual: canary(at), [word(random(1e9))]: [canary(at)], [canary(at)]: at };
    send(site, { path, body });
    if (at % 4 < 3) requests++;
    if (at % 500 === 499) {
      largest = Math.max(largest, learner.size);
      for (const { entries } of learner.drain()) {
        for (const [key, count] of entries) {
          reported.push(key);
          if (key === 'requests') requests -= count;
        }
      }
    }
  }
  expect(requests).toBe(0);
  expect(largest).toBeLessThanOrEqual(paths.length * learningLimits.fieldsPerEndpoint);
  expect(learner.size).toBeLessThanOrEqual(paths.length * learningLimits.fieldsPerEndpoint);
  const names = new Set(reported.filter((key) => key.startsWith('type ')));
  expect([...names].sort()).toEqual(
    ['type object ', 'type string /usual', 'type integer {}'].sort(),
  );
  expect(reported).toContain('dropped fields');
  expect(reported).toContain('dropped names');
  expect(reported.join('\n')).not.toContain('canary');
});

/** A value that must never be seen again. */
function canary(at: number): string {
  return `canary-${at}-${(at * 2654435761) % 4294967296}@shop.example`;
}

function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * below);
  };
}
