/** The proof that what a node says of a configuration reaches the operator. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTestLink } from '../../test/support/test-link.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { AppError } from '../../base/errors.ts';
import { policyInvalidCode, writePolicyFaults } from '../../base/policy-faults.ts';
import type { VerifiedBundle } from '../../engine/bundle/signed-bundle.ts';
import type { ControllerLink } from '../../engine/link/controller-link.ts';

let waf: TestControl;
let link: ControllerLink;
const applied: VerifiedBundle[] = [];
let fails = false;
const refused = new Set<string>();
let attempts = 0;

/** What the engine says of policies that do not compile. */
const rulesAreWrong = (ids: readonly string[]): AppError => {
  const findings = ['policy.conf:212:7: no operator is called @nonsense'];
  const faults = ids.map((id) => ({ id, name: 'tight', errors: 1, findings }));
  return new AppError(policyInvalidCode, writePolicyFaults(faults, 10), { source: 'config' });
};

function connect(): ControllerLink {
  return connectTestLink(waf.socket, applied, async (obtain, keep) => {
    const verified = await obtain();
    attempts++;
    if (fails) throw rulesAreWrong(['unknown']);
    const wrong = verified.bundle.policies.filter(({ id }) => refused.has(id));
    if (wrong.length > 0) throw rulesAreWrong(wrong.map(({ id }) => id));
    applied.push(verified);
    await keep();
  });
}

beforeAll(async () => {
  waf = await startTestControl();
  link = connect();
  await eventually(async () => (await state()).acknowledged === true);
});

afterAll(async () => {
  await link.close();
  await waf.control.close();
});

async function call<T>(rpc: string, body: object): Promise<T> {
  return (await waf.call(rpc, body)).body as T;
}

interface ServingState {
  readonly acknowledged?: boolean;
  readonly artifactSha256: string;
  readonly siteIds: readonly string[];
}
interface Node {
  readonly applyResult: string;
  readonly applyError?: string;
  readonly configHash: string;
  readonly proxyStatus: string;
}
interface Bundle {
  readonly applyResult: string;
  readonly applyError?: string;
  readonly bundleSha256: string;
  readonly appliedAt?: string;
  readonly deliveredAt?: string;
}

interface BundlePage {
  readonly items: readonly { readonly id: string }[];
  readonly page: { readonly total: string };
}

const state = (): Promise<ServingState> =>
  call('AgentService/GetNodeServingState', { nodeId: 'local' });
const node = async (): Promise<Node> => {
  const { items } = await call<{ items: Node[] }>('AgentService/ListNodes', {});
  return items[0]!;
};
const latest = async (): Promise<Bundle> => {
  const page = { page: 1, pageSize: 1 };
  const { items } = await call<{ items: Bundle[] }>('AgentService/ListConfigBundles', { page });
  return items[0]!;
};
const createSite = (name: string, policyId = ''): Promise<unknown> =>
  call('SiteService/CreateSite', {
    site: {
      name,
      primaryHost: `${name}.example`,
      upstreams: [{ inline: { url: 'http://127.0.0.1:9000', weight: 1 } }],
      ...(policyId === '' ? {} : { waf: { enabled: true, policyId } }),
    },
  });

test('a receipt is for exactly that artifact', async () => {
  await createSite('one');
  await eventually(async () => (await state()).siteIds.length === 2);
  await eventually(async () => (await latest()).applyResult === 'success');
  const [serving, bundle] = [await state(), await latest()];
  expect(serving.artifactSha256).toBe(applied.at(-1)?.sha256);
  expect(bundle.bundleSha256).toBe(serving.artifactSha256);
  expect(bundle.appliedAt! >= bundle.deliveredAt!).toBe(true);
});

test('a configuration that fails changes nothing; its error arrives with file and line', async () => {
  const before = applied.at(-1)!.sha256;
  fails = true;
  await createSite('two');
  await eventually(async () => (await latest()).applyResult === 'failure');
  const [broken, bundle] = [await node(), await latest()];
  expect(broken.configHash).toBe(before);
  expect(broken.applyResult).toBe('failure');
  for (const error of [broken.applyError, bundle.applyError]) {
    expect(error).toContain('policy_invalid: 1 policy does not compile');
    expect(error).toContain('policy.conf:212:7: no operator is called @nonsense');
  }
  expect((await state()).acknowledged ?? false).toBe(false);
});

test('RetryNodeConfig delivers the same configuration again', async () => {
  const { artifactSha256 } = await state();
  fails = false;
  await call('AgentService/RetryNodeConfig', { nodeId: 'local' });
  await eventually(async () => (await state()).acknowledged === true);
  expect(applied.at(-1)?.sha256).toBe(artifactSha256);
  expect((await latest()).applyResult).toBe('success');
});

test('a node that serves the present configuration already is sent nothing', async () => {
  await link.close();
  await eventually(async () => (await waf.get('/readyz', false)).status === 503);
  const before = attempts;
  link = connect();
  await eventually(async () => (await waf.get('/readyz', false)).status === 200);
  expect((await node()).applyResult).toBe('success');
  expect(attempts).toBe(before);
});

test('a policy that does not compile is held back alone; the operator sees it, all else is published', async () => {
  const { policy } = await call<{ policy: { id: string } }>('PolicyService/CreatePolicy', {
    policy: { name: 'broken' },
  });
  refused.add(policy.id);
  await createSite('held', policy.id);
  await eventually(() => Promise.resolve(applied.at(-1)?.bundle.heldPolicies.length === 1));
  expect(applied.at(-1)?.bundle.heldPolicies).toEqual([policy.id]);
  await eventually(async () => (await state()).acknowledged === true);
  await eventually(async () => (await latest()).applyResult === 'success');
  const seen = await node();
  expect(seen.proxyStatus).toBe('DEGRADED');
  expect(seen.applyResult).toBe('success');
  expect(seen.applyError).toContain(`held back: ${policy.id}; its sites answer 503`);
  expect(seen.applyError).toContain('policy.conf:212:7: no operator is called @nonsense');
  expect((await latest()).applyError).toBe(seen.applyError);

  await createSite('later');
  await eventually(async () => (await state()).siteIds.length === 5);
  await eventually(async () => (await state()).acknowledged === true);
  expect((await state()).artifactSha256).toBe(applied.at(-1)?.sha256);

  refused.clear();
  await call('AgentService/RetryNodeConfig', { nodeId: 'local' });
  await eventually(async () => (await node()).proxyStatus === 'HEALTHY');
  expect(applied.at(-1)?.bundle.heldPolicies).toEqual([]);
  expect((await node()).applyError ?? '').toBe('');
});

test('configurations are read by page, the newest first, and no more than asked for', async () => {
  const all = await call<BundlePage>('AgentService/ListConfigBundles', { page: { pageSize: 200 } });
  const ids = all.items.map(({ id }) => Number(id.slice('config-'.length)));
  expect(ids.length).toBeGreaterThan(4);
  expect(ids).toEqual(ids.toSorted((left, right) => right - left));
  const second = await call<BundlePage>('AgentService/ListConfigBundles', {
    page: { page: 2, pageSize: 2 },
  });
  expect(second.items.map(({ id }) => id)).toEqual(all.items.slice(2, 4).map(({ id }) => id));
  expect(second.page.total).toBe(String(ids.length));
  const beyond = await call<Partial<BundlePage>>('AgentService/ListConfigBundles', {
    page: { page: 900, pageSize: 200 },
  });
  expect(beyond.items ?? []).toEqual([]);
});
