/**
 * Settings do what they say: every row of the table under CRS 4.28, and with WAF_AGREE_FULL=1 under
 * CRS 3.3.4, too.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import { packFolder } from '../../control/publish/rulesets/ruleset-pack.ts';
import { corpusRoot } from '../seclang/corpus.ts';
import { missingBuild } from '../support/product.ts';
import type { Expected, RowCall, RowRequest } from './effect-row.ts';
import { effectRows } from './effects-table.ts';
import { startLiveWaf, type LiveWaf } from './live-waf.ts';

const crs4Folder = path.join(corpusRoot, 'crs', '4.28.0');
const timeoutMs = 10 * 60_000;
const full = process.env['WAF_AGREE_FULL'] === '1';
const missing = missingBuild ?? (existsSync(crs4Folder) ? null : 'skipped: no corpus');
if (missing !== null) console.log(missing);

const standard = builtInTemplates.find(({ name }) => name === 'Standard')!;
/** What any client sends. */
const usualHeaders = { Host: 'localhost', 'User-Agent': 'agree', Accept: '*/*' };

describe.skipIf(missing !== null)('settings', () => {
  let waf: LiveWaf;
  let imported = '';
  let ran = 0;
  let wanted = 0;

  beforeAll(async () => {
    waf = await startLiveWaf();
    const archive = packFolder(crs4Folder).toString('base64');
    const answer = await waf.ask('SystemService/ImportCrsRuleset', { archive });
    imported = (answer['ruleset'] as { id: string }).id;
  }, timeoutMs);
  afterAll(async () => {
    await waf?.close();
    console.log(`${ran} of ${wanted} rows ran`);
  }, timeoutMs);

  for (const name of ['CRS 3.3.4', 'CRS 4.28.0']) {
    const fitting = effectRows.filter((row) => row.only === name || (full && !row.only));
    const rows =
      name === 'CRS 4.28.0' ? effectRows.filter((row) => row.only !== 'CRS 3.3.4') : fitting;
    wanted += rows.length;
    describe(name, () => {
      test.each(rows.map((row) => [row.name, row] as const))(
        '%s',
        { timeout: timeoutMs },
        async (title, row) => {
          const policyId = await newPolicy(waf, `${name} ${title}`, name, imported);
          const say = async (request: RowRequest): Promise<Seen> => tryIt(waf, policyId, request);
          expect(faultsOf(await say(row.request), row.before), 'before').toEqual([]);
          for (const call of row.changes) await apply(waf, policyId, call);
          expect(faultsOf(await say(row.request), row.after), 'after').toEqual([]);
          if (row.other !== undefined) {
            const seen = await say(row.other);
            expect(faultsOf(seen, row.other.expected), 'the other request').toEqual([]);
          }
          ran++;
        },
      );
    });
  }
});

interface Seen {
  readonly status: number;
  readonly score: number;
  readonly rules: readonly number[];
}

/** What an answer lacks of what is expected. */
function faultsOf(
  seen: Seen,
  { status, score, with: must = [], without = [] }: Expected,
): string[] {
  const missing = must.filter((rule) => !seen.rules.includes(rule));
  const surplus = without.filter((rule) => seen.rules.includes(rule));
  return [
    ...(seen.status === status ? [] : [`status ${seen.status}, not ${status}`]),
    ...(score === undefined || seen.score === score ? [] : [`score ${seen.score}, not ${score}`]),
    ...missing.map((rule) => `no match of ${rule}, only ${seen.rules.join(' ')}`),
    ...surplus.map((rule) => `a match of ${rule}`),
  ];
}

async function tryIt(waf: LiveWaf, policyId: string, request: RowRequest): Promise<Seen> {
  const { url, method = 'GET', protocol = 'HTTP/1.1', body = '' } = request;
  const answer = await waf.ask('PolicyService/TestPolicy', {
    policyId,
    url,
    method,
    protocol,
    clientIp: request.clientIp ?? '',
    headers: { ...usualHeaders, ...request.headers },
    body: Buffer.from(body).toString('base64'),
  });
  const matched = (answer['matchedRules'] ?? []) as { ruleId: number }[];
  return {
    status: Number(answer['status']),
    score: Number(answer['totalInboundScore'] ?? 0),
    rules: matched.map(({ ruleId }) => ruleId),
  };
}

/** A policy as the template Standard makes it, on the imported ruleset or the built-in one. */
async function newPolicy(
  waf: LiveWaf,
  name: string,
  suite: string,
  imported: string,
): Promise<string> {
  const { engineState, blockingMode, crsCore, httpPolicy, argLimits } = standard;
  const policy = {
    name: name.slice(0, 120),
    ...(suite === 'CRS 4.28.0' && { crsRulesetId: imported }),
    ...{ engineState, blockingMode, crsCore, httpPolicy, argLimits },
  };
  const made = await waf.ask('PolicyService/CreatePolicy', { policy });
  return (made['policy'] as { id: string }).id;
}

let listId = '';

async function apply(waf: LiveWaf, policyId: string, { rpc, body }: RowCall): Promise<void> {
  const { policy } = await waf.ask('PolicyService/GetPolicy', { id: policyId });
  const { revision } = policy as { revision: string };
  const text = JSON.stringify(body)
    .replaceAll('$policy', policyId)
    .replaceAll('$revision', revision)
    .replaceAll('$list', listId);
  const { ipList } = (await waf.ask(rpc, JSON.parse(text))) as { ipList?: { id: string } };
  listId = ipList?.id ?? listId;
}
