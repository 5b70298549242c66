/**
 * How policy settings become the variables that the Core Rule Set reads, for CRS 3 and CRS 4. Pure
 * text; the caller puts it before the rules.
 */

import type {
  ArgLimitsJson,
  CrsCoreSettingsJson,
  HttpPolicyJson,
} from '../../../proto/gen/waf/v1/policy_pb.ts';

/** The fields of a policy that the setup depends on. */
export interface CrsSettings {
  readonly crsCore: CrsCoreSettingsJson;
  readonly httpPolicy: HttpPolicyJson;
  readonly argLimits: ArgLimitsJson;
}

/** One SecAction: the id that crs-setup.conf gives it, and the variables it sets. */
interface Setup {
  readonly id: number;
  readonly variables: readonly (readonly [name: string, value: string])[];
}

/** SecAction lines for a ruleset of `version`, for example '4.28.0'. */
export function renderCrsSetup(settings: CrsSettings, version: string): string {
  const major = crsMajor(version);
  const setups = [
    ...(major >= 4 ? levelsOfCrs4(settings.crsCore) : levelsOfCrs3(settings.crsCore)),
    ...scores(settings.crsCore),
    ...switches(settings.crsCore, major),
    ...httpPolicy(settings.httpPolicy, major),
    ...argumentLimits(settings.argLimits),
    { id: 900990, variables: [['crs_setup_version', setupVersion(version)]] as const },
  ];
  return setups
    .filter((setup) => setup.variables.length > 0)
    .map(renderSetup)
    .join('');
}

/** Major number of a version such as 'OWASP_CRS/3.3.4'; 4 when it cannot be read. */
export function crsMajor(version: string): number {
  const found = /(\d+)\.\d+/.exec(version);
  return found === null ? 4 : Number(found[1]);
}

/** The digits of a version as crs-setup.conf writes them: 3.3.4 is 334, 4.28.0 is 4280. */
export function setupVersion(version: string): string {
  const found = /(\d+)\.(\d+)\.(\d+)/.exec(version);
  return found === null ? '400' : `${found[1]}${found[2]}${found[3]}`;
}

function renderSetup({ id, variables }: Setup): string {
  const sets = variables.map(([name, value]) => `setvar:'tx.${name}=${value}'`).join(',');
  return `SecAction "id:${id},phase:1,pass,t:none,nolog,${sets}"\n`;
}

function levelsOfCrs3(core: CrsCoreSettingsJson): Setup[] {
  const blocking = core.blockingParanoiaLevel || 1;
  const detection = Math.max(core.detectionParanoiaLevel || blocking, blocking);
  return [
    { id: 900000, variables: [['paranoia_level', `${blocking}`]] },
    { id: 900001, variables: [['executing_paranoia_level', `${detection}`]] },
  ];
}

function levelsOfCrs4(core: CrsCoreSettingsJson): Setup[] {
  const blocking = core.blockingParanoiaLevel || 1;
  const detection = Math.max(core.detectionParanoiaLevel || blocking, blocking);
  return [
    { id: 900000, variables: [['blocking_paranoia_level', `${blocking}`]] },
    { id: 900001, variables: [['detection_paranoia_level', `${detection}`]] },
  ];
}

function scores(core: CrsCoreSettingsJson): Setup[] {
  return [
    {
      id: 900100,
      variables: [
        ['critical_anomaly_score', `${core.criticalAnomalyScore || 5}`],
        ['error_anomaly_score', `${core.errorAnomalyScore || 4}`],
        ['warning_anomaly_score', `${core.warningAnomalyScore || 3}`],
        ['notice_anomaly_score', `${core.noticeAnomalyScore || 2}`],
      ],
    },
    {
      id: 900110,
      variables: [
        ['inbound_anomaly_score_threshold', `${core.inboundAnomalyScoreThreshold || 5}`],
        ['outbound_anomaly_score_threshold', `${core.outboundAnomalyScoreThreshold || 4}`],
      ],
    },
  ];
}

