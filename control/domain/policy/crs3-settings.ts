/**
 * The rules that give CRS 3 what only CRS 4 has: early blocking, levels of reporting, the check of
 * the `_method` parameter, sampling that leaves own rules alone. Pure text. CRS 3 keeps its
 * collections unless they are switched off.
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
    "t:none,t:lowercase,setvar:'tx.anomaly_score_pl2=+%{tx.critical_anomaly_score}'"
`;
}

/** After the initialization of CRS 3: the lot that it drew takes out its rules, not the engine. */
export function renderSampledOut(core: CrsCoreSettingsJson): string {
  if (!isSampled(core)) return '';
  return `SecRule TX:sampling_rnd100 "!@lt %{tx.sampling_percentage}" \\
  "id:${sampledOutRule},phase:1,pass,t:none,log,noauditlog,\\
  msg:'Sampling: the rule set leaves this request out',\\
  ctl:ruleRemoveById=902000-999999"`;
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
 * Before the reports: levels 1 and 2 report what reached a threshold, as CRS 3 does; 3 any score of
 * the blocking level, 4 of the detection level, 5 every request.
 */
export function renderReports({ reportingLevel: level }: CrsCoreSettingsJson): string {
  if (level === undefined || level < 3) return '';
  const start = `phase:5,pass,t:none,nolog`;
  const target = level === 4 ? 'EXECUTING_PARANOIA_LEVEL' : 'PARANOIA_LEVEL';
  const sums = [1, 2, 3, 4].map(
    (at) => `SecRule TX:${target} "@ge ${at}" \\
  "id:${reportRules + at},${start},\\
  setvar:'tx.monitor_anomaly_score=+%{tx.anomaly_score_pl${at}}',\\
  setvar:'tx.monitor_anomaly_score=+%{tx.outbound_anomaly_score_pl${at}}'"`,
  );
  const all = `SecAction "id:${reportRules},${start},setvar:'tx.monitor_anomaly_score=2'"`;
  return level === 5 ? all : sums.join('\n');
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
