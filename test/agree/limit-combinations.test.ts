/**
 * Argument limits, bounds of bodies and templates in all combinations, with traffic: what each
 * limit does does not depend on the others. Without a ruleset, whose rules are tested elsewhere.
 */

import { afterEach, describe, expect, test } from 'vitest';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import type { PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import { builtPolicy } from '../support/built-policy.ts';
import { sendInProcess, type TableRequest } from './policy-in-process.ts';

const bodyLimit = 1_000;
const attackRule = 4_200;
const argumentActions = ['BLOCK', 'OBSERVE'] as const;
const bodyActions = ['BLOCK', 'OBSERVE'] as const;
const excessActions = ['OFF', 'RECORD', 'BLOCK'] as const;

interface Combination {
  readonly template: string;
  readonly args: (typeof argumentActions)[number];
  readonly body: (typeof bodyActions)[number];
  readonly excess: (typeof excessActions)[number];
}

const combinations: Combination[] = builtInTemplates.flatMap(({ name: template }) =>
  argumentActions.flatMap((args) =>
    bodyActions.flatMap((body) =>
      excessActions.map((excess): Combination => ({ template, args, body, excess })),
    ),
  ),
);

function policyOf({ template, args, body, excess }: Combination): PolicyJson {
  const policy = builtInTemplates.find(({ name }) => name === template)!;
  return {
    ...policy,
    argLimits: {
      ...policy.argLimits,
      maxNumArgs: 5,
      argLength: 400,
      argNameLength: 30,
      totalArgLength: 3_000,
      argumentLimitAction: `ARGUMENT_LIMIT_ACTION_${args}`,
    },
    crsCore: {
      ...policy.crsCore,
      requestBodyLimitEnabled: true,
      requestBodyLimit: String(bodyLimit),
      requestBodyLimitAction: `REQUEST_BODY_LIMIT_ACTION_${body}`,
      requestBodyExcessAction: `REQUEST_BODY_EXCESS_ACTION_${excess}`,
    },
  };
}

function engineOf(combination: Combination): Promise<PolicyEngine> {
  const attack = `id:${attackRule},phase:2,deny,status:403,log,t:none`;
  const beforeCrs = `SecRule ARGS "@contains evil" "${attack}"\n`;
  const { seclang } = renderPolicy(policyOf(combination), null, { beforeCrs });
  const source = { id: 's', name: 's', revision: '1', seclangEntry: seclang, files: new Map() };
  return builtPolicy(source);
}

const form = (body: string): TableRequest => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return { method: 'POST', url: '/', headers, body };
};
/** Three arguments, each shorter than the limit, together longer than the limit of bodies. */
const longBody = ['a', 'b', 'c'].map((name) => `${name}=${'x'.repeat(390)}`).join('&');

let engine: PolicyEngine | undefined;
afterEach(() => engine?.retire());

describe.each(combinations)('$template, arguments $args, bodies $body, excess $excess', (row) => {
  test('each limit does what it says', async () => {
    engine = await engineOf(row);
    const observed = row.args === 'OBSERVE';
    const limited: readonly (readonly [rule: number, query: string])[] = [
      [199_100, 'a=1&b=1&c=1&d=1&e=1&f=1'],
      [199_101, `${'n'.repeat(31)}=1`],
      [199_102, `a=${'x'.repeat(401)}`],
    ];
    for (const [rule, query] of limited) {
      const { status, rules } = sendInProcess(engine, { url: `/?${query}` });
      expect([status, rules]).toEqual([observed ? 0 : 413, [rule]]);
    }
    expect(sendInProcess(engine, { url: '/?a=evil' })).toEqual({
      status: 403,
      rules: [attackRule],
    });
    expect(sendInProcess(engine, form('a=1'))).toEqual({ status: 0, rules: [] });

    const long = sendInProcess(engine, form(longBody));
    const hidden = sendInProcess(engine, form(`${longBody}&d=evil`));
    if (row.body === 'BLOCK') {
      expect([long.status, hidden.status]).toEqual([413, 413]);
      return;
    }
    expect([long.status, long.rules.includes(199_400)]).toEqual([0, true]);
    expect(hidden.status).toBe(row.excess === 'BLOCK' ? 403 : 0);
    expect(hidden.rules.includes(attackRule)).toBe(row.excess !== 'OFF');
  });
});
