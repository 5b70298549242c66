/**
 * Makes a store of many policies of one ruleset that differ in settings, overrides, exclusions and
 * custom rules, in the compiled product, and prints how long the first policy takes from an empty
 * cache, what the engine weighs after a start and after traffic to every policy, and how long each
 * kind of change takes to serve. A figure for people; it asserts nothing.
 *
 *   node test/scale/policies.mjs [--policies 100] [--workers 2] [--changes 10] [--requests 200]
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { childOf, documentOf, megabytes, print, Product, quantiles, until } from './product.mjs';

const { values } = parseArgs({
  options: {
    policies: { type: 'string', default: '100' },
    workers: { type: 'string', default: '2' },
    changes: { type: 'string', default: '10' },
    requests: { type: 'string', default: '200' },
    settle: { type: 'string', default: '20' },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
    maps: { type: 'boolean', default: false },
  },
});
const count = Number(values.policies);
const changes = Number(values.changes);
const requests = Number(values.requests);
const settleMs = Number(values.settle) * 1000;
const connections = 8;

const data = mkdtempSync(join(tmpdir(), 'waf-policies-'));
const { build, workers } = values;
const product = new Product({ build, data, workers, quiet: true, flags: ['--no-demo'] });
const attack = '/?id=1%27%20OR%20%271%27=%271%20UNION%20SELECT%20password%20FROM%20users--';
const rulesOf942 = ['942100', '942110', '942130', '942150', '942170', '942180', '942190', '942230'];

const nameOf = (at) => `policy-${at}`;
const hostOf = (at) => `site-${at}.example`;

/** Policies that differ in everything that people change. */
function policy(at) {
  const disabled = { crsRuleId: rulesOf942[at % 8], actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE' };
  const excluded = {
    crsRuleId: `9411${['10', '30', '40', '60', '70', '80'][at % 6]}`,
    actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT',
    removedTargets: [`ARGS:text${at}`],
  };
  const seclang = `SecRule ARGS:own "@contains secret-${at}" "id:10500,phase:2,deny,status:403"`;
  return documentOf('Policy', nameOf(at), {
    crsRulesetRef: 'default',
    crsCore: {
      blockingParanoiaLevel: 1,
      detectionParanoiaLevel: 1,
      inboundAnomalyScoreThreshold: 3 + (at % 3),
      outboundAnomalyScoreThreshold: 4,
    },
    argLimits: { maxNumArgs: 100 + at },
    ruleOverrides: at % 4 === 1 ? [disabled] : at % 4 === 2 ? [excluded] : [],
    customRules: at % 4 === 3 ? [{ name: `own ${at}`, ruleId: '10500', seclang }] : [],
  });
}

const site = (at) =>
  documentOf('Site', `site-${at}`, {
    primaryHost: hostOf(at),
    upstreamRef: 'origin',
    policyRef: nameOf(at),
  });

const answers = (at, path, status) => async () =>
  (await product.through(hostOf(at), path)).status === status;

async function measureFirst(origin) {
  await product.start();
  const pool = { endpoints: [{ url: `http://127.0.0.1:${origin}` }] };
  await product.apply([documentOf('Upstream', 'origin', pool)], 1);
  await product.caughtUp();
  const began = performance.now();
  await product.apply([policy(0), site(0)], 2);
  await until(answers(0, attack, 403));
  print('first policy, empty cache, applied', seconds(performance.now() - began));
}

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

function weigh(what) {
  const { engine } = product.weigh();
  print(what, `engine ${megabytes(engine)}`);
  if (values.maps) printMaps();
}

/** What the resident pages of the engine belong to. */
function printMaps() {
  const pid = childOf(product.child.pid, 'engine/main.js');
  const totals = new Map();
  let name = '';
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const head = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+ *(.*)$/.exec(line);
    if (head) name = head[1] === '' ? 'anonymous' : head[1];
    const rss = /^Rss:\s+(\d+)/.exec(line);
    if (rss) totals.set(name, (totals.get(name) ?? 0) + Number(rss[1]));
  }
  const largest = [...totals].sort((left, right) => right[1] - left[1]).slice(0, 8);
  for (const [one, kilobytes] of largest) print(`  ${one}`, `${(kilobytes / 1024).toFixed(0)} MB`);
}

