/**
 * Random changes of a policy: PreviewSecLang shows each, TestPolicy says before it is served what
 * live traffic does afterwards. WAF_AGREE_CHANGES says how many (4), WAF_AGREE_SEED which.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { corpusRoot, readCorpus } from '../seclang/corpus.ts';
import { compileAlone } from '../support/databases.ts';
import { missingBuild } from '../support/product.ts';
import { describeCase, type CorpusRequest, type DescribedCase } from './described-case.ts';
import { differences, startLiveWaf, type LiveWaf, type Outcome } from './live-waf.ts';
import { drawChange, startDice, type ChangeContext, type RandomChange } from './random-changes.ts';
import { packFolder } from '../../control/publish/rulesets/ruleset-pack.ts';
import { draws } from '../support/soak.ts';

const wanted = draws(4, 60, 'WAF_AGREE_CHANGES');
const seed = Number(process.env['WAF_AGREE_SEED'] ?? 20_261_121);
const crs4Folder = path.join(corpusRoot, 'crs', '4.28.0');
const timeoutMs = 30 * 60_000;
/** Requests that are compared for each change, beside the one that it is about. */
const othersEach = 4;
const samples = 60;

const missing = missingBuild ?? (existsSync(crs4Folder) ? null : 'skipped: no corpus');
if (missing !== null) console.log(missing);

describe.skipIf(missing !== null)('a change of a policy', () => {
  let waf: LiveWaf;
  let siteId = '';
  let crsRulesetId = '';

  beforeAll(async () => {
    waf = await startLiveWaf();
    const archive = packFolder(crs4Folder).toString('base64');
    const imported = await waf.ask('SystemService/ImportCrsRuleset', { archive });
    crsRulesetId = (imported['ruleset'] as { id: string }).id;
    const site = {
      name: 'agree',
      primaryHost: 'localhost',
      upstreams: [{ inline: { url: waf.originUrl, weight: 1 } }],
      waf: { enabled: true, mode: 'WAF_MODE_BLOCKING', policyId: 'policy-light' },
      status: 'RESOURCE_STATUS_ACTIVE',
    };
    const created = await waf.ask('SiteService/CreateSite', { site });
    siteId = (created['site'] as { id: string }).id;
  }, timeoutMs);
  afterAll(() => waf?.close(), timeoutMs);

  test(`is shown, foretold and served alike (seed ${seed})`, { timeout: timeoutMs }, async () => {
    const dice = startDice(seed);
    const cases = corpusCases();
    const problems: string[] = [];
    const seen = { effects: 0, compared: 0 };
    const matches = await compileAlone('template-standard CRS 4.28.0', () =>
      matchesOf(waf, cases, crsRulesetId),
    );
    for (let number = 0; number < wanted; number++) {
      const made = await newPolicy(waf, number, crsRulesetId);
      const context: ChangeContext = { dice, siteId, matches, number, ...made };
      const change = drawChange(context);
      const requests = [change.request];
      for (let at = 0; at < othersEach; at++) requests.push(dice.pick(cases));
      const found = await tryChange(waf, context, change, requests);
      seen.compared += requests.length;
      if (found.effect) seen.effects++;
      problems.push(...found.problems.map((text) => `#${number} ${change.name}: ${text}`));
    }
    console.log(
      `${wanted} changes, seed ${seed}: ${seen.effects} changed what happens to their request, ` +
        `${seen.compared} requests compared, ${problems.length} problems`,
    );
    expect(problems).toEqual([]);
    expect(seen.effects).toBeGreaterThan(0);
  });
});

/** One change: previewed, tested unserved, served, sent. */
async function tryChange(
  waf: LiveWaf,
  context: ChangeContext,
  change: RandomChange,
  requests: readonly DescribedCase[],
): Promise<{ effect: boolean; problems: string[] }> {
  const { policyId, siteId } = context;
  const problems: string[] = [];
  // The site's own changes belong to a policy that the site uses: test as any site without it.
  const forSite = change.name.includes('site');
  const before = await waf.test(change.request, policyId);
  if (forSite) await serve(waf, siteId, policyId);
  const make = (): Promise<unknown> => waf.ask(change.rpc, change.body);
  await (forSite ? waf.serve(make) : make());
  const preview = await waf.ask('PolicyService/PreviewSecLang', {
    policyId,
    ...(forSite ? { siteId } : {}),
  });
  for (const text of change.shows) {
    if (!String(preview['seclang']).includes(text)) problems.push(`the preview lacks ${text}`);
  }
  const foretold: Outcome[] = [];
  for (const one of requests) foretold.push(await waf.test(one, policyId));
  if (!forSite) await serve(waf, siteId, policyId);
  for (const [at, one] of requests.entries()) {
    const live = await waf.send(one);
    const served = await waf.test(one, policyId, siteId);
    const expected = forSite ? served : foretold[at];
    if (expected === undefined) continue;
    problems.push(...differences(live, expected).map((text) => `${one.title}: ${text}`));
    problems.push(...differences(live, served).map((text) => `${one.title} (site): ${text}`));
  }
  const after = await waf.test(change.request, policyId, siteId);
  await waf.ask('SiteService/DeleteSitePolicyOverride', { siteId });
  return { effect: differences(before, after).length > 0, problems };
}

function corpusCases(): DescribedCase[] {
  return (readCorpus<CorpusRequest>('crs4-regression.jsonl') ?? [])
    .map(describeCase)
    .filter((one) => typeof one !== 'string')
    .filter(({ host }) => host === 'localhost');
}

/** Rules of the Standard policy that samples of the corpus make match. */
async function matchesOf(
  waf: LiveWaf,
  cases: readonly DescribedCase[],
  crsRulesetId: string,
): Promise<ChangeContext['matches']> {
  const { policyId } = await newPolicy(waf, -1, crsRulesetId);
  const found = new Map<number, DescribedCase>();
  const step = Math.max(1, Math.floor(cases.length / samples));
  for (let at = 0; at < cases.length; at += step) {
    const request = cases[at];
    if (request === undefined) continue;
    const { rules } = await waf.test(request, policyId);
    for (const rule of rules) {
      const id = Number.parseInt(rule, 10);
      if (id >= 911_000 && id < 949_000 && !found.has(id)) found.set(id, request);
    }
  }
  return [...found].map(([ruleId, request]) => ({ ruleId, request }));
}

async function newPolicy(
  waf: LiveWaf,
  number: number,
  crsRulesetId: string,
): Promise<{ policyId: string; revision: string }> {
  const name = `changed ${number}`;
  const from = { templateId: 'template-standard', name };
  const made = await waf.ask('PolicyService/CreatePolicyFromTemplate', from);
  const { id: policyId, revision } = made['policy'] as { id: string; revision: string };
  const move = { policyId, revision, crsRulesetId };
  const moved = await waf.ask('PolicyService/SetActiveCrsRuleset', move);
  return { policyId, revision: (moved['policy'] as { revision: string }).revision };
}

async function serve(waf: LiveWaf, id: string, policyId: string): Promise<void> {
  await waf.serve(async () => {
    const { site } = await waf.ask('SiteService/GetSite', { id });
    const { revision } = site as { revision: string };
    const change = { id, waf: { enabled: true, mode: 'WAF_MODE_BLOCKING', policyId } };
    await waf.ask('SiteService/UpdateSite', { site: change, revision, updateMask: 'waf' });
  });
}
