/** Holds events to the attack that they name, and rankings of attacks to attacks. */

import { Readable } from 'node:stream';
import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  AccessFactSchema,
  SecurityFactSchema,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { SecurityEventJson } from '../../proto/gen/waf/v1/log_pb.ts';
import { toAccessEvent } from './access-event.ts';
import { isAttack, toSecurityEvent } from './security-event.ts';
import { summarize } from './summary.ts';

const identity = { id: 'i', tenantId: 't', agentId: 'a' };

function eventOf(
  matches: readonly (readonly [severity: number, ...types: string[]])[],
  blocked = false,
): SecurityEventJson {
  const fact = create(SecurityFactSchema, {
    blocked,
    clientIp: '192.0.2.1',
    matches: matches.map(([severity, ...types], at) => ({
      ruleId: at + 1,
      severity,
      tags: types.map((type) => `attack-${type}`),
    })),
  });
  return toSecurityEvent(fact, identity);
}

test('the origin that failed is named, and absent where none was asked', () => {
  const failed = { outcome: 'origin_error', refusal: 'origin_connect' };
  const asked = create(SecurityFactSchema, { ...failed, endpoint: '192.0.2.9:8080' });
  expect(toSecurityEvent(asked, identity)).toMatchObject({
    raw: { endpoint: '192.0.2.9:8080' },
  });
  const { raw } = toSecurityEvent(create(SecurityFactSchema, failed), identity);
  expect(raw).not.toHaveProperty('endpoint');
});

test('texts that are the digit 0 are texts; numbers that are 0 are left out', () => {
  const matched = [{ name: Buffer.from('ARGS:0'), value: Buffer.from('0') }];
  const matches = [{ ruleId: 942_100, severity: 2, data: '0', matched }];
  const fact = create(SecurityFactSchema, { requestId: '0', siteId: '0', clientIp: '0', matches });
  const event = toSecurityEvent(fact, identity);
  expect(event).toMatchObject({ requestId: '0', siteId: '0', clientIp: '0' });
  expect(event.messages).toMatchObject([
    { matchKey: '0', matchValue: '0', matchData: '0', matchedValues: [{ key: '0', value: '0' }] },
  ]);
  expect(event).not.toHaveProperty('status');
  const access = toAccessEvent(create(AccessFactSchema, { userAgent: Buffer.from('0') }), identity);
  expect(access.userAgent).toBe('0');
  expect(access).not.toHaveProperty('bytesRead');
  const sized = toAccessEvent(create(AccessFactSchema, { bytesIn: 10n }), identity);
  expect(sized.bytesRead).toBe('10');
});

test('the TLS version and the fingerprint of the handshake are shown, where there was one', () => {
  const ja4 = 't13d1516h2_8daaf6152771_e5627efa2ab1';
  const secure = create(SecurityFactSchema, { transportVersion: 'TLSv1.3', ja4 });
  const shown = toSecurityEvent(secure, identity);
  expect(shown).toMatchObject({ transportVersion: 'TLSv1.3', raw: { ja4 } });
  const plain = toSecurityEvent(create(SecurityFactSchema, {}), identity);
  expect(plain.transportVersion).toBe('PLAINTEXT');
  expect(plain.raw).not.toHaveProperty('ja4');
});

test.each<[string, [number, ...string[]][], string[]]>([
  [
    'the rule with the highest score, not the first',
    [
      [4, 'protocol'],
      [2, 'sqli'],
    ],
    ['sqli', 'protocol'],
  ],
  [
    'many notices weigh less than one critical rule',
    [
      [5, 'protocol'],
      [5, 'protocol'],
      [5, 'protocol'],
      [2, 'rce'],
    ],
    ['rce', 'protocol'],
  ],
  [
    'among equals the one with more together',
    [
      [2, 'xss'],
      [2, 'sqli'],
      [2, 'sqli'],
    ],
    ['sqli', 'xss'],
  ],
  [
    'then the first',
    [
      [2, 'xss'],
      [2, 'sqli'],
    ],
    ['xss', 'sqli'],
  ],
  [
    'rules that add up scores come last',
    [
      [4, 'lfi'],
      [2, 'generic'],
    ],
    ['lfi', 'generic'],
  ],
  ['a rule without a severity', [[-1, 'dos']], ['dos']],
])('%s', (_, matches, types) => {
  const event = eventOf(matches);
  expect(event.attackType).toBe(types[0]);
  expect(event.attackTypes).toEqual(types);
});

test('rankings of attacks leave out what only passed with a notice', async () => {
  const notice = eventOf([[5, 'protocol']]);
  const stopped = eventOf([[5, 'protocol']], true);
  const attack = eventOf([
    [5, 'protocol'],
    [2, 'sqli'],
  ]);
  expect([notice, stopped, attack, eventOf([])].map(isAttack)).toEqual([false, true, true, false]);
  const wanted = [
    'SECURITY_SUMMARY_DIMENSION_ATTACK_TYPE',
    'SECURITY_SUMMARY_DIMENSION_ATTACKER',
    'SECURITY_SUMMARY_DIMENSION_RULE',
  ] as const;
  const events = Readable.from([notice, notice, stopped, attack]);
  const { total, top } = await summarize(events, wanted, 10, false);
  expect(total).toBe(4);
  expect(top.get(wanted[0])?.map(({ key, count }) => [key, count])).toEqual([
    ['protocol', 1n],
    ['sqli', 1n],
  ]);
  expect(top.get(wanted[1])?.[0]?.count).toBe(2n);
  // What rules matched is shown whole.
  expect(top.get(wanted[2])?.[0]?.count).toBe(4n);
});

test('each value that matched, the score and the part that matched are shown', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const matched = [
    { name: bytes('ARGS_NAMES:a:b'), value: bytes('a:b') },
    { name: bytes('ARGS:q'), value: bytes('x found within ARGS:q: x') },
  ];
  const data = 'Matched Data: x found within ARGS:q: x found within ARGS:q: x';
  const fact = create(SecurityFactSchema, { matches: [{ ruleId: 1, matched, data, score: 10 }] });
  expect(toSecurityEvent(fact, identity).messages).toMatchObject([
    {
      matchVariable: 'ARGS_NAMES',
      matchKey: 'a:b',
      matchedText: 'x',
      scoreContribution: 10,
      matchedValues: [
        { variable: 'ARGS_NAMES', key: 'a:b', value: 'a:b' },
        { variable: 'ARGS', key: 'q', value: 'x found within ARGS:q: x' },
      ],
    },
  ]);
  const other = create(SecurityFactSchema, { matches: [{ ruleId: 1, data: 'no such text' }] });
  expect(toSecurityEvent(other, identity).messages?.[0]).not.toHaveProperty('matchedText');
});