/** Plain requests, forms and attacks to every policy, over connections to every front thread. */
async function sendTraffic() {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const text = (at, one) => `order ${at} of ${one} from the shop, please call before noon`;
  const work = Array.from({ length: connections }, async (_, lane) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let one = lane; one < requests; one += connections) {
      for (let at = 0; at < count; at++) {
        const host = hostOf(at);
        const kind = one % 4;
        const options = { agent, method: kind === 1 ? 'POST' : 'GET' };
        if (kind === 1) {
          const body = `name=user${one}&comment=${encodeURIComponent(text(at, one))}`;
          await product.through(host, '/form', { ...options, headers: form }, body);
        } else if (kind === 3) await product.through(host, `${attack}${one}`, options);
        else await product.through(host, `/page/${one}?q=word${one}&lang=en`, options);
      }
    }
    agent.destroy();
  });
  await Promise.all(work);
}

/** Each kind of change, until traffic shows it. */
const kinds = {
  setting: async (at) => {
    const { policy: before } = await product.call('PolicyService/GetPolicy', { id: nameOf(at) });
    return {
      make: () =>
        product.call('PolicyService/UpdatePolicy', {
          policy: { ...before, argLimits: { maxNumArgs: 3 } },
          revision: before.revision,
          updateMask: 'argLimits',
        }),
      shown: answers(at, '/?a=1&b=2&c=3&d=4&e=5', 413),
    };
  },
  override: (at) => override(at, { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE' }),
  exclusion: (at) =>
    override(at, {
      actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT',
      removedTargets: ['REQUEST_HEADERS:User-Agent'],
    }),
  'custom rule': async (at) => ({
    make: () =>
      product.call('CustomRuleService/CreateCustomRule', {
        rule: {
          policyId: nameOf(at),
          ruleId: '10600',
          name: 'new',
          enabled: true,
          seclang: `SecRule ARGS "@rx new[a-z]+word${at}" "id:10600,phase:2,deny,status:403"`,
        },
      }),
    shown: answers(at, `/?q=newerword${at}`, 403),
  }),
};

/** A scanner's name is refused by rule 913100 alone. */
async function override(at, change) {
  const path = '/';
  const options = { headers: { 'user-agent': 'sqlmap/1.0' } };
  const status = async () => (await product.through(hostOf(at), path, options)).status;
  await until(async () => (await status()) === 403);
  return {
    make: () =>
      product.call('RuleOverrideService/UpsertRuleOverride', {
        override: { policyId: nameOf(at), crsRuleId: '913100', ...change },
      }),
    shown: async () => (await status()) === 200,
  };
}

async function measureChanges() {
  let at = 0;
  for (const [kind, prepare] of Object.entries(kinds)) {
    const times = [];
    for (let one = 0; one < changes; one++, at = (at + 1) % count) {
      const { make, shown } = await prepare(at);
      await product.caughtUp();
      const began = performance.now();
      await make();
      await until(shown);
      times.push(performance.now() - began);
    }
    print(`change of one ${kind} until it serves`, quantiles(times));
  }
}

async function measure(origin) {
  await measureFirst(origin);
  const began = performance.now();
  await product.apply(
    Array.from({ length: count }, (_, at) => policy(at)),
    10,
  );
  await product.apply(
    Array.from({ length: count }, (_, at) => site(at)),
    count,
  );
  await product.caughtUp();
  print(`${count} policies made and serving`, seconds(performance.now() - began));
  await product.stop();
  await product.start();
  await product.caughtUp();
  print('start until all serve', seconds(performance.now() - product.startedMs));
  await sleep(settleMs);
  weigh('after the start');
  await sendTraffic();
  weigh('after traffic');
  await sleep(settleMs);
  weigh(`${values.settle} s later`);
  await measureChanges();
  await sleep(settleMs);
  weigh('after the changes');
  await product.stop();
}

const origin = createServer((_request, response) => response.end('from the origin'));
await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
try {
  await measure(origin.address().port);
} finally {
  origin.close();
  product.close();
  product.child?.kill('SIGTERM');
  rmSync(data, { recursive: true, force: true });
}
