/**
 * Random changes of a policy, drawn from a seed: overrides, custom rules, layers, limits, exclusion
 * plugins. Each says which text PreviewSecLang must show for it.
 */

import type { DescribedCase } from './described-case.ts';

/** A source of numbers that gives the same ones for the same seed. */
export interface Dice {
  /** A whole number from 0 to below `count`. */
  below(count: number): number;
  pick<T>(from: readonly T[]): T;
}

/** One change as RPC calls, and what its SecLang holds. */
export interface RandomChange {
  readonly name: string;
  readonly rpc: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Text of the preview afterwards; every one must be there. */
  readonly shows: readonly string[];
  /** A request that the change is about. */
  readonly request: DescribedCase;
}

/** Mulberry32. */
export function startDice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (count: number): number => next() % count;
  return { below, pick: (from) => from[below(from.length)]! };
}

/** What a change is drawn for. */
export interface ChangeContext {
  readonly dice: Dice;
  readonly policyId: string;
  readonly siteId: string;
  readonly revision: string;
  /** Rules that the corpus makes match, with a request that does. */
  readonly matches: readonly { readonly ruleId: number; readonly request: DescribedCase }[];
  /** Unique in the run. */
  readonly number: number;
}

/** One change. */
export function drawChange(context: ChangeContext): RandomChange {
  return context.dice.pick(kinds)(context);
}

type Kind = (context: ChangeContext) => RandomChange;

const upsert = (
  name: string,
  { policyId }: ChangeContext,
  match: ChangeContext['matches'][number],
  override: object,
  shows: readonly string[],
): RandomChange => ({
  name: `${name} ${match.ruleId}`,
  rpc: 'RuleOverrideService/UpsertRuleOverride',
  body: { override: { policyId, crsRuleId: String(match.ruleId), ...override } },
  shows,
  request: match.request,
});

