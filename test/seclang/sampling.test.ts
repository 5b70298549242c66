/**
 * `samplingPercentage` under both versions of CRS: the share of requests that is inspected, one lot
 * a request for all its phases, and a rule reports what is left out.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import {
  builtInCrsFolder,
  readRulesetFolder,
} from '../../control/publish/rulesets/ruleset-folder.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { headFrom } from '../../engine/rules/load/test-sample.ts';
import { makeConnection } from '../../engine/rules/oracle/conformance/exchange.ts';
import { policyAlone, simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { builtPolicy } from '../support/built-policy.ts';
import { corpusRoot } from './corpus.ts';

const crs4Folder = path.join(corpusRoot, 'crs', '4.28.0');
const rulesets = [builtInCrsFolder, crs4Folder].filter((folder) => existsSync(folder));
const requests = 400;
/** The rule that leaves a request out: that of CRS 4, and ours under CRS 3. */
const leftOutRules = [901_450, 199_205];

async function engineOf(
  folder: string,
  samplingPercentage: number,
  name = 'Standard',
): Promise<PolicyEngine> {
  const template = builtInTemplates.find((one) => one.name === name)!;
  const policy = { ...template, crsCore: { ...template.crsCore, samplingPercentage } };
  const { version, includes, files } = readRulesetFolder(folder);
  const { seclang } = renderPolicy(policy, { version, includes });
  const texts = new Map(files.map((file) => [file.path, file.content]));
  const source = { id: 's', name: 's', revision: '1', seclangEntry: seclang, files: texts };
  return builtPolicy(source, `sampling ${version}`);
}

/** The attack stands in the body: phase 1 draws the lot, phase 2 goes by it. */
function send(engine: PolicyEngine, requestId: string, receivedAtMs: number, ...more: string[]) {
  return sendForm(engine, attack, requestId, receivedAtMs, ...more);
}

const attack = 'a=%3Cscript%3Ealert(1)%3C/script%3E';

function sendForm(
  engine: PolicyEngine,
  form: string,
  requestId: string,
  receivedAtMs: number,
  ...more: string[]
) {
  const body = Buffer.from(form);
  const lines = [
    ...['POST / HTTP/1.1', 'Host: a.example', 'User-Agent: M', 'Accept: */*', ...more],
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
  ];
  const snapshot = {
    ...{ requestId, receivedAtMs, siteId: 's' },
    connection: makeConnection(),
    head: headFrom(lines.join('\r\n')),
  };
  const { status, record } = simulateRequest(policyAlone(engine), { snapshot, body });
  return { status, rules: record!.matchedRules.map(({ ruleId }) => ruleId) };
}

test.each(rulesets)('%s', { timeout: 600_000 }, async (folder) => {
  for (const share of [1, 30, 99]) {
    const engine = await engineOf(folder, share);
    let inspected = 0;
    for (let at = 0; at < requests; at++) {
      const { status, rules } = send(engine, `request-${at}`, at);
      if (status === 403) inspected++;
      expect(leftOutRules.some((rule) => rules.includes(rule))).toBe(status === 0);
      expect(send(engine, `request-${at}`, at).status).toBe(status);
    }
    // The ids are the same each time, so this is no matter of luck.
    expect(Math.abs((100 * inspected) / requests - share)).toBeLessThan(6);
    engine.retire();
  }
});

/** Each is refused by what the product has beside a ruleset, whatever the ruleset finds in it. */
const besideRuleset = [
  ['the score', attack],
  ['letters of full width', 'a=1%EF%BC%87%20or%20%EF%BC%871%EF%BC%87%3D%EF%BC%871'],
  ['passwords', "password=1' or '1'='1"],
] as const;

test.each(rulesets)(
  '%s: what is left out is not refused by the score either',
  { timeout: 600_000 },
  async (folder) => {
    const all = await engineOf(folder, 100, 'Light');
    const half = await engineOf(folder, 50, 'Light');
    for (const [, form] of besideRuleset) {
      expect(sendForm(all, form, 'request', 0).status).toBe(403);
      const answers = Array.from({ length: 100 }, (_, at) =>
        sendForm(half, form, `request-${at}`, at),
      );
      const leftOut = answers.filter(({ rules }) => leftOutRules.some((id) => rules.includes(id)));
      expect(leftOut.length).toBeGreaterThan(30);
      expect(leftOut.length).toBeLessThan(70);
      expect(leftOut.filter(({ status, rules }) => status !== 0 || rules.length > 1)).toEqual([]);
      expect(answers.filter(({ status }) => status === 403)).toHaveLength(100 - leftOut.length);
    }
    all.retire();
    half.retire();
  },
);

test.each(rulesets)('%s: no client chooses its lot', { timeout: 600_000 }, async (folder) => {
  const engine = await engineOf(folder, 50);
  const chosen = 'chosen-by-the-client';
  const statuses = Array.from({ length: 50 }, (_, at) => {
    return send(engine, chosen, at, `X-Request-Id: ${chosen}`).status;
  });
  expect(new Set(statuses)).toEqual(new Set([0, 403]));
  engine.retire();
});

test('a policy without a ruleset says that nothing is sampled', () => {
  const policy = (samplingPercentage: number) => ({ crsCore: { samplingPercentage } });
  const warned = (share: number): boolean =>
    renderPolicy(policy(share), null).warnings.some((text) => text.includes('samplingPercentage'));
  expect([1, 99].map(warned)).toEqual([true, true]);
  expect([0, 100].map(warned)).toEqual([false, false]);
});
