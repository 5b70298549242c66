/**
 * The proof that updates can change every field of a resource that its owner may set: each field of
 * its message is one that a mask takes, or it stands in a list of those the service sets.
 */

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { CustomRuleSchema } from '../../proto/gen/waf/v1/custom_rule_pb.ts';
import { IpListSchema } from '../../proto/gen/waf/v1/ip_list_pb.ts';
import { PolicySchema } from '../../proto/gen/waf/v1/policy_pb.ts';
import { RoleSchema } from '../../proto/gen/waf/v1/role_pb.ts';
import { SiteSchema } from '../../proto/gen/waf/v1/site_pb.ts';
import { UpstreamSchema } from '../../proto/gen/waf/v1/upstream_pb.ts';
import { UserSchema } from '../../proto/gen/waf/v1/user_pb.ts';

interface Masked {
  readonly field: string;
  readonly rpc: string;
  readonly message: DescMessage;
  readonly make: () => object;
  readonly beside?: object;
  /** Fields that no mask takes: the service sets them, or an RPC of their own changes them. */
  readonly notMasked: string;
}

const url = 'http://127.0.0.1:9';
const ownRule = 'SecRule ARGS:x "@streq 1" "id:901,phase:2,pass,log"';
const times = 'createdAt updatedAt';
let waf: TestControl;
let policyId = '';

const table: readonly Masked[] = [
  {
    ...{ field: 'site', rpc: 'SiteService/*Site', message: SiteSchema },
    make: () => ({ name: 's', primaryHost: 'a.test', upstreams: [{ inline: { url } }] }),
    notMasked: `id tenantId revision ${times} deletedAt`,
  },
  {
    ...{ field: 'policy', rpc: 'PolicyService/*Policy', message: PolicySchema },
    make: () => ({ name: 'p' }),
    notMasked: `id tenantId crsRulesetId engineState isTemplate isDefault builtin revision bundleSha256 ${times}`,
  },
  {
    ...{ field: 'upstream', rpc: 'UpstreamService/*Upstream', message: UpstreamSchema },
    make: () => ({ name: 'u', endpoints: [{ url }] }),
    notMasked: `id tenantId ${times} deletedAt`,
  },
  {
    ...{ field: 'role', rpc: 'RoleService/*Role', message: RoleSchema },
    make: () => ({ name: 'r', permissions: ['site:read'] }),
    notMasked: `id tenantId builtin ${times} memberCount`,
  },
  {
    ...{ field: 'user', rpc: 'UserService/*User', message: UserSchema },
    make: () => ({ username: 'u' }),
    beside: { password: 'long enough to be good 7' },
    notMasked: `id tenantId roles locked lastLoginAt ${times} deletedAt totpEnabled`,
  },
  {
    ...{ field: 'rule', rpc: 'CustomRuleService/*CustomRule', message: CustomRuleSchema },
    make: () => ({ policyId, name: 'c', enabled: true, seclang: ownRule }),
    notMasked: `id policyId ${times} siteId`,
  },
  {
    ...{ field: 'ipList', rpc: 'IpListService/*IpList', message: IpListSchema },
    make: () => ({ name: 'l', entries: [{ value: '10.0.0.1' }] }),
    notMasked:
      `id tenantId ${times} deletedAt globalRefCount policyRefCount siteRefCount ` +
      'managementMode etag entryCount ipv4Count ipv6Count contentStatus deploymentStatus source ' +
      'syncStatus heldUpdate referencePreview deployment',
  },
];

/** Names of all fields, those of inner messages too, with dots; lists and maps are one field. */
function pathsOf(message: DescMessage, before = ''): string[] {
  return message.fields.flatMap((field: DescField) => {
    const path = before + field.jsonName;
    const inner = field.fieldKind === 'message' ? field.message : undefined;
    const opens = inner !== undefined && inner.typeName.startsWith('waf.');
    return opens ? [path, ...pathsOf(inner, `${path}.`)] : [path];
  });
}

/** Fields that the update refuses to name, asked one by one. */
async function refusedPaths({ field, rpc, message, make, beside }: Masked): Promise<string[]> {
  const made = await waf.call(rpc.replace('*', 'Create'), { [field]: make(), ...beside });
  expect(made.status, made.text).toBe(200);
  let record = made.body[field] as Record<string, unknown>;
  const refused: string[] = [];
  for (const updateMask of pathsOf(message)) {
    const revision = record['revision'] === undefined ? {} : { revision: record['revision'] };
    const body = { [field]: record, updateMask, ...revision };
    const answer = await waf.call(rpc.replace('*', 'Update'), body);
    if (answer.text.includes('updateMask: ')) {
      const outer = refused.some((one) => updateMask.startsWith(`${one}.`));
      if (!outer) refused.push(updateMask);
    } else expect([updateMask, answer.status]).toEqual([updateMask, 200]);
    const now = await waf.call(rpc.replace('*', 'Get'), { id: record['id'] });
    record = now.body[field] as Record<string, unknown>;
  }
  return refused;
}

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const made = await waf.call('PolicyService/CreatePolicy', { policy: { name: 'holds rules' } });
  policyId = (made.body['policy'] as { id: string }).id;
});

afterAll(() => waf.control.close());

describe.each(table)('$rpc', (masked) => {
  test('a mask takes every field that the owner may set, and no other', async () => {
    expect(await refusedPaths(masked)).toEqual(masked.notMasked.split(' '));
  });
});
