/** Proves that no command removes what it does not name, except with --replace. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { keepPrinted, type Printed } from '../../test/support/printed.ts';
import { writeSmallRuleset } from '../../test/support/small-ruleset.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { loadCommands } from './commands.ts';
import { runCommandLine } from './program.ts';

const commands = await loadCommands([]);
const folder = mkdtempSync(join(tmpdir(), 'waf-lists-'));
const token = join(folder, 'token.json');
let waf: TestControl;
let printed: Printed;

beforeAll(async () => {
  waf = await startTestControl({
    demoOrigin: null,
    rulesetFolder: writeSmallRuleset(folder),
  });
  writeFileSync(token, '{"apiToken":"x"}');
});
afterAll(() => waf.control.close());
beforeEach(() => {
  printed = keepPrinted();
});
afterEach(() => vi.restoreAllMocks());

async function run(line: string): Promise<string> {
  printed = keepPrinted();
  const args = [...line.split(' '), '--admin-socket', waf.socket, '--output', 'json'];
  const code = await runCommandLine(commands, args);
  return `${code} ${printed.err}${printed.out}`;
}

interface Row {
  /** Makes the resource. */
  readonly make: readonly string[];
  /** The change, with ITEM for a flag and its value. */
  readonly change: string;
  readonly items: readonly [string, string, string];
  /** How each item reads in the answer of `show`. */
  readonly reads: readonly [string, string, string];
  readonly show: string;
}

const origins = ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://127.0.0.1:3'] as const;
const site = (name: string): string =>
  `site create --name ${name} --host ${name}.test --upstream ${origins[0]}`;
const flagged = (flag: string, [a, b, c]: readonly [string, string, string]) =>
  [`${flag} ${a}`, `${flag} ${b}`, `${flag} ${c}`] as const;