function switches(core: CrsCoreSettingsJson, major: number): Setup[] {
  const setups: Setup[] = [];
  const add = (id: number, name: string, value: number | boolean | undefined): void => {
    if (value === undefined) return;
    setups.push({ id, variables: [[name, `${Number(value)}`]] });
  };
  add(900010, 'enforce_bodyproc_urlencoded', core.enforceBodyprocUrlencoded || undefined);
  // CRS 4 checks by default.
  const checked = core.crsValidateUtf8Encoding ?? false;
  add(900950, 'crs_validate_utf8_encoding', checked || major >= 4 ? checked : undefined);
  add(900400, 'sampling_percentage', core.samplingPercentage);
  if (major < 4) return setups;
  add(900115, 'reporting_level', core.reportingLevel);
  add(900120, 'early_blocking', core.earlyBlocking || undefined);
  add(900130, 'enable_default_collections', core.enableDefaultCollections);
  add(900500, 'crs_skip_response_analysis', core.crsSkipResponseAnalysis);
  return setups;
}

function httpPolicy(policy: HttpPolicyJson, major: number): Setup[] {
  const setups: Setup[] = [];
  const add = (id: number, name: string, value: string): void => {
    if (value !== '') setups.push({ id, variables: [[name, value]] });
  };
  const bars = (list: readonly string[] | undefined): string => join(list, '|', '|');
  const slashes = (list: readonly string[] | undefined): string => join(lower(list), '/', '/');
  add(900200, 'allowed_methods', (policy.allowedMethods ?? []).join(' '));
  add(900220, 'allowed_request_content_type', bars(lower(policy.allowedRequestContentTypes)));
  add(900230, 'allowed_http_versions', httpVersions(policy.allowedHttpVersions ?? []));
  add(900240, 'restricted_extensions', join(lower(policy.restrictedExtensions), '', '/'));
  const charsets = lower(policy.allowedRequestContentCharsets);
  add(
    900280,
    'allowed_request_content_type_charset',
    major < 4 ? charsets.join('|') : bars(charsets),
  );
  if (major < 4) {
    const all = [
      ...(policy.restrictedHeadersBasic ?? []),
      ...(policy.restrictedHeadersExtended ?? []),
    ];
    add(900250, 'restricted_headers', slashes(all));
    return setups;
  }
  add(900210, 'allow_method_override_parameter', policy.allowMethodOverrideParameter ? '1' : '');
  add(900250, 'restricted_headers_basic', slashes(policy.restrictedHeadersBasic));
  add(900255, 'restricted_headers_extended', slashes(policy.restrictedHeadersExtended));
  return setups;
}

/** Only limits that block go to the CRS; observed ones and those of files have own rules. */
function argumentLimits(limits: ArgLimitsJson): Setup[] {
  const observed = limits.argumentLimitAction === 'ARGUMENT_LIMIT_ACTION_OBSERVE';
  const setups: Setup[] = [];
  const add = (id: number, name: string, value: number | string | undefined): void => {
    if (value !== undefined) setups.push({ id, variables: [[name, `${value}`]] });
  };
  if (!observed) {
    add(900300, 'max_num_args', limits.maxNumArgs);
    add(900310, 'arg_name_length', limits.argNameLength);
    add(900320, 'arg_length', limits.argLength);
    add(900330, 'total_arg_length', limits.totalArgLength);
  }
  return setups;
}

function httpVersions(versions: readonly string[]): string {
  const spelt = versions.flatMap((version) => {
    if (version === 'HTTP/2') return ['HTTP/2', 'HTTP/2.0'];
    if (version === 'HTTP/3') return ['HTTP/3', 'HTTP/3.0'];
    return [version];
  });
  return spelt.join(' ');
}

function lower(list: readonly string[] | undefined): string[] {
  return (list ?? []).map((one) => one.toLowerCase());
}

function join(list: readonly string[] | undefined, before: string, after: string): string {
  return (list ?? []).map((one) => `${before}${one}${after}`).join(' ');
}