/** The first segment of a request's path. */
function scopeOf({ url }: DescribedCase): string {
  const path = url.split(/[?#]/, 1)[0] ?? '/';
  const [, segment = ''] = path.split('/');
  return /^[\w.-]+$/.test(segment) ? `/${segment}` : '/';
}

const disable: Kind = (context) => {
  const match = context.dice.pick(context.matches);
  const override = { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE' };
  return upsert('disable', context, match, override, [`SecRuleRemoveById ${match.ruleId}`]);
};

const disableUnderPath: Kind = (context) => {
  const match = context.dice.pick(context.matches);
  const scope = context.dice.below(2) === 0 ? scopeOf(match.request) : '/elsewhere';
  const override = { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE', scope };
  return upsert(`disable ${scope}`, context, match, override, [
    `ctl:ruleRemoveById=${match.ruleId}`,
  ]);
};

const logOnly: Kind = (context) => {
  const match = context.dice.pick(context.matches);
  const override = { actionEnum: 'RULE_OVERRIDE_ACTION_LOG_ONLY' };
  return upsert('log only', context, match, override, [`SecRuleUpdateActionById ${match.ruleId}`]);
};

const logOnlyUnderPath: Kind = (context) => {
  const match = context.dice.pick(context.matches);
  const scope = context.dice.below(2) === 0 ? scopeOf(match.request) : '/elsewhere';
  const override = { actionEnum: 'RULE_OVERRIDE_ACTION_LOG_ONLY', scope };
  return upsert(`log only ${scope}`, context, match, override, [
    'SecRule REQUEST_PATHS_JOINED "@rx ',
  ]);
};

const score: Kind = (context) => {
  const match = context.dice.pick(context.matches);
  const scoreOverride = context.dice.below(8);
  const override = { actionEnum: 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE', scoreOverride };
  return upsert(`score ${scoreOverride} of`, context, match, override, [`${match.ruleId}`]);
};

const withoutTarget: Kind = (context) => {
  const match = context.dice.pick(context.matches);
  const target = context.dice.pick(['ARGS', 'REQUEST_HEADERS:User-Agent', 'REQUEST_COOKIES']);
  const override = { actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT', removedTargets: [target] };
  return upsert(`without ${target}:`, context, match, override, [
    `SecRuleUpdateTargetById ${match.ruleId} "!${target}"`,
  ]);
};

const customRule: Kind = (context) => {
  const { dice, policyId, number } = context;
  const { request } = dice.pick(context.matches);
  const path = request.url.split('?', 1)[0] ?? '/';
  const action = dice.pick(['block', 'log', 'allow']);
  const name = `rule ${number}`;
  const visualSpec = {
    conditions: [
      { variable: 'REQUEST_FILENAME', operator: 'beginsWith', value: path.slice(0, 64) },
    ],
    action,
    status: 403,
  };
  const phase = 1 + dice.below(2);
  const placement = dice.pick(['before_crs', 'after_crs', 'request_before_blocking']);
  return {
    name: `custom rule: ${action} in phase ${phase}, ${placement}`,
    rpc: 'CustomRuleService/CreateCustomRule',
    body: { rule: { policyId, name, enabled: true, phase, placement, visualSpec } },
    shows: [`msg:'${name}'`, 'SecRule REQUEST_FILENAME "@beginsWith'],
    request,
  };
};

const rawRule: Kind = (context) => {
  const { dice, policyId, number } = context;
  const { request } = dice.pick(context.matches);
  const text = dice.pick([
    `SecRule ARGS "@rx ." "id:${2000 + number},phase:2,pass,log,setvar:tx.extra=+1"`,
    `SecRule REQUEST_METHOD "@streq ${request.method}" "id:${2000 + number},phase:1,deny,log"`,
    `SecAction "id:${2000 + number},phase:1,pass,nolog,ctl:ruleEngine=DetectionOnly"`,
  ]);
  return {
    name: `raw rule: ${text.slice(0, 40)}`,
    rpc: 'CustomRuleService/CreateCustomRule',
    body: { rule: { policyId, name: `raw ${number}`, enabled: true, seclang: text } },
    shows: [text],
    request,
  };
};

const coreLayer: Kind = (context) => {
  const { dice, policyId, revision } = context;
  const level = 1 + dice.below(3);
  const threshold = dice.pick([3, 5, 10, 25]);
  const config = {
    blockingParanoiaLevel: level,
    detectionParanoiaLevel: level + dice.below(2),
    inboundAnomalyScoreThreshold: threshold,
    earlyBlocking: dice.below(2) === 0,
    requestBodyLimitAction: dice.pick([
      'REQUEST_BODY_LIMIT_ACTION_BLOCK',
      'REQUEST_BODY_LIMIT_ACTION_OBSERVE',
    ]),
    requestBodyLimit: String(dice.pick([16, 512, 65_536])),
  };
  return {
    name: `core: level ${level}, threshold ${threshold}, body ${config.requestBodyLimit}`,
    rpc: 'PolicyService/UpdatePolicyLayer',
    body: { policyId, revision, layer: 'POLICY_LAYER_KIND_CRS_CORE', config },
    shows: [`setvar:'tx.inbound_anomaly_score_threshold=${threshold}'`, `paranoia_level=${level}'`],
    request: dice.pick(context.matches).request,
  };
};

const limits: Kind = (context) => {
  const { dice, policyId, revision } = context;
  const observed = dice.below(2) === 0;
  const argLength = dice.pick([4, 32, 1000]);
  const config = {
    maxNumArgs: 1 + dice.below(4),
    argLength,
    argumentLimitAction: `ARGUMENT_LIMIT_ACTION_${observed ? 'OBSERVE' : 'BLOCK'}`,
  };
  return {
    name: `limits: ${config.maxNumArgs} of ${argLength}, ${observed ? 'observed' : 'blocked'}`,
    rpc: 'PolicyService/UpdatePolicyLayer',
    body: { policyId, revision, layer: 'POLICY_LAYER_KIND_ARG_LIMITS', config },
    shows: [observed ? `"@gt ${argLength}"` : `setvar:'tx.arg_length=${argLength}'`],
    request: dice.pick(context.matches).request,
  };
};

const httpPolicy: Kind = (context) => {
  const { dice, policyId, revision } = context;
  const { request } = dice.pick(context.matches);
  const observed = dice.below(2) === 0;
  const config = {
    allowedMethods: dice.below(2) === 0 ? ['GET', 'HEAD'] : ['GET', 'HEAD', 'POST', 'PUT'],
    allowedRequestContentTypes: ['application/json'],
    disallowedContentTypeAction: `HTTP_POLICY_VIOLATION_ACTION_${observed ? 'OBSERVE' : 'BLOCK'}`,
  };
  return {
    name: `http policy: ${config.allowedMethods.join(' ')}, ${observed ? 'observed' : 'blocked'}`,
    rpc: 'PolicyService/UpdatePolicyLayer',
    body: { policyId, revision, layer: 'POLICY_LAYER_KIND_HTTP_POLICY', config },
    shows: [`setvar:'tx.allowed_methods=${config.allowedMethods.join(' ')}'`],
    request,
  };
};

const siteLevels: Kind = (context) => {
  const { dice, siteId, policyId } = context;
  const blockingParanoiaLevel = 1 + dice.below(3);
  return {
    name: `site override: level ${blockingParanoiaLevel}`,
    rpc: 'SiteService/UpsertSitePolicyOverride',
    body: {
      override: {
        siteId,
        policyId,
        blockingParanoiaLevel,
        detectionParanoiaLevel: blockingParanoiaLevel,
      },
    },
    shows: [`paranoia_level=${blockingParanoiaLevel}'`],
    request: dice.pick(context.matches).request,
  };
};

const siteRule: Kind = (context) => {
  const match = context.dice.pick(context.matches);
  const override = { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE', siteId: context.siteId };
  return upsert('for the site: disable', context, match, override, [
    `SecRuleRemoveById ${match.ruleId}`,
  ]);
};

const kinds: readonly Kind[] = [
  disable,
  disableUnderPath,
  logOnly,
  logOnlyUnderPath,
  score,
  withoutTarget,
  customRule,
  rawRule,
  coreLayer,
  limits,
  httpPolicy,
  siteLevels,
  siteRule,
];