const rows: Readonly<Record<string, Row>> = {
  'rule override --without': {
    make: ['policy create --name tuned'],
    change: 'rule override tuned 942999 exclude ITEM',
    items: flagged('--without', ['ARGS:a', 'ARGS:b', 'ARGS:c']),
    reads: ['ARGS:a', 'ARGS:b', 'ARGS:c'],
    show: 'rule overrides tuned',
  },
  'role update --permission': {
    make: ['role create reader --permission site:read'],
    change: 'role update reader ITEM',
    items: flagged('--permission', ['site:read', 'log:read', 'policy:read']),
    reads: ['site:read', 'log:read', 'policy:read'],
    show: 'role get reader',
  },
  'agent-group update --tag': {
    make: ['agent-group create --name edge --tag t1'],
    change: 'agent-group update edge ITEM',
    items: flagged('--tag', ['t1', 't2', 't3']),
    reads: ['"t1"', '"t2"', '"t3"'],
    show: 'agent-group get edge',
  },
  'cert dns-update --zone': {
    make: [`cert dns-create --name cf --provider cloudflare --zone a.test --credentials TOKEN`],
    change: 'cert dns-update cf ITEM',
    items: flagged('--zone', ['a.test', 'b.test', 'c.test']),
    reads: ['a.test', 'b.test', 'c.test'],
    show: 'cert dns-list',
  },
  'site update --alias': {
    make: [site('aliased')],
    change: 'site update aliased ITEM',
    items: flagged('--alias', ['a1.test', 'a2.test', 'a3.test']),
    reads: ['a1.test', 'a2.test', 'a3.test'],
    show: 'site get aliased',
  },
  'site maintenance --allow-network': {
    make: [site('closed')],
    change: 'site maintenance closed ITEM',
    items: flagged('--allow-network', ['192.0.2.1', '192.0.2.2', '192.0.2.3']),
    reads: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
    show: 'site get closed',
  },
  'site maintenance --allow-path': {
    make: [site('closed2')],
    change: 'site maintenance closed2 ITEM',
    items: flagged('--allow-path', ['/health', '/hooks', '/up']),
    reads: ['/health', '/hooks', '/up'],
    show: 'site get closed2',
  },
  'bot set --exempt-path': {
    make: [site('gated')],
    change: 'bot set gated ITEM',
    items: flagged('--exempt-path', ['/health', '/hooks', '/api']),
    reads: ['/health', '/hooks', '/api'],
    show: 'bot show gated',
  },
  'bot set --exempt-method': {
    make: [site('gated2')],
    change: 'bot set gated2 ITEM',
    items: flagged('--exempt-method', ['OPTIONS', 'PROPFIND', 'TRACE']),
    reads: ['OPTIONS', 'PROPFIND', 'TRACE'],
    show: 'bot show gated2',
  },
  'site update --upstream': {
    make: [site('moved')],
    change: 'site update moved ITEM',
    items: flagged('--upstream', origins),
    reads: origins,
    show: 'site get moved',
  },
  'upstream update --endpoint': {
    make: [`upstream create --name pool --endpoint ${origins[0]},3`],
    change: 'upstream update pool ITEM',
    items: flagged('--endpoint', origins),
    reads: origins,
    show: 'upstream get pool',
  },
  'upstream update --header': {
    make: [`upstream create --name headed --endpoint ${origins[0]}`],
    change: 'upstream update headed ITEM',
    items: flagged('--header', ['x-a=1', 'x-b=2', 'x-c=3']),
    reads: ['x-a', 'x-b', 'x-c'],
    show: 'upstream get headed',
  },
  'user update --provider': {
    make: ['user create lena --no-password --provider radius'],
    change: 'user update lena ITEM',
    items: flagged('--provider', ['radius', 'oidc:a', 'saml:b']),
    reads: ['radius', 'oidc:a', 'saml:b'],
    show: 'user get lena',
  },
  'user roles': {
    make: [
      'user create nils --no-password --provider radius',
      'role create first --permission site:read',
      'role create second --permission site:read',
      'role create third --permission site:read',
    ],
    change: 'user roles nils ITEM',
    items: flagged('--role', ['first', 'second', 'third']),
    reads: ['"first"', '"second"', '"third"'],
    show: 'user get nils',
  },
  'country set --country': {
    make: ['country set --name abroad --kind deny --country DE'],
    change: 'country set --id abroad ITEM',
    items: flagged('--country', ['DE', 'FR', 'IT']),
    reads: ['"DE"', '"FR"', '"IT"'],
    show: 'country list',
  },
  'crs exclusion-use': {
    make: ['policy create --name excluding'],
    change: 'crs exclusion-use excluding wordpress ITEM',
    items: flagged('--path', ['/a', '/b', '/c']),
    reads: ['"/a"', '"/b"', '"/c"'],
    show: 'crs exclusion-uses excluding',
  },
  'site routing-set --route': {
    make: [site('routed'), `upstream create --name target --endpoint ${origins[0]}`],
    change: 'site routing-set routed ITEM',
    items: flagged('--route', ['/a=target', '/b=target', '/c=target']),
    reads: ['"/a"', '"/b"', '"/c"'],
    show: 'site routing routed',
  },
};

test.each(Object.entries(rows))('%s adds, removes and replaces', async (_, row) => {
  const [a, b, c] = row.items;
  const shown = async (): Promise<boolean[]> => {
    const text = await run(row.show);
    return row.reads.map((one) => text.includes(one));
  };
  const change = async (item: string, more = ''): Promise<void> => {
    expect(await run(`${row.change.replace('ITEM', item)}${more}`)).toMatch(/^0 /);
  };
  for (const line of row.make) expect(await run(line.replace('TOKEN', token))).toMatch(/^0 /);
  await change(a);
  await change(b);
  expect(await shown()).toEqual([true, true, false]);
  await change(a, ' --remove');
  expect(printed.err).toContain('taken away');
  expect(await shown()).toEqual([false, true, false]);
  expect(await run(`${row.change.replace('ITEM', c)} --remove`)).toMatch(/^1 /);
  await change(c, ' --replace');
  expect(printed.err).toContain('taken away');
  expect(await shown()).toEqual([false, false, true]);
  expect(await run(`${row.change.replace('ITEM', c)} --replace --remove`)).toMatch(/^1 /);
  await atOnce([a, b, c].map((item) => row.change.replace('ITEM', item)));
  expect(await shown()).toEqual([true, true, true]);
});

/** Operators who change the same at the same time. */
async function atOnce(lines: readonly string[]): Promise<void> {
  printed = keepPrinted();
  const running = lines.map((line) =>
    runCommandLine(commands, [...line.split(' '), '--admin-socket', waf.socket]),
  );
  const codes = await Promise.all(running);
  expect(codes, printed.err).toEqual(lines.map(() => 0));
}

