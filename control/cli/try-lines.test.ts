/** Lines to try with curl: where to, as whom, and what it answers. */

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { CountryAccessRuleSchema } from '../../proto/gen/waf/v1/country_access_pb.ts';
import { IpListBindingRecordSchema } from '../../proto/gen/waf/v1/ip_list_pb.ts';
import { RateLimitEndpointRecordSchema } from '../../proto/gen/waf/v1/rate_limit_pb.ts';
import type { CommandContext } from './command.ts';
import { noteBinding, noteCertificate, noteCountryRule, noteRateLimit } from './try-lines.ts';

const notes: string[] = [];
const site = { primaryHost: 'shop.example' };
const context = {
  output: { note: (text: string) => notes.push(text) },
  api: () => Promise.resolve({ sites: { getSite: () => Promise.resolve({ site }) } }),
} as unknown as CommandContext;
const shop = "Try: curl -i -H 'Host: shop.example' http://ADDRESS";
const any = "Try: curl -i -H 'Host: HOST' http://ADDRESS";

async function noted(print: () => Promise<void>): Promise<string> {
  notes.length = 0;
  await print();
  return notes.join('\n');
}

test.each([
  [{ action: 'block' }, `${shop}/login more than 5 times in 60 s: the next one answers 429`],
  [
    { action: 'ban', pathPattern: '/a/*' },
    `${shop}/a/x more than 5 times in 60 s: the next one answers 429, as do all others until the ban ends`,
  ],
  [
    { action: 'challenge', siteId: '' },
    `${any}/login more than 5 times in 60 s: the next one answers 403 with "bot_challenge_required" in JSON`,
  ],
  [
    { action: 'block', enforcementMode: 'observe', methods: ['POST'] },
    `${shop.replace('-i ', '-i -X POST ')}/login more than 5 times in 60 s: the next one passes, and its event names it`,
  ],
])('rate limit %j', async (more, line) => {
  const base = { siteId: 's', pathPattern: '/login', requestCount: 5, windowSeconds: 60 };
  const limit = create(RateLimitEndpointRecordSchema, { ...base, ...more });
  expect(await noted(() => noteRateLimit(context, limit))).toBe(line);
});

test.each([
  [{ kind: 'deny', siteId: 's' }, `${shop}/ from an address of the list answers 403`],
  [
    { kind: 'deny', matchMode: 'not_in_list', pathPrefix: '/admin' },
    `${any}/admin from an address outside of the list answers 403`,
  ],
  [{ kind: 'monitor' }, `${any}/ from an address of the list passes, and its event names it`],
])('binding %j', async (more, line) => {
  const binding = create(IpListBindingRecordSchema, { matchMode: 'in_list', ...more });
  expect(await noted(() => noteBinding(context, binding))).toBe(line);
});

test.each([
  [{ kind: 'deny', enabled: true }, `${shop}/ from KP, IR answers 403`],
  [
    { kind: 'deny', enabled: true, matchMode: 'not_in_list' },
    `${shop}/ from any country but KP, IR answers 403`,
  ],
  [{ kind: 'deny', enabled: false }, `${shop}/ from KP, IR is answered as before: the rule is off`],
])('country rule %j', async (more, line) => {
  const base = { countryCodes: ['KP', 'IR'], matchMode: 'in_list', targets: [{ siteId: 's' }] };
  const rule = create(CountryAccessRuleSchema, { ...base, ...more });
  expect(await noted(() => noteCountryRule(context, rule))).toBe(line);
});

test('a certificate is tried by its first name', async () => {
  const line = await noted(() => Promise.resolve(noteCertificate(context, ['*.shop.example'])));
  expect(line).toBe(
    'Try: curl -iv --resolve www.shop.example:443:ADDRESS https://www.shop.example/ shows it once a site of that host uses it',
  );
});
