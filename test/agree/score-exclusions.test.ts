/**
 * Each decision of a policy under each ruleset and without one, beside each way in which people
 * exclude: by the rules that an event names, by class, by argument and by path. What an exclusion
 * names passes, and nothing else does.
 */

import { afterEach, describe, expect, test } from 'vitest';
import { renderOverrides } from '../../control/domain/policy/rule-overrides.ts';
import { decisions, type Decision } from '../../engine/contract/decision.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import type { RuleOverrideJson } from '../../proto/gen/waf/v1/rule_override_pb.ts';
import { rulesetFolders, sendInProcess, templateEngine } from './policy-in-process.ts';

const timeoutMs = 10 * 60_000;

const named = {
  crs: 'DECISION_CRS',
  score: 'DECISION_SCORE',
  both: 'DECISION_BOTH',
  scoreConfirms: 'DECISION_SCORE_CONFIRMS',
} as const satisfies Record<Decision, string>;

const sql = encodeURIComponent(`-1' union select user,password from users where '1'='1`);
const script = encodeURIComponent('<script>alert(document.cookie)</script>');
const inText = `/edit?text=${sql}`;

/** Requests, and whether an exclusion of the SQL in `text` lets them pass. */
const requests = {
  'the attack': inText,
  'in another argument': `/edit?other=${sql}`,
  'under another path': `/view?text=${sql}`,
  'of another class': `/edit?text=${script}`,
} as const;
type Title = keyof typeof requests;

interface Exclusion {
  readonly title: string;
  /** What an exclusion of a rule says, beside its number; null for an exclusion of a class. */
  readonly says: Omit<RuleOverrideJson, 'crsRuleId'> | null;
  readonly lets: readonly Title[];
}

const disabled = { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE' } as const;
const unchanged = { actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT' } as const;
const everywhere = ['the attack', 'in another argument', 'under another path'] as const;
const exclusions: readonly Exclusion[] = [
  { title: 'by rule', says: disabled, lets: everywhere },
  { title: 'by class', says: null, lets: everywhere },
  {
    title: 'by argument',
    says: { ...unchanged, removedTargets: ['ARGS:text'] },
    lets: ['the attack', 'under another path'],
  },
  {
    title: 'by path',
    says: { ...disabled, scope: '/edit' },
    lets: ['the attack', 'in another argument'],
  },
  {
    title: 'by argument under a path',
    says: { ...unchanged, removedTargets: ['ARGS:text'], scope: '/edit' },
    lets: ['the attack'],
  },
];

const engines: PolicyEngine[] = [];
afterEach(() => engines.splice(0).forEach((engine) => engine.retire()));

async function engineWith(
  decision: Decision,
  folder: string | null,
  added: { readonly beforeCrs?: string; readonly afterCrs?: string } = {},
): Promise<PolicyEngine> {
  const engine = await templateEngine(
    'Light',
    folder,
    (policy) => ({ ...policy, crsCore: { ...policy.crsCore, decision: named[decision] } }),
    added,
  );
  engines.push(engine);
  return engine;
}

/** The rules and detectors of attacks that the event of the attack names. */
function namedBy(engine: PolicyEngine): readonly number[] {
  const { rules } = sendInProcess(engine, { url: inText });
  return rules.filter((id) => (id > 198_000 && id < 199_000) || (id > 930_000 && id < 945_000));
}

function secLangOf({ says }: Exclusion, ids: readonly number[]) {
  if (says === null) return { afterCrs: 'SecRuleRemoveByTag attack-sqli' };
  const overrides = ids.map((id) => ({ ...says, crsRuleId: String(id) }));
  return renderOverrides(overrides, () => undefined);
}

const folders: readonly (readonly [string, string | null])[] = [
  ...rulesetFolders.map(({ name, folder }) => [name, folder] as const),
  ['no ruleset', null],
];
const rows = folders.flatMap(([ruleset, folder]) =>
  decisions.map((decision) => ({ ruleset, folder, decision })),
);

/** Without a ruleset no anomaly score refuses, nor confirms. */
const isRefused = (decision: Decision, folder: string | null): boolean =>
  folder !== null || decision === 'score' || decision === 'both';

describe.skipIf(rulesetFolders.length < 2)('an exclusion lets pass what it names', () => {
  test.each(rows)('$ruleset, $decision', { timeout: timeoutMs }, async (row) => {
    const { folder, decision } = row;
    const statusOf = (engine: PolicyEngine): Record<string, number> =>
      Object.fromEntries(
        Object.entries(requests).map(([title, url]) => [
          title,
          sendInProcess(engine, { url }).status,
        ]),
      );
    const refused = isRefused(decision, folder) ? 403 : 0;
    const plain = await engineWith(decision, folder);
    expect(statusOf(plain)).toEqual(
      Object.fromEntries(Object.keys(requests).map((title) => [title, refused])),
    );
    const ids = namedBy(plain);
    if (refused > 0) expect(ids).not.toEqual([]);
    for (const exclusion of exclusions) {
      const engine = await engineWith(decision, folder, secLangOf(exclusion, ids));
      const lets = new Set<string>(exclusion.lets);
      const expected = Object.keys(requests).map((title) => [title, lets.has(title) ? 0 : refused]);
      expect(statusOf(engine), exclusion.title).toEqual(Object.fromEntries(expected));
    }
  });
});