test('what operators set at the same time in one resource is all kept', async () => {
  expect(await run(site('both'))).toMatch(/^0 /);
  await atOnce(
    ['--paranoia 2', '--threshold 9', '--sampling 50'].map((flag) => `site override both ${flag}`),
  );
  await run('site override both');
  expect(JSON.parse(printed.out)).toMatchObject({
    blockingParanoiaLevel: 2,
    inboundAnomalyScoreThreshold: 9,
    samplingPercentage: 50,
  });
  const page = (kind: string, text: string): string =>
    `system settings-set --set security.responses.config={"templates":{"${kind}":{"body":"${text}","contentType":"text/plain"}}}`;
  await atOnce([page('html', 'one'), page('json', 'two'), page('plain', 'three')]);
  const settings = await run('system settings');
  // Whoever came first stands first.
  for (const text of ['one', 'two', 'three']) expect(settings).toContain(`"${text}"`);
  await run('policy create --name limits');
  const limit = 'rate-limit set --policy limits --path /login';
  expect(await run(`${limit} --requests 5 --window 60`)).toMatch(/^0 /);
  await atOnce(['--requests 9', '--window 90', '--key session'].map((flag) => `${limit} ${flag}`));
  const kept = { requestCount: 9, windowSeconds: 90, countingKey: 'session' };
  await run(`${limit} --enforce`);
  expect(JSON.parse(printed.out)).toMatchObject({ items: [kept] });
});

test('policies, TLS of sites and log policies keep what operators set at the same time', async () => {
  await run('policy create --name raced');
  await atOnce([
    'policy update raced --description mine',
    'policy update raced --blocking self-contained',
    'policy engine raced detection-only',
    'policy update raced --name raced2',
  ]);
  await run('policy get raced2');
  expect(JSON.parse(printed.out)).toMatchObject({
    policy: { description: 'mine', blockingMode: expect.stringContaining('SELF') },
  });
  expect(printed.out).toContain('ENGINE_STATE_DETECTION_ONLY');
  expect(await run('policy update raced2 --description late --revision 1')).toMatch(/^1 .*aborted/);

  expect(await run(site('secured'))).toMatch(/^0 /);
  await atOnce(
    ['--hsts 60', '--min-version 1.3', '--http both'].map((flag) => `site tls secured ${flag}`),
  );
  await run('site get secured');
  expect(JSON.parse(printed.out)).toMatchObject({
    site: { tls: { hstsMaxAgeSeconds: 60, minVersion: 'TLS_VERSION_1_3' } },
  });
  await atOnce(['site disable secured', 'site disable secured', 'site tls secured --hsts 61']);

  const days = ['--access-days 3', '--security-days 31', '--evidence-days 4'];
  await atOnce(days.map((flag) => `log policy-set ${flag}`));
  const kept = await run('log policy');
  for (const number of [3, 31, 4]) expect(kept).toMatch(new RegExp(`Days": ${number}\\b`));
});

test('a change from what somebody else changed since is refused', async () => {
  const made = await waf.call('UpstreamService/CreateUpstream', {
    upstream: { name: 'stale', endpoints: [{ url: origins[0], weight: 1 }] },
  });
  const { id, updatedAt } = made.body['upstream'] as { id: string; updatedAt: string };
  const update = (description: string, expectedUpdatedAt?: string) =>
    waf.call('UpstreamService/UpdateUpstream', {
      upstream: { id, description },
      updateMask: 'description',
      ...(expectedUpdatedAt === undefined ? {} : { expectedUpdatedAt }),
    });
  expect((await update('first', updatedAt)).status).toBe(200);
  const second = await update('second', updatedAt);
  expect([second.body['code'], second.body['message']]).toEqual([
    'aborted',
    'expectedUpdatedAt: it changed since; read it again',
  ]);
  expect((await update('third')).status).toBe(200);
});

test('two operators who add to the same list lose nothing', async () => {
  expect(await run(site('shared'))).toMatch(/^0 /);
  printed = keepPrinted();
  const adding = ['b1', 'b2', 'b3', 'b4', 'b5', 'b6'].map((name) =>
    runCommandLine(commands, [
      ...`site update shared --alias ${name}.test`.split(' '),
      ...['--admin-socket', waf.socket, '--output', 'json'],
    ]),
  );
  expect(await Promise.all(adding)).toEqual([0, 0, 0, 0, 0, 0]);
  const answer = await run('site get shared');
  const { site: kept } = JSON.parse(answer.slice(answer.indexOf('{'))) as {
    site: { aliases: string[] };
  };
  expect(kept.aliases.toSorted()).toEqual(
    ['b1', 'b2', 'b3', 'b4', 'b5', 'b6'].map((name) => `${name}.test`),
  );
  // Who names a revision means it.
  expect(await run('site update shared --alias b7.test --revision 1')).toMatch(/^1 .*aborted/);
});

