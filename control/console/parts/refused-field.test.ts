/** Which field of a form a message of the API is about. */

import { expect, test } from 'vitest';
import { fieldWords, partsOfRefusal, refusedField } from './refused-field.ts';

const fields = [
  { name: 'name' },
  { name: 'source' },
  { name: 'origins', api: ['upstreams', 'url'] },
];

test.each([
  ['site.name: must be at most 128 characters', 'name', 'must be at most 128 characters'],
  ['site.upstreams[0].inline.url: must be http or https', 'origins', 'must be http or https'],
  ['upstreams[1].port: must be set: 0', 'origins', 'must be set: 0'],
  ['rule.seclang: line 1: unknown', null, ''],
  ['source:2:9: is no key', 'source', 'source:2:9: is no key'],
  ['target:2:9: is no key', null, ''],
  ['Rule id 900110 is already used.', null, ''],
])('%s', (message, name, problem) => {
  expect(refusedField(message, fields)).toEqual(name === null ? null : { name, problem });
});

test.each([
  ['rule.expression.windowSeconds: must be a whole number', 'Window seconds'],
  ['site.delivery.redirects[1].target: is required', 'Redirects 2, target'],
  ['entries[0]: must be an address', 'Entries 1'],
  ['values.auth.refresh_token_seconds: must be a number', 'Refresh token seconds'],
])('%s is about: %s', (message, words) => {
  expect(fieldWords(partsOfRefusal(message).path)).toBe(words);
});

test('a sentence names no field', () => {
  expect(partsOfRefusal('Rule id 900110 is already used: choose another.').path).toBe('');
});
