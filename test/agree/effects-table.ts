/**
 * The table of what settings do: a change of a Standard policy, a request, and what becomes of it
 * before and after. A row holds under CRS 3.3.4 and 4.28 unless it names one of them.
 */

import type { EffectRow, Expected, RowCall, RowRequest } from './effect-row.ts';
import { multipartRows } from './multipart-rows.ts';
import { pluginRows } from './plugin-rows.ts';
import { resourceRows } from './resource-rows.ts';

/** Matches 942100 and nothing else under both rulesets. */
const sqli = '1%27%20OR%20%271%27=%271';
const attack: RowRequest = { url: `/shop?id=${sqli}` };
const blocked: Expected = { status: 403, with: [942_100], score: 5 };
const passes: Expected = { status: 200 };
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

function layer(kind: string, config: object): RowCall {
  const body = { policyId: '$policy', revision: '$revision', layer: kind, config };
  return { rpc: 'PolicyService/UpdatePolicyLayer', body };
}

function masked(policy: object, updateMask: string): RowCall {
  const body = { policy: { id: '$policy', ...policy }, revision: '$revision', updateMask };
  return { rpc: 'PolicyService/UpdatePolicy', body };
}

function override(crsRuleId: number, change: object): RowCall {
  const body = { override: { policyId: '$policy', crsRuleId: String(crsRuleId), ...change } };
  return { rpc: 'RuleOverrideService/UpsertRuleOverride', body };
}

const core = (crsCore: object, path: string): RowCall => masked({ crsCore }, path);
const http = (config: object): RowCall => layer('POLICY_LAYER_KIND_HTTP_POLICY', config);
const limits = (config: object): RowCall => layer('POLICY_LAYER_KIND_ARG_LIMITS', config);
const longBody = (bytes: number): RowRequest => ({
  url: '/',
  method: 'POST',
  headers: form,
  body: `a=${'b'.repeat(bytes)}`,
});
const json = (body: string): RowRequest => ({
  url: '/',
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body,
});