test('providers of a user add up', async () => {
  await waf.call('UserService/CreateUser', {
    user: { username: 'otto' },
    password: 'a mango on a bicycle',
  });
  expect(await run('user update otto --provider radius')).toMatch(/^0 /);
  const both = await run('user update otto --provider oidc:a');
  expect(both).toContain('"radius"');
  expect(both).toContain('"oidc:a"');
  expect(await run('user update otto --provider radius --remove')).toContain('taken away: radius');
  expect(printed.out).toContain('"oidc:a"');
});

test('roles of a user add up, and what a site changes in its policy stays', async () => {
  await run('role create one --permission site:read');
  await waf.call('UserService/CreateUser', {
    user: { username: 'nora' },
    password: 'a mango on a bicycle',
  });
  expect(await run('user roles nora --role one')).toMatch(/^0 /);
  expect(await run('user roles nora --role Auditor')).toMatch(
    /"one"[^]*"Auditor"|"Auditor"[^]*"one"/,
  );
  expect(await run('user roles nora --role one --remove')).toContain('taken away: one');
  expect(await run(site('own'))).toMatch(/^0 /);
  expect(await run('site override own --paranoia 2 --rationale why')).toMatch(/^0 /);
  const after = await run('site override own --threshold 9');
  expect(after).toMatch(/"blockingParanoiaLevel": 2[^]*9/);
  expect(after).toContain('why');
});

/** Commands whose repeatable flags are no list that a resource has already, and why. */
const noLists: Readonly<Record<string, string>> = {
  apply: 'files',
  diff: 'files',
  'api import': 'places the document',
  'site create': 'creates',
  'upstream create': 'creates',
  'cert upload': 'creates',
  'cert dns-create': 'creates',
  'cert issue': 'creates',
  'cert import': 'creates',
  'agent install': 'creates',
  'agent token': 'creates',
  'agent enroll': 'replaces what the machine takes, with its identity',
  'release apply': 'names nodes of one run',
  'release rollback': 'names nodes of one run',
  'agent-group create': 'creates',
  'agent-group resolve': 'asks',
  'policy update': 'masks',
  'policy test': 'asks',
  explain: 'asks',
  'rule from-template': 'creates',
  'crs rules': 'asks',
  'crs update': 'names policies of one run',
  'ip-list create': 'creates',
  'ip-list subscribe': 'creates',
  'rate-limit set': 'methods say which limit is meant',
  'trust set': 'replaces the whole profile, with a note; set-commands.test.ts',
  'trust test': 'asks',
  'log security': 'asks',
  'log access': 'asks',
  'alert silence': 'creates',
  'alert replay': 'asks',
  'user create': 'creates',
  'role create': 'creates',
  'token create': 'creates',
};

/** Commands whose lists grow, and which other test holds them. */
const heldElsewhere: Readonly<Record<string, string>> = {
  'system settings-set': 'set-commands.test.ts',
  'alert rule-set': 'alert-commands.test.ts',
  'agent update': 'agent-update.test.ts',
  'bot verifier-set': 'bot-verifier-commands.test.ts',
};

test('every command with a list flag is known here', () => {
  const tabled = new Set(Object.keys(rows).map((name) => name.replace(/ --.*$/, '')));
  const listing = commands.filter(({ flags = [] }) => flags.some(({ repeatable }) => repeatable));
  const names = listing.map(({ path }) => path.join(' '));
  const grows = listing
    .filter(({ flags = [] }) => flags.some((flag) => flag.flags === '--replace'))
    .map(({ path }) => path.join(' '));
  const held = [...tabled, ...Object.keys(heldElsewhere)];
  expect(grows.filter((name) => !held.includes(name))).toEqual([]);
  const known = [...grows, ...Object.keys(noLists)];
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
  expect(Object.keys(noLists).filter((name) => !names.includes(name))).toEqual([]);
});
