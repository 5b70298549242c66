/**
 * Walks engine state, decision, sampling, level of reports and both modes of the log policy with
 * traffic, every pair of values under the built-in ruleset or CRS 4: each request is answered as
 * the policy says, and its events are kept or not as the log policy says.
 */

import { existsSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import { packFolder } from '../../control/publish/rulesets/ruleset-pack.ts';
import { corpusRoot } from '../seclang/corpus.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild } from '../support/product.ts';
import { startLiveWaf, type LiveWaf } from './live-waf.ts';
import {
  combinations,
  missingPairs,
  modes,
  settings,
  walkedSites,
  type Combination,
  type WalkedSite,
} from './settings-walk-table.ts';

const crs4Folder = path.join(corpusRoot, 'crs', '4.28.0');
const timeoutMs = 30 * 60_000;
const attack = '/?id=1%27%20or%20%271%27=%271';
const clean = '/?id=hello';
/** More than one, so that sampling of one half shows both halves, and less than ten examples. */
const attacksOfSite = 4;

const missing = missingBuild ?? (existsSync(crs4Folder) ? null : 'skipped: no corpus');
if (missing !== null) console.log(missing);

/** A request that was sent, and the ids of its events. */
interface Sent {
  readonly target: string;
  readonly status: number;
  readonly id: string;
}

function send(port: number, host: string, target: string): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'user-agent': 'Mozilla/5.0', accept: '*/*' };
    const asked = request({ port, path: target, headers, agent: false }, (response) => {
      const id = String(response.headers['x-request-id']);
      const status = response.statusCode ?? 0;
      response.resume().on('end', () => resolve({ target, status, id }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** What one combination asks for: names of its resources, and the policy. */
function policyOf(one: Combination, at: number, crsRulesetId: string): object {
  const light = builtInTemplates.find(({ name }) => name === 'Light')!;
  return {
    name: `walk ${at}`,
    ...(one.ruleset === 'CRS 4.28.0' && { crsRulesetId }),
    engineState: `ENGINE_STATE_${one.engine}`,
    blockingMode: light.blockingMode,
    crsCore: {
      ...light.crsCore,
      decision: `DECISION_${one.decision}`,
      samplingPercentage: one.sampling,
      reportingLevel: one.reporting,
    },
    httpPolicy: light.httpPolicy,
    argLimits: light.argLimits,
  };
}

interface Event {
  readonly uniqueId: string;
  readonly detailAvailable?: boolean;
}

type Made = { readonly id: string };

async function makePolicy(waf: LiveWaf, one: Combination, at: number, ruleset: string) {
  const made = await waf.ask('PolicyService/CreatePolicy', { policy: policyOf(one, at, ruleset) });
  return (made['policy'] as Made).id;
}

async function makeSite(waf: LiveWaf, one: WalkedSite, at: number, policyId: string) {
  const site = {
    name: `walk ${at}`,
    primaryHost: `s${at}.test`,
    upstreams: [{ inline: { url: waf.originUrl, weight: 1 } }],
    waf: { enabled: true, mode: 'WAF_MODE_BLOCKING', policyId },
    status: 'RESOURCE_STATUS_ACTIVE',
  };
  const { id: siteId } = (await waf.ask('SiteService/CreateSite', { site }))['site'] as Made;
  const override = {
    siteId,
    accessMode: `LOG_DETAIL_MODE_${one.access}`,
    securityMode: `LOG_DETAIL_MODE_${one.security}`,
    evidencePairing: false,
  };
  const asked = { override, acknowledgeStorageRisk: true };
  await waf.ask('LogService/UpsertSiteLogPolicyOverride', asked);
  return siteId;
}

/** Whether a request leads to a security event; null where its lot decides. */
function isSecure(one: Combination, { target, status }: Sent): boolean | null {
  const { engine, sampling, reporting } = one;
  if (status === 403) return true;
  if (engine === 'OFF' || sampling === 0) return false;
  if (target === attack || reporting === 5) return true;
  // A request that is left out has a note.
  return sampling === 100 ? false : null;
}

/** What is wrong with the answers of a site. */
function wrongAnswers({ engine, sampling }: Combination, sent: readonly Sent[]): string[] {
  return sent.flatMap(({ target, status }) => {
    const refuses = engine === 'ON' && target === attack;
    const allowed = !refuses || sampling === 0 ? [200] : sampling === 100 ? [403] : [200, 403];
    return allowed.includes(status) ? [] : [`${target} ${status}`];
  });
}

/** Whether the events are there that a site has to have. */
async function hasCome(waf: LiveWaf, siteId: string, at: number, sent: readonly Sent[]) {
  const one = walkedSites[at]!;
  const outcome = 'SECURITY_EVENT_OUTCOME_ANY';
  const { items: facts = [] } = await waf.ask('LogService/QuerySecurityEvents', {
    ...{ siteId, outcome },
  });
  const { items: access = [] } = await waf.ask('LogService/QueryAccessEvents', { siteId });
  const isIn = (found: unknown, { id }: Sent): boolean =>
    (found as readonly Event[]).some(({ uniqueId }) => uniqueId === id);
  const secure = sent.filter((answer) => isSecure(one, answer) === true);
  return (
    secure.every((answer) => isIn(facts, answer)) &&
    (one.access === 'NONE' || sent.every((answer) => isIn(access, answer)))
  );
}

describe.skipIf(missing !== null)('settings', () => {
  let waf: LiveWaf;
  const sites: string[] = [];
  const sent: Sent[][] = [];

  beforeAll(async () => {
    waf = await startLiveWaf();
    await waf.serve(async () => {
      const archive = packFolder(crs4Folder).toString('base64');
      const imported = await waf.ask('SystemService/ImportCrsRuleset', { archive });
      const { id } = imported['ruleset'] as Made;
      // Each answer waits for a publication, which those that are asked together share.
      const policies = await Promise.all(
        combinations.map((one, at) => makePolicy(waf, one, at, id)),
      );
      const made = walkedSites.map((one, at) => makeSite(waf, one, at, policies[one.policy]!));
      sites.push(...(await Promise.all(made)));
    });
    for (const at of walkedSites.keys()) {
      const targets = [clean, ...Array<string>(attacksOfSite).fill(attack), clean];
      const answers: Sent[] = [];
      for (const target of targets) answers.push(await send(waf.port, `s${at}.test`, target));
      sent.push(answers);
    }
    // One thread hands events on in order: what is not there once the last is, does not come.
    const last = walkedSites.findLastIndex(({ access }) => access === 'ALL');
    const marker = await send(waf.port, `s${last}.test`, '/marker');
    await eventually(async () => {
      const { items = [] } = await waf.ask('LogService/QueryAccessEvents', {
        uniqueId: marker.id,
      });
      return (items as unknown[]).length > 0;
    });
    // Each kind of event comes on a stream of its own; the tests say what did not come.
    const all = [...walkedSites.keys()];
    await eventually(async () => {
      const came = await Promise.all(all.map((at) => hasCome(waf, sites[at]!, at, sent[at]!)));
      return came.every(Boolean);
    }).catch(() => undefined);
  }, timeoutMs);
  afterAll(() => waf?.close(), timeoutMs);

  test('each pair of values is walked', () => {
    const all = { ...settings, access: modes, security: modes };
    expect(missingPairs(all, walkedSites)).toEqual([]);
    expect(missingPairs(settings, combinations.slice(1)).length).toBeGreaterThan(0);
  });

  const titled = walkedSites.map((one, at) => [Object.values(one).join(', '), one, at] as const);

  test.each(titled)('%s: is answered as the policy says', (_, one, at) => {
    expect(sent[at]).toHaveLength(attacksOfSite + 2);
    expect(wrongAnswers(one, sent[at]!)).toEqual([]);
  });

  test.each(titled)('%s: events are kept as the log policy says', async (_, one, at) => {
    const idsIn = (found: readonly Event[]): Sent[] =>
      sent[at]!.filter(({ id }) => found.some(({ uniqueId }) => uniqueId === id));
    const { items: facts = [] } = await waf.ask('LogService/QuerySecurityEvents', {
      siteId: sites[at],
      outcome: 'SECURITY_EVENT_OUTCOME_ANY',
    });
    const secure = idsIn(facts as Event[]);
    const expected = sent[at]!.filter((answer) => isSecure(one, answer) ?? secure.includes(answer));
    expect(secure).toEqual(expected);
    // Of a fact without detail only the rules are kept, not what they found.
    const detailed = new Set((facts as Event[]).map((fact) => fact.detailAvailable === true));
    if (detailed.size > 0) expect([...detailed]).toEqual([one.security !== 'NONE']);
    const { items: access = [] } = await waf.ask('LogService/QueryAccessEvents', {
      siteId: sites[at],
    });
    const kept = idsIn(access as Event[]);
    expect(kept).toEqual(one.access === 'NONE' ? [] : sent[at]);
  });
});