/** All rows. */
export const effectRows: readonly EffectRow[] = [
  {
    name: 'a decision by score',
    changes: [core({ decision: 'DECISION_SCORE' }, 'crsCore.decision')],
    request: attack,
    before: { ...blocked, without: [198_000] },
    after: { status: 403, with: [942_100, 198_000], score: 5 },
    other: {
      url: '/shop?id=%3Cscript%3Ealert(document.cookie)%3C/script%3E',
      expected: { status: 403, with: [198_000] },
    },
  },
  {
    name: 'an override that disables a rule',
    changes: [override(942_100, { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE' })],
    request: attack,
    before: blocked,
    after: { status: 200, without: [942_100], score: 0 },
  },
  {
    name: 'an override that disables a rule under a path',
    changes: [override(942_100, { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE', scope: '/shop' })],
    request: attack,
    before: blocked,
    after: { status: 200, without: [942_100] },
    other: { url: `/shopping?id=${sqli}`, expected: blocked },
  },
  {
    name: 'an override under a path is not reached by dots',
    changes: [override(942_100, { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE', scope: '/shop' })],
    request: attack,
    before: blocked,
    after: passes,
    other: { url: `/shop/%2e%2e/x?id=${sqli}`, expected: { status: 403, with: [942_100] } },
  },
  {
    name: 'an override that only logs',
    changes: [override(942_100, { actionEnum: 'RULE_OVERRIDE_ACTION_LOG_ONLY' })],
    request: attack,
    before: blocked,
    after: { status: 200, with: [942_100], score: 0 },
  },
  {
    name: 'an override that only logs under a path',
    changes: [override(942_100, { actionEnum: 'RULE_OVERRIDE_ACTION_LOG_ONLY', scope: '/shop' })],
    request: attack,
    before: blocked,
    after: { status: 200, with: [942_100], score: 0 },
    other: { url: `/x?id=${sqli}`, expected: blocked },
  },
  {
    name: 'an override with a score of its own',
    changes: [
      override(942_100, { actionEnum: 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE', scoreOverride: 2 }),
    ],
    request: attack,
    before: blocked,
    after: { status: 200, with: [942_100], score: 2 },
  },
  {
    name: 'an override with a score of its own under a path',
    changes: [
      override(942_100, {
        actionEnum: 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE',
        scoreOverride: 3,
        scope: '/shop',
      }),
    ],
    request: attack,
    before: blocked,
    after: { status: 200, with: [942_100], score: 3 },
    other: { url: `/x?id=${sqli}`, expected: blocked },
  },
  {
    name: 'an override that leaves out a target',
    changes: [
      override(942_100, {
        actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT',
        removedTargets: ['ARGS:id'],
      }),
    ],
    request: attack,
    before: blocked,
    after: { status: 200, without: [942_100] },
    other: { url: `/shop?other=${sqli}`, expected: blocked },
  },
  {
    name: 'a custom rule that lets a path through',
    changes: [
      {
        rpc: 'CustomRuleService/CreateFromTemplate',
        body: { policyId: '$policy', templateId: 'block-path', parameters: { path: '/private' } },
      },
      {
        rpc: 'CustomRuleService/CreateCustomRule',
        body: {
          rule: {
            policyId: '$policy',
            name: 'health',
            enabled: true,
            phase: 1,
            visualSpec: {
              conditions: [
                { variable: 'REQUEST_FILENAME', operator: 'beginsWith', value: '/shop' },
              ],
              action: 'allow',
            },
          },
        },
      },
    ],
    request: attack,
    before: blocked,
    after: { status: 200, without: [942_100] },
    other: { url: '/private/x', expected: { status: 403, with: [10_000] } },
  },
  {
    name: 'a custom rule that names an IP list',
    changes: [
      {
        rpc: 'IpListService/CreateIpList',
        body: { ipList: { name: 'row $policy', entries: [{ value: '198.51.100.0/24' }] } },
      },
      {
        rpc: 'CustomRuleService/CreateCustomRule',
        body: {
          rule: {
            policyId: '$policy',
            name: 'listed',
            enabled: true,
            phase: 1,
            visualSpec: {
              conditions: [{ variable: 'REMOTE_ADDR', ipListId: '$list' }],
              action: 'block',
            },
          },
        },
      },
    ],
    request: { url: '/', clientIp: '198.51.100.7' },
    before: passes,
    after: { status: 403, with: [10_000] },
    other: { url: '/', clientIp: '203.0.113.7', expected: passes },
  },
  {
    name: 'the engine only detects',
    changes: [
      {
        rpc: 'PolicyService/SetEngineState',
        body: {
          policyId: '$policy',
          revision: '$revision',
          engineState: 'ENGINE_STATE_DETECTION_ONLY',
        },
      },
    ],
    request: attack,
    before: blocked,
    after: { status: 200, with: [942_100], score: 5 },
  },
  {
    name: 'the engine is off',
    changes: [
      {
        rpc: 'PolicyService/SetEngineState',
        body: { policyId: '$policy', revision: '$revision', engineState: 'ENGINE_STATE_OFF' },
      },
    ],
    request: attack,
    before: blocked,
    after: { status: 200, without: [942_100], score: 0 },
  },
  {
    name: 'sampling 0 is a bypass',
    changes: [core({ samplingPercentage: 0 }, 'crsCore.samplingPercentage')],
    request: attack,
    before: blocked,
    after: { status: 200, without: [942_100] },
  },
  {
    name: 'a higher threshold',
    changes: [core({ inboundAnomalyScoreThreshold: 6 }, 'crsCore.inboundAnomalyScoreThreshold')],
    request: attack,
    before: blocked,
    after: { status: 200, with: [942_100], score: 5 },
  },
  {
    name: 'another score for critical matches',
    changes: [core({ criticalAnomalyScore: 4 }, 'crsCore.criticalAnomalyScore')],
    request: attack,
    before: blocked,
    after: { status: 200, with: [942_100], score: 4 },
  },
  {
    name: 'rules that block by themselves',
    changes: [masked({ blockingMode: 'BLOCKING_MODE_SELF_CONTAINED' }, 'blockingMode')],
    request: attack,
    before: { status: 403, with: [942_100, 949_110] },
    after: { status: 403, with: [942_100], without: [949_110] },
  },
  {
    name: 'a smaller body limit that blocks',
    changes: [core({ requestBodyLimit: '64' }, 'crsCore.requestBodyLimit')],
    request: longBody(100),
    before: passes,
    after: { status: 413 },
  },
  {
    name: 'a smaller body limit that observes',
    changes: [
      core(
        { requestBodyLimit: '64', requestBodyLimitAction: 'REQUEST_BODY_LIMIT_ACTION_OBSERVE' },
        'crsCore.requestBodyLimit,crsCore.requestBodyLimitAction',
      ),
    ],
    request: longBody(100),
    before: passes,
    after: { status: 200, with: [199_400], score: 0 },
  },
  {
    name: 'no body limit',
    changes: [
      core({ requestBodyLimitEnabled: false }, 'crsCore.requestBodyLimitEnabled'),
      limits({}),
    ],
    request: longBody(70_000),
    before: { status: 413 },
    after: passes,
  },
  {
    name: 'a limit of arguments that blocks',
    changes: [limits({ maxNumArgs: 2 })],
    request: { url: '/?a=1&b=2&c=3' },
    before: passes,
    after: { status: 413, with: [920_380] },
  },
  {
    name: 'a limit of arguments that observes',
    changes: [limits({ maxNumArgs: 2, argumentLimitAction: 'ARGUMENT_LIMIT_ACTION_OBSERVE' })],
    request: { url: '/?a=1&b=2&c=3' },
    before: passes,
    after: { status: 200, with: [199_100], without: [920_380], score: 0 },
  },
  {
    name: 'limits of the length of arguments',
    changes: [limits({ argLength: 8, argNameLength: 8 })],
    request: { url: '/?name=longer-than-eight' },
    before: passes,
    after: { status: 413, with: [920_370] },
    other: { url: '/?longer-than-eight=x', expected: { status: 413, with: [920_360] } },
  },
  {
    name: 'a media type that is allowed',
    changes: [http({ allowedRequestContentTypes: ['application/x-own'] })],
    request: {
      url: '/',
      method: 'POST',
      headers: { 'Content-Type': 'application/x-own' },
      body: 'x',
    },
    before: { status: 403, with: [920_420] },
    after: { status: 200, without: [920_420] },
  },
  {
    name: 'media types outside the list are only observed',
    changes: [http({ disallowedContentTypeAction: 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE' })],
    request: {
      url: '/',
      method: 'POST',
      headers: { 'Content-Type': 'application/x-own' },
      body: 'x',
    },
    before: { status: 403, with: [920_420] },
    after: { status: 200, with: [199_200], without: [920_420], score: 0 },
  },
  {
    name: 'a body that cannot be parsed is only observed',
    changes: [http({ requestBodyParseFailureAction: 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE' })],
    request: json('{"a":'),
    before: { status: 400, with: [200_002] },
    after: { status: 200, with: [200_002] },
  },
  ...multipartRows,
  ...resourceRows,
  {
    name: 'a media type that is read as JSON',
    changes: [
      http({
        allowedRequestContentTypes: ['application/x-own'],
        bodyProcessorOverrides: [
          { contentTypePrefix: 'application/x-own', processor: 'BODY_PROCESSOR_JSON' },
        ],
      }),
    ],
    request: {
      url: '/',
      method: 'POST',
      headers: { 'Content-Type': 'application/x-own; charset=utf-8' },
      body: '{"id":',
    },
    before: { status: 403, with: [920_420], without: [200_002] },
    after: { status: 400, with: [200_002], without: [920_420] },
  },
  {
    name: 'a media type is matched exactly',
    changes: [
      http({
        bodyProcessorOverrides: [
          { contentTypePrefix: 'application/json', processor: 'BODY_PROCESSOR_RAW' },
        ],
      }),
    ],
    request: json('{"a":'),
    before: { status: 400, with: [200_002] },
    after: { status: 200, without: [200_002] },
    other: {
      url: '/',
      method: 'POST',
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
      body: '{"a":',
      expected: { status: 200, without: [200_002] },
    },
  },
  {
    name: 'other methods',
    changes: [http({ allowedMethods: ['GET', 'PUT'] })],
    request: { url: '/', method: 'PUT', headers: form, body: 'a=1' },
    before: { status: 403, with: [911_100] },
    after: { status: 200, without: [911_100] },
    other: { url: '/', method: 'POST', headers: form, body: 'a=1', expected: { status: 403 } },
  },
  {
    name: 'other protocol versions',
    changes: [http({ allowedHttpVersions: ['HTTP/1.1', 'HTTP/2'] })],
    request: { url: '/', protocol: 'HTTP/1.0', headers: { 'User-Agent': 'x', Accept: '*/*' } },
    before: passes,
    after: { status: 403, with: [920_430] },
  },
  {
    name: 'other file endings',
    changes: [http({ restrictedExtensions: ['.own'] })],
    request: { url: '/file.own' },
    before: passes,
    after: { status: 403, with: [920_440] },
  },
  ...pluginRows,
];
