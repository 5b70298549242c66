/** The proof that manifests are applied whole or not at all, and twice is once. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessLimits } from '../../limits/access-limits.ts';
import {
  startTestControl,
  type Answer,
  type TestControl,
} from '../../../test/support/test-control.ts';

let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});

afterAll(() => waf.control.close());

const site = (at: number, change = ''): string => `
apiVersion: waf.io/v1
kind: Site
metadata: { name: shop-${at} }
spec:
  primaryHost: shop-${at}.example
  upstreamRef: pool
  policyRef: tight
${change}`;

const base = `
apiVersion: waf.io/v1
kind: Upstream
metadata: { name: pool }
spec:
  endpoints: [{ url: 'http://127.0.0.1:9000', weight: 2 }]
  healthCheck: { path: /health }
---
apiVersion: waf.io/v1
kind: IpList
metadata: { name: office }
spec:
  description: where we sit
  entries:
    - { cidr: 192.0.2.0/24, description: first floor }
    - { cidr: '2001:db8::/32', expireAt: 2099-01-01T00:00:00Z }
---
apiVersion: waf.io/v1
kind: Policy
metadata: { name: tight }
spec:
  crsRulesetRef: default
  crsCore: { blockingParanoiaLevel: 2 }
  ruleOverrides:
    - { crsRuleId: '942999', actionEnum: RULE_OVERRIDE_ACTION_DISABLE, siteRef: shop-0 }
  customRules:
    - name: no evil
      ruleId: '10500'
      seclang: SecRule ARGS "@contains evil" "id:10500,phase:2,deny"
`;

const send = async (yaml: string, dryRun = false): Promise<Answer> =>
  waf.call('SystemService/Apply', {
    manifestYaml: Buffer.from(yaml).toString('base64'),
    dryRun,
  });

const actions = ({ body }: Answer): string[] =>
  (body as { plan: { changes: { kind: string; action: string }[] } }).plan.changes.map(
    ({ kind, action }) => `${kind} ${action}`,
  );

const count = async (rpc: string): Promise<number> => {
  const { body } = await waf.call(rpc, { page: { page: 1, pageSize: 200 } });
  return Number((body as { page: { total?: string } }).page.total ?? 0);
};

const hundred = [base, ...Array.from({ length: 100 }, (_, at) => site(at))].join('\n---\n');

test('a hundred sites: first all are made, then nothing is changed', async () => {
  const tried = await send(hundred, true);
  expect(tried.text).not.toContain('"code"');
  expect(new Set(actions(tried))).toEqual(
    new Set(['Upstream create', 'IpList create', 'Policy create', 'Site create']),
  );
  expect(await count('SiteService/ListSites')).toBe(0);
  const first = await send(hundred);
  expect(actions(first).filter((action) => action === 'Site create')).toHaveLength(100);
  expect(await count('SiteService/ListSites')).toBe(100);
  const second = await send(hundred);
  expect(new Set(actions(second).map((action) => action.split(' ')[1]))).toEqual(
    new Set(['unchanged']),
  );
  const results = (second.body as { results: { changed?: boolean }[] }).results;
  expect(results.filter(({ changed }) => changed === true)).toEqual([]);
});

test('what a document leaves out goes back to its standard; what no document names stays', async () => {
  const changed = await send(site(1, '  status: disabled\n  aliases: [old.example]'));
  expect(actions(changed)).toEqual(['Site update']);
  const back = await send(site(1));
  const [change] = (back.body as { plan: { changes: { diff: { changedPaths: string[] } }[] } }).plan
    .changes;
  expect(change?.diff.changedPaths).toEqual(['spec.aliases', 'spec.status']);
  expect(await count('SiteService/ListSites')).toBe(100);
});

test('a plan that was looked at is carried out, or nothing', async () => {
  const planOf = ({ body }: Answer) => (body as { plan: { id: string } }).plan.id;
  const carryOut = (yaml: string, expectedPlanId: string): Promise<Answer> =>
    waf.call('SystemService/Apply', {
      manifestYaml: Buffer.from(yaml).toString('base64'),
      expectedPlanId,
    });
  const wanted = [site(1, '  aliases: [planned.example]'), site(300)].join('\n---\n');
  const id = planOf(await send(wanted, true));
  expect(id).toMatch(/^[0-9a-f]{64}$/);
  expect(planOf(await send(wanted, true))).toBe(id);
  // Somebody else changes a resource that the plan changes, then one that it does not.
  await send(site(1, '  status: disabled'));
  const late = await carryOut(wanted, id);
  expect(late.body).toMatchObject({
    code: 'aborted',
    message: 'expectedPlanId: the plan is another one now; look at it again',
  });
  expect(await count('SiteService/ListSites')).toBe(100);
  const next = planOf(await send(wanted, true));
  expect(next).not.toBe(id);
  await send(site(2, '  aliases: [beside.example]'));
  const done = await carryOut(wanted, next);
  expect([done.status, actions(done), planOf(done)]).toEqual([
    200,
    ['Site update', 'Site create'],
    next,
  ]);
  // The same plan is over: nothing is left of it to be done.
  expect((await carryOut(wanted, next)).body).toMatchObject({ code: 'aborted' });
  await waf.call('SiteService/DeleteSite', { id: await idOf('shop-300') });
  await send([site(1), site(2)].join('\n---\n'));
});

async function idOf(name: string): Promise<string> {
  const { body } = await waf.call('SiteService/ListSites', {
    query: name,
    page: { pageSize: 200 },
  });
  const { items } = body as { items: { id: string; name: string }[] };
  return items.find((one) => one.name === name)?.id ?? '';
}

const overriding = (...overrides: string[]): string => `
apiVersion: waf.io/v1
kind: Policy
metadata: { name: vain }
spec:
  crsRulesetRef: default
  ruleOverrides: [${overrides.join(', ')}]`;

test('an override of a rule that no ruleset has is kept, and a warning says why', async () => {
  const unknown = `{ crsRuleId: '999', actionEnum: RULE_OVERRIDE_ACTION_DISABLE }`;
  const answer = await send(overriding(unknown), true);
  expect(`${answer.status} ${answer.text}`).toMatch(/^200 /);
  const { plan } = answer.body as { plan: { warnings: string[] } };
  expect(plan.warnings).toEqual([
    expect.stringMatching(/ruleOverrides\[0\].*no ruleset has a rule.*no effect/),
  ]);
});

test('an exclusion of what the rule does not read is refused with its path', async () => {
  const read = `{ crsRuleId: '942999', actionEnum: RULE_OVERRIDE_ACTION_DEFAULT, removedTargets: ['ARGS:x'] }`;
  const unread = `{ crsRuleId: '942999', actionEnum: RULE_OVERRIDE_ACTION_DEFAULT, scope: /a, removedTargets: ['ARGS:y', 'REQUEST_HEADERS:x'] }`;
  for (const dryRun of [true, false]) {
    const answer = await send(overriding(read, unread), dryRun);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('(Policy vain): spec.ruleOverrides[1].removedTargets[1]: ');
    expect(answer.text).toMatch(/the rule does not read it.*it reads ARGS/);
  }
});

test('one bad document changes nothing; the error names document and field', async () => {
  const cases: [string, RegExp][] = [
    [site(200, '  color: red'), /^document 2 \(Site shop-200\): Unknown field "spec\.color"/],
    [
      site(200, '  upstreams: [{ url: ftp://x }]').replace('upstreamRef: pool', 'status: active'),
      /spec\.upstreams\[0\]\.url: must begin with http/,
    ],
    [
      site(200).replace('pool', 'nobody'),
      /document 2 \(Site shop-200\): spec\.upstreamRef: names no upstream/,
    ],
    [
      site(200).replace('shop-200.example', 'shop-3.example'),
      /document 2 .*spec\.primaryHost: another site answers/,
    ],
    [site(200, '  waf: { mode: loud }'), /spec\.waf\.mode: must be one of blocking, detection/],
    [
      base.replace('192.0.2.0/24', '192.0.2.0/99'),
      /document 3 \(IpList office\): spec\.entries\[0\]\.cidr: must be an address/,
    ],
    [
      base.replace('crsRulesetRef: default', ''),
      /document 4 \(Policy tight\): spec\.crsRulesetRef: is required/,
    ],
    [
      base.replace("ruleId: '10500'", "ruleId: 'x'"),
      /document 4 \(Policy tight\): spec\.customRules\[0\]/,
    ],
    ['kind: [', /document 2: is not valid YAML/],
  ];
  for (const [bad, message] of cases) {
    const answer = await send([site(300), bad].join('\n---\n'));
    expect(answer.status, bad).toBe(message.source.includes('another site') ? 409 : 400);
    expect((answer.body as { message: string }).message).toMatch(message);
  }
  expect(await count('SiteService/ListSites')).toBe(100);
});

test('the whole state is refused to who may not apply', async () => {
  const answer = await waf.call('SystemService/Apply', { manifestYaml: '' }, { network: true });
  expect(answer.status).toBe(401);
});

test('a DNS account and a wildcard site that needs it are applied together', async () => {
  const answer = await send(
    `apiVersion: waf.io/v1\nkind: Site\nmetadata: { name: wild }\n` +
      `spec: { primaryHost: '*.wild.example', tls: { mode: managed-acme }, upstreams: [{ url: ` +
      `'http://127.0.0.1:9' }] }\n---\napiVersion: waf.io/v1\nkind: DnsProvider\n` +
      `metadata: { name: wild }\nspec: { provider: cloudflare, zones: [wild.example], ` +
      `credentials: { apiToken: token } }\n`,
  );
  expect([answer.status, answer.body['message']]).toEqual([200, undefined]);
  expect(actions(answer)).toEqual(['Site create', 'DnsProvider create']);
});

test('manifests make no more IP lists than calls', async () => {
  const lists = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_none, at) => {
      return `apiVersion: waf.io/v1\nkind: IpList\nmetadata: { name: full-${from + at} }\nspec: {}\n`;
    }).join('---\n');
  const present = await count('IpListService/ListIpLists');
  const half = accessLimits.listsMax / 2;
  const made = [await send(lists(0, half)), await send(lists(half, 2 * half - present))];
  expect(made.map(({ status }) => status)).toEqual([200, 200]);
  const { status, body } = await send(lists(2 * half, 2 * half + 1));
  expect([status, body['message']]).toEqual([
    429,
    expect.stringContaining(`there are at most ${accessLimits.listsMax} IP lists`),
  ]);
});

test.each([
  ['  delivery: { maintenance: { retryAfterSeconds: 604801 } }', 'delivery.maintenance'],
  [
    '  delivery: { cors: [{ pathPrefix: /, maxAgeSeconds: -1 }] }',
    'delivery.cors[0].maxAgeSeconds',
  ],
  [
    `  botProtection: { exemptMethods: [${Array.from({ length: 17 }, () => 'GET').join(', ')}] }`,
    'botProtection.exemptMethods: has at most 16 items',
  ],
  [
    `  delivery: { stickySessions: { cookieName: ${'x'.repeat(65)} } }`,
    'delivery.stickySessions.cookieName: must be at most 64 characters',
  ],
])('a document is held to the bounds of calls: %#', async (change, problem) => {
  const { body } = await send([base, site(0, change)].join('\n---\n'), true);
  expect(body).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining(`(Site shop-0): spec.${problem}`) as string,
  });
});
