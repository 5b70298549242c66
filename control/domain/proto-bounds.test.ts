/** The proof that bounds in the .proto files hold for what is no request, such as a manifest. */

import type { DescMessage } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  ArgLimitsSchema,
  CrsCoreSettingsSchema,
  PolicySchema,
} from '../../proto/gen/waf/v1/policy_pb.ts';
import { RateLimitEndpointRecordSchema } from '../../proto/gen/waf/v1/rate_limit_pb.ts';
import {
  BotProtectionConfigSchema,
  SitePolicyOverrideSchema,
  SiteSchema,
} from '../../proto/gen/waf/v1/site_pb.ts';
import {
  UpstreamHealthCheckSchema,
  UpstreamResiliencePolicySchema,
} from '../../proto/gen/waf/v1/upstream_pb.ts';
import { boundsOf } from '../limits/field-bounds.ts';
import { longestBodyBytes } from './policy/policy-seclang.ts';
import { checkBounds } from './proto-bounds.ts';

/** Messages whose numbers are all bounded, with how many they have. */
const messages: readonly (readonly [DescMessage, number])[] = [
  [BotProtectionConfigSchema, 3],
  [CrsCoreSettingsSchema, 16],
  [ArgLimitsSchema, 6],
  [UpstreamHealthCheckSchema, 5],
  [UpstreamResiliencePolicySchema, 4],
  [SitePolicyOverrideSchema, 5],
];

const refusal = (schema: DescMessage, message: object): string => {
  try {
    checkBounds(schema, message, 'at');
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

test.each(messages)('every number of %s has two bounds, and both hold', (schema, count) => {
  const numbers = schema.fields.filter(
    ({ fieldKind, scalar }) => fieldKind === 'scalar' && scalar !== undefined && scalar < 6,
  );
  expect(numbers).toHaveLength(count);
  for (const { jsonName } of numbers) {
    const { min, max, zeroIsDefault } = boundsOf(schema, jsonName);
    const at = (value: number): string => refusal(schema, { [jsonName]: value });
    expect([at(min), at(max)]).toEqual(['', '']);
    const problem = `at.${jsonName}: must be between ${min} and ${max}`;
    expect([at(min - 1), at(max + 1)]).toEqual([
      expect.stringContaining(problem),
      expect.stringContaining(problem),
    ]);
    if (zeroIsDefault) expect(at(0)).toBe('');
  }
});

test('the longest body that is inspected is the longest that the engine takes', () => {
  expect(boundsOf(CrsCoreSettingsSchema, 'requestBodyInspectionLimit').max).toBe(longestBodyBytes);
});

test('a field without bounds is a mistake of ours', () => {
  expect(() => boundsOf(PolicySchema, 'name')).toThrow('waf.v1.Policy.name has no bounds');
});

test.each([
  [{ aliases: Array.from({ length: 201 }, () => 'a') }, 'site.aliases: has at most 200 items'],
  [{ aliases: ['a', 'b'.repeat(254)] }, 'site.aliases[1]: must be at most 253 characters'],
  [
    { upstreams: [{ inline: { weight: 1001 } }] },
    'site.upstreams[0].inline.weight: must be between 0 and 1000',
  ],
  [
    { delivery: { bodyLimits: [{ maxBytes: '-1' }] } },
    'site.delivery.bodyLimits[0].maxBytes: must be at least 0',
  ],
  [
    { delivery: { securityTxt: 'é'.repeat(8193) } },
    'site.delivery.securityTxt: must be at most 16384 bytes',
  ],
  [{ delivery: { redirects: [{ status: 0 }], securityTxt: 'é'.repeat(8192) } }, ''],
  [{ aliases: ['🔒'.repeat(253)] }, ''],
])('what lies in a message is held to its own bounds: %#', (message, problem) => {
  let said = '';
  try {
    checkBounds(SiteSchema, message, 'site');
  } catch (error) {
    said = (error as Error).message;
  }
  expect(said).toBe(problem);
});

test('a number that is not sent is 0, unless its field tells the two apart', () => {
  const at = 'at.requestCount: must be between 1 and 1000000';
  expect(refusal(RateLimitEndpointRecordSchema, { windowSeconds: 1 })).toBe(at);
  expect(refusal(ArgLimitsSchema, {})).toBe('');
});
