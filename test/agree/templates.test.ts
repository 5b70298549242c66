/**
 * TestPolicy and live traffic agree on the requests of the corpora: matched rules, score, verdict,
 * under each built-in template and each ruleset. WAF_AGREE_REQUESTS says how many (60).
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packFolder } from '../../control/publish/rulesets/ruleset-pack.ts';
import { corpusRoot, readCorpus } from '../seclang/corpus.ts';
import { compileAlone } from '../support/databases.ts';
import { missingBuild } from '../support/product.ts';
import { describeCase, type CorpusRequest, type DescribedCase } from './described-case.ts';
import { differences, startLiveWaf, type LiveWaf } from './live-waf.ts';
import { draws } from '../support/soak.ts';

const wanted = draws(60, 600, 'WAF_AGREE_REQUESTS');
const crs4Folder = path.join(corpusRoot, 'crs', '4.28.0');
const templates = ['template-light', 'template-standard', 'template-strict'];
const suites = [
  { name: 'CRS 3.3.4', corpus: 'crs334-regression.jsonl', folder: '' },
  { name: 'CRS 4.28.0', corpus: 'crs4-regression.jsonl', folder: crs4Folder },
];
const reportedMax = 10;
const timeoutMs = 30 * 60_000;

const missing = missingBuild ?? (existsSync(crs4Folder) ? null : 'skipped: no corpus');
if (missing !== null) console.log(missing);

describe.skipIf(missing !== null)('TestPolicy and live traffic', () => {
  let waf: LiveWaf;
  let siteId = '';

  beforeAll(async () => {
    waf = await startLiveWaf();
    const aliases = suites.flatMap(({ corpus }) => casesOf(corpus).chosen.map(({ host }) => host));
    const site = {
      name: 'agree',
      primaryHost: 'localhost',
      aliases: [...new Set(aliases)].filter((host) => host !== 'localhost'),
      upstreams: [{ inline: { url: waf.originUrl, weight: 1 } }],
      waf: { enabled: true, mode: 'WAF_MODE_BLOCKING', policyId: 'policy-light' },
      status: 'RESOURCE_STATUS_ACTIVE',
    };
    const created = await waf.ask('SiteService/CreateSite', { site });
    siteId = (created['site'] as { id: string }).id;
  }, timeoutMs);
  afterAll(() => waf?.close(), timeoutMs);

  for (const { name, corpus, folder } of suites) {
    for (const template of templates) {
      test(`${name}, ${template}`, { timeout: timeoutMs }, async () => {
        const policyId = await policyOn(waf, template, folder);
        await compileAlone(`${template} ${name}`, () => serve(waf, siteId, policyId));
        const { chosen, left } = casesOf(corpus);
        const problems: string[] = [];
        const counts = { blocked: 0, matched: 0 };
        for (const one of chosen) {
          const live = await waf.send(one);
          const tested = await waf.test(one, policyId, siteId);
          if (live.blocked) counts.blocked++;
          if (live.rules.length > 0) counts.matched++;
          const found = differences(live, tested);
          if (found.length > 0) problems.push(`${one.title}: ${found.join('; ')}`);
        }
        console.log(
          `${name}, ${template}: ${chosen.length} requests, ${counts.matched} with matches, ` +
            `${counts.blocked} blocked, ${problems.length} differ; not describable: ${left}`,
        );
        expect(chosen.length).toBeGreaterThan(Math.min(wanted, 50) - 1);
        expect(counts.blocked).toBeGreaterThan(0);
        expect(counts.blocked).toBeLessThan(chosen.length);
        expect(problems.slice(0, reportedMax)).toEqual([]);
      });
    }
  }
});

const known = new Map<string, { chosen: DescribedCase[]; left: number }>();

/** Evenly spread over the corpus, so that every family is there. */
function casesOf(corpus: string): { chosen: DescribedCase[]; left: number } {
  const before = known.get(corpus);
  if (before !== undefined) return before;
  const all = (readCorpus<CorpusRequest>(corpus) ?? []).map(describeCase);
  const cases = all.filter((one) => typeof one !== 'string');
  const step = Math.max(1, cases.length / wanted);
  const chosen: DescribedCase[] = [];
  for (let at = 0; at < cases.length && chosen.length < wanted; at += step) {
    const one = cases[Math.floor(at)];
    if (one !== undefined) chosen.push(one);
  }
  const found = { chosen, left: all.length - cases.length };
  known.set(corpus, found);
  return found;
}

async function policyOn(waf: LiveWaf, templateId: string, folder: string): Promise<string> {
  const name = `${templateId} on ${folder === '' ? 'vendor' : path.basename(folder)}`;
  const made = await waf.ask('PolicyService/CreatePolicyFromTemplate', { templateId, name });
  const { id: policyId, revision } = made['policy'] as { id: string; revision: string };
  if (folder === '') return policyId;
  const archive = packFolder(folder).toString('base64');
  const imported = await waf.ask('SystemService/ImportCrsRuleset', { archive });
  const crsRulesetId = (imported['ruleset'] as { id: string }).id;
  await waf.ask('PolicyService/SetActiveCrsRuleset', { policyId, revision, crsRulesetId });
  return policyId;
}

async function serve(waf: LiveWaf, id: string, policyId: string): Promise<void> {
  await waf.serve(async () => {
    const { site } = await waf.ask('SiteService/GetSite', { id });
    const { revision } = site as { revision: string };
    const change = { id, waf: { enabled: true, mode: 'WAF_MODE_BLOCKING', policyId } };
    await waf.ask('SiteService/UpdateSite', { site: change, revision, updateMask: 'waf' });
  });
}
