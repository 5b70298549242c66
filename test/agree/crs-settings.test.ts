/**
 * Settings of the CRS have their effect under CRS 3 and CRS 4 alike: each row is a setting at two
 * values, a request, and what both come to.
 */

import { describe, expect, test } from 'vitest';
import type { PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import {
  rulesetFolders,
  sendInProcess,
  templateEngine,
  type TableAnswer,
  type TableRequest,
} from './policy-in-process.ts';

const timeoutMs = 10 * 60_000;
type Core = NonNullable<PolicyJson['crsCore']>;
type Http = NonNullable<PolicyJson['httpPolicy']>;

/** Which of these rules matched, and the status. */
interface Comes {
  readonly status: number;
  readonly has?: readonly number[];
  readonly lacks?: readonly number[];
}

interface Row {
  readonly name: string;
  readonly request: TableRequest;
  readonly before: { readonly core?: Core; readonly http?: Http };
  readonly after: { readonly core?: Core; readonly http?: Http };
  /** By major version. */
  readonly comes: Readonly<Record<'3' | '4', readonly [before: Comes, after: Comes]>>;
}

const leak = "You have an error in your SQL syntax; check the manual near 'x' at line 1";
const sql = { url: '/?id=1%27%20or%20%271%27=%271' };
const numericHost = { url: '/', headers: { Host: '192.0.2.1' } };
/** Scores in phase 1 under both. */
const early: TableRequest = { url: '/', headers: { 'Content-Type': 'text/plain; charset=evil' } };
const two: Core = { blockingParanoiaLevel: 2, detectionParanoiaLevel: 2 };
const method: TableRequest = { url: '/?_method=delete', method: 'GET' };
/** It scores at the second level, which only detects. */
const detected = (reportingLevel: number, criticalAnomalyScore = 5): { readonly core: Core } => {
  const levels = { blockingParanoiaLevel: 1, detectionParanoiaLevel: 2 };
  return { core: { ...levels, reportingLevel, criticalAnomalyScore } };
};
const reported = {
  3: [
    { status: 0, lacks: [980_120] },
    { status: 0, has: [980_120] },
  ],
  4: [
    { status: 0, lacks: [980_170] },
    { status: 0, has: [980_170] },
  ],
} as const;
const same = (before: Comes, after: Comes) => ({
  3: [before, after] as const,
  4: [before, after] as const,
});

const rows: readonly Row[] = [
  {
    name: 'crsSkipResponseAnalysis leaves answers uninspected',
    request: { url: '/', answer: leak },
    before: { core: { crsSkipResponseAnalysis: false } },
    after: { core: { crsSkipResponseAnalysis: true } },
    comes: same({ status: 403, has: [951_230] }, { status: 0, lacks: [951_230] }),
  },
  {
    name: 'earlyBlocking decides after the head',
    request: early,
    before: {},
    after: { core: { earlyBlocking: true } },
    comes: {
      3: [
        { status: 403, has: [949_110] },
        { status: 403, has: [199_254], lacks: [949_110] },
      ],
      4: [
        { status: 403, has: [949_110] },
        { status: 403, has: [949_111], lacks: [949_110] },
      ],
    },
  },
  {
    name: 'reportingLevel 0 reports nothing',
    request: sql,
    before: {},
    after: { core: { reportingLevel: 0 } },
    comes: {
      3: [
        { status: 403, has: [980_130] },
        { status: 403, lacks: [980_130] },
      ],
      4: [
        { status: 403, has: [980_170] },
        { status: 403, lacks: [980_170] },
      ],
    },
  },
  {
    name: 'reportingLevel 3 reports scores below the threshold',
    request: numericHost,
    before: { core: { reportingLevel: 1 } },
    after: { core: { reportingLevel: 3 } },
    comes: reported,
  },
  {
    name: 'reportingLevel 3 reports a score of 1',
    request: numericHost,
    before: { core: { reportingLevel: 2, warningAnomalyScore: 1 } },
    after: { core: { reportingLevel: 3, warningAnomalyScore: 1 } },
    comes: reported,
  },
  {
    name: 'reportingLevel 2 reports what only detection would refuse',
    request: method,
    before: detected(1),
    after: detected(2),
    comes: reported,
  },
  {
    name: 'reportingLevel 4 reports what only detection scores',
    request: method,
    before: detected(3, 3),
    after: detected(4, 3),
    comes: reported,
  },
  {
    name: 'reportingLevel 5 reports every request',
    request: { url: '/' },
    before: { core: { reportingLevel: 4 } },
    after: { core: { reportingLevel: 5 } },
    comes: reported,
  },
  {
    name: 'allowMethodOverrideParameter accepts _method at paranoia level 2',
    request: method,
    before: { core: two },
    after: { core: two, http: { allowMethodOverrideParameter: true } },
    comes: {
      3: [
        { status: 403, has: [199_203] },
        { status: 0, lacks: [199_203] },
      ],
      4: [
        { status: 403, has: [920_650] },
        { status: 0, lacks: [920_650] },
      ],
    },
  },
  {
    name: 'allowMethodOverrideParameter decides about a method that is escaped twice',
    request: { url: '/?_method=%2564elete' },
    before: { core: two },
    after: { core: two, http: { allowMethodOverrideParameter: true } },
    comes: {
      3: [
        { status: 403, has: [199_203] },
        { status: 0, lacks: [199_203] },
      ],
      4: [
        { status: 403, has: [920_650] },
        { status: 0, lacks: [920_650] },
      ],
    },
  },
  {
    name: 'allowMethodOverrideParameter decides about a form',
    request: {
      ...{ url: '/', method: 'POST', body: '_method=PUT' },
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    },
    before: { core: two },
    after: { core: two, http: { allowMethodOverrideParameter: true } },
    comes: {
      3: [
        { status: 403, has: [199_203] },
        { status: 0, lacks: [199_203] },
      ],
      4: [
        { status: 403, has: [920_650] },
        { status: 0, lacks: [920_650] },
      ],
    },
  },
];

describe.each(rulesetFolders)('$name', ({ name, folder }) => {
  const major = name.includes(' 3') ? '3' : '4';

  test.each(rows.map((row) => [row.name, row] as const))(
    '%s',
    { timeout: timeoutMs },
    async (_title, { request, before, after, comes }) => {
      for (const [at, settings] of [before, after].entries()) {
        const engine = await templateEngine('Standard', folder, (policy) => ({
          ...policy,
          crsCore: { ...policy.crsCore, ...settings.core },
          httpPolicy: { ...policy.httpPolicy, ...settings.http },
        }));
        const answer = sendInProcess(engine, request);
        engine.retire();
        expect(faultsOf(answer, comes[major][at]!), at === 0 ? 'before' : 'after').toEqual([]);
      }
    },
  );

  test('own rules run for requests that sampling leaves out', { timeout: timeoutMs }, async () => {
    const own = (id: number, phase: number): string =>
      `SecRule ARGS:own "@streq 1" "id:${id},phase:${phase},pass,log"\n`;
    const sampled = { samplingPercentage: 1 };
    const engine = await templateEngine(
      'Standard',
      folder,
      (policy) => ({ ...policy, crsCore: { ...policy.crsCore, ...sampled } }),
      {
        beforeCrs: own(10_001, 1) + own(10_002, 2),
        requestBeforeBlocking: own(10_003, 2),
        responseBeforeBlocking: own(10_004, 4),
        afterCrs: own(10_005, 2) + own(10_006, 3) + own(10_007, 5),
      },
    );
    const all = [10_001, 10_002, 10_003, 10_004, 10_005, 10_006, 10_007];
    const seen = Array.from({ length: 50 }, (_, at) =>
      sendInProcess(engine, { url: '/?own=1', requestId: `request-${at}`, answer: 'a' }),
    );
    expect(seen.map(({ rules }) => all.filter((id) => !rules.includes(id))).flat()).toEqual([]);
    const attacks = Array.from({ length: 50 }, (_, at) =>
      sendInProcess(engine, { ...sql, requestId: `request-${at}` }),
    );
    expect(attacks.filter(({ status }) => status === 0).length).toBeGreaterThan(40);
    engine.retire();
  });

  test('collections are kept unless switched off', { timeout: timeoutMs }, async () => {
    const shown = async (enableDefaultCollections: boolean): Promise<boolean> => {
      const engine = await templateEngine(
        'Standard',
        folder,
        (policy) => ({ ...policy, crsCore: { ...policy.crsCore, enableDefaultCollections } }),
        { afterCrs: 'SecRule &IP "@gt 0" "id:10000,phase:5,pass,log"' },
      );
      const { rules } = sendInProcess(engine, { url: '/' });
      engine.retire();
      return rules.includes(10_000);
    };
    expect([await shown(true), await shown(false)]).toEqual([true, false]);
  });
});

function faultsOf(answer: TableAnswer, { status, has = [], lacks = [] }: Comes): string[] {
  return [
    ...(answer.status === status ? [] : [`status ${answer.status} by ${answer.rules.join(' ')}`]),
    ...has.filter((rule) => !answer.rules.includes(rule)).map((rule) => `no match of ${rule}`),
    ...lacks.filter((rule) => answer.rules.includes(rule)).map((rule) => `a match of ${rule}`),
  ];
}
