/**
 * The rules that give CRS 3 what only CRS 4 has: early blocking, levels of reporting, the check of
 * the `_method` parameter, sampling that leaves own rules alone; and sampling of what the product
 * has beside either. Pure text. CRS 3 keeps its collections unless they are switched off.
 */

import type { CrsCoreSettingsJson, HttpPolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';

const methodParameterRule = 199_203;
const sampledOutRule = 199_205;
const realAddressRule = 199_206;
const earlyRules = 199_250;
const reportRules = 199_260;

/** Whether a share of requests is left out, but not all. */
export function isSampled({ samplingPercentage: share = 100 }: CrsCoreSettingsJson): boolean {
  return share > 0 && share < 100;
}

/** Before the rules of CRS 3: what CRS 4's rule 920650 does from paranoia level 2 on. */
export function renderMethodParameter(core: CrsCoreSettingsJson, http: HttpPolicyJson): string {
  const level = Math.max(core.blockingParanoiaLevel || 1, core.detectionParanoiaLevel || 0);
  if (level < 2 || http.allowMethodOverrideParameter === true) return '';
  return `SecRule REQUEST_METHOD "!@streq %{ARGS._method}" \\
  "id:${methodParameterRule},phase:2,block,t:none,t:lowercase,severity:2,tag:'attack-protocol',\\
  tag:'paranoia-level/2',msg:'HTTP method override attempt via _method parameter',\\
  logdata:'%{ARGS._method}',chain"
  SecRule ARGS:_method "@rx ^[a-z]{3,10}$" \\
    "t:none,t:urlDecodeUni,t:lowercase,\\
    setvar:'tx.anomaly_score_pl2=+%{tx.critical_anomaly_score}'"
`;
}

/** Detectors of the score, and rules in place of those of the ruleset; not 199205 and 199206. */
const ofTheProduct = ['198100-198999', '199200-199204', '199207-199299'];

/**
 * After the initialization of the ruleset: the lot that it drew takes out its rules, not the
 * engine, and what the product has beside them. CRS 4 takes its own rules out itself.
 */
export function renderSampledOut(core: CrsCoreSettingsJson, major: number): string {
  if (!isSampled(core)) return '';
  const removed = major < 4 ? ['902000-999999', ...ofTheProduct] : ofTheProduct;
  const controls = removed.map((ids) => `ctl:ruleRemoveById=${ids}`).join(',');
  // CRS 4 reports it.
  const told = major < 4 ? 'log,noauditlog' : 'nolog';
  return `SecRule TX:sampling_rnd100 "!@lt %{tx.sampling_percentage}" \\
  "id:${sampledOutRule},phase:1,pass,t:none,${told},\\
  msg:'Sampling: the rule set leaves this request out',\\
  ${controls}"`;
}

/** Before the evaluation of requests: the scores of phase 1 decide at the end of phase 1. */
export function renderEarlyBlocking(core: CrsCoreSettingsJson): string {
  if (core.earlyBlocking !== true) return '';
  const sums = [1, 2, 3, 4].map(
    (level) => `SecRule TX:PARANOIA_LEVEL "@ge ${level}" \\
  "id:${earlyRules + level - 1},phase:1,pass,t:none,nolog,\\
  setvar:'tx.early_score=+%{tx.anomaly_score_pl${level}}'"`,
  );
  return `${sums.join('\n')}
SecRule TX:EARLY_SCORE "@ge %{tx.inbound_anomaly_score_threshold}" \\
  "id:${earlyRules + 4},phase:1,deny,t:none,log,severity:2,tag:'anomaly-evaluation',\\
  msg:'Inbound Anomaly Score Exceeded in phase 1 (Total Score: %{TX.EARLY_SCORE})',\\
  setvar:'tx.inbound_anomaly_score=%{tx.early_score}'"`;
}

/**
 * Before the reports: level 1 reports what reached a threshold, as CRS 3 does; 2 also what rules of
 * the detection level reached, 3 also any score of the blocking level, 4 of the detection level, 5
 * every request.
 */
export function renderReports({ reportingLevel: level }: CrsCoreSettingsJson): string {
  if (level === undefined || level < 2) return '';
  const start = `phase:5,pass,t:none,nolog`;
  // CRS 3 reports below its thresholds from 2 on.
  const report = "setvar:'tx.monitor_anomaly_score=2'";
  if (level === 5) return `SecAction "id:${reportRules},${start},${report}"`;
  const adds = (sum: string, way: string, at: number): string =>
    `setvar:'tx.${sum}=+%{tx.${way}anomaly_score_pl${at}}'`;
  const blocking = (at: number): string[] =>
    level === 3 ? ['', 'outbound_'].map((way) => adds('reported_blocking', way, at)) : [];
  const detection = [1, 2, 3, 4].map((at) => {
    const sums = [adds('reported_inbound', '', at), adds('reported_outbound', 'outbound_', at)];
    // The first level is always one of both.
    const first = at === 1 ? blocking(at) : [];
    return `SecRule TX:EXECUTING_PARANOIA_LEVEL "@ge ${at}" \\
  "id:${reportRules + at},${start},${[...sums, ...first].join(',')}"`;
  });
  const reached = ['inbound', 'outbound'].map((way, at) => {
    const least = level === 4 ? '1' : `%{tx.${way}_anomaly_score_threshold}`;
    return `SecRule TX:reported_${way} "@ge ${least}" \\
  "id:${reportRules + 5 + at},${start},${report}"`;
  });
  if (level !== 3) return [...detection, ...reached].join('\n');
  const above = [2, 3, 4].map(
    (at) => `SecRule TX:PARANOIA_LEVEL "@ge ${at}" \\
  "id:${reportRules + 5 + at},${start},${blocking(at).join(',')}"`,
  );
  const any = `SecRule TX:reported_blocking "@ge 1" "id:${reportRules},${start},${report}"`;
  return [...detection, ...reached, ...above, any].join('\n');
}

/** After the rules of CRS 3: what its settings take out. */
export function renderCrs3Removals(core: CrsCoreSettingsJson): string[] {
  const lines: string[] = [];
  if (isSampled(core)) lines.push('SecRuleRemoveById 901450');
  if (core.reportingLevel === 0) lines.push('SecRuleRemoveById 980000-980999');
  if (core.enableDefaultCollections === false) {
    const address = `setvar:'tx.real_ip=%{remote_addr}'`;
    lines.push(
      'SecRuleRemoveById 901321-901321',
      `SecAction "id:${realAddressRule},phase:1,pass,t:none,nolog,${address}"`,
    );
  }
  return lines;
}
