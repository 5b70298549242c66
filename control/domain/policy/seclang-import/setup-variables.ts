/**
 * The variables of crs-setup.conf that are fields of a policy. What has no field, or a value that
 * the field does not take, stays a rule that sets the variable: nothing is rounded.
 */

import type {
  ArgLimitsJson,
  CrsCoreSettingsJson,
  HttpPolicyJson,
} from '../../../../proto/gen/waf/v1/policy_pb.ts';

/** The settings that an import fills. */
export interface ImportedSettings {
  engineState: 'on' | 'detection-only' | 'off';
  blockingMode: 'anomaly' | 'self-contained';
  readonly crsCore: { -readonly [K in keyof CrsCoreSettingsJson]: CrsCoreSettingsJson[K] };
  readonly httpPolicy: { -readonly [K in keyof HttpPolicyJson]: HttpPolicyJson[K] };
  readonly argLimits: { -readonly [K in keyof ArgLimitsJson]: ArgLimitsJson[K] };
}

type Layer = 'crsCore' | 'httpPolicy' | 'argLimits';
/** A value as the field has it; undefined when it does not fit. */
type Convert = (text: string) => number | boolean | string | readonly string[] | undefined;
interface Field {
  readonly layer: Layer;
  readonly name: string;
  readonly convert: Convert;
}

const whole =
  (least: number, most: number): Convert =>
  (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    return value >= least && value <= most ? value : undefined;
  };
const bytes =
  (most: number): Convert =>
  (text) => {
    const value = whole(1, most)(text);
    return value === undefined ? undefined : String(value);
  };
const flag: Convert = (text) => (text === '1' ? true : text === '0' ? false : undefined);

/** Items between blanks, each of a form, without the marks around it. */
const items =
  (form: RegExp, marks: RegExp, separator: RegExp = /\s+/): Convert =>
  (text) => {
    const list = text
      .split(separator)
      .map((one) => one.replace(marks, ''))
      .filter((one) => one !== '');
    const fits = list.length > 0 && list.length <= 256 && list.every((one) => form.test(one));
    return fits ? list : undefined;
  };

const token = /^[!#$%&*+.^_`|~0-9A-Za-z-]{1,128}$/;
const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i;
const versions: Convert = (text) => {
  const list = text.split(/\s+/).map((one) => one.replace(/^(HTTP\/[23])\.0$/, '$1'));
  const known = ['HTTP/1.0', 'HTTP/1.1', 'HTTP/2', 'HTTP/3'];
  return list.every((one) => known.includes(one)) ? [...new Set(list)] : undefined;
};

const core = (name: string, convert: Convert): Field => ({ layer: 'crsCore', name, convert });
const http = (name: string, convert: Convert): Field => ({ layer: 'httpPolicy', name, convert });
const args = (name: string, convert: Convert): Field => ({ layer: 'argLimits', name, convert });

/** Zero means "the default" in these fields, so that a zero is no value of theirs. */
const score = whole(1, 1000);
const threshold = whole(1, 100_000);
const headerNames = items(token, /^\/|\/$/g);

const fields: ReadonlyMap<string, Field> = new Map([
  ['paranoia_level', core('blockingParanoiaLevel', whole(1, 4))],
  ['blocking_paranoia_level', core('blockingParanoiaLevel', whole(1, 4))],
  ['executing_paranoia_level', core('detectionParanoiaLevel', whole(1, 4))],
  ['detection_paranoia_level', core('detectionParanoiaLevel', whole(1, 4))],
  ['critical_anomaly_score', core('criticalAnomalyScore', score)],
  ['error_anomaly_score', core('errorAnomalyScore', score)],
  ['warning_anomaly_score', core('warningAnomalyScore', score)],
  ['notice_anomaly_score', core('noticeAnomalyScore', score)],
  ['inbound_anomaly_score_threshold', core('inboundAnomalyScoreThreshold', threshold)],
  ['outbound_anomaly_score_threshold', core('outboundAnomalyScoreThreshold', threshold)],
  ['reporting_level', core('reportingLevel', whole(0, 4))],
  ['early_blocking', core('earlyBlocking', flag)],
  ['enforce_bodyproc_urlencoded', core('enforceBodyprocUrlencoded', flag)],
  ['crs_validate_utf8_encoding', core('crsValidateUtf8Encoding', flag)],
  ['sampling_percentage', core('samplingPercentage', whole(1, 100))],
  ['enable_default_collections', core('enableDefaultCollections', flag)],
  ['crs_skip_response_analysis', core('crsSkipResponseAnalysis', flag)],
  ['allowed_methods', http('allowedMethods', items(token, /^$/))],
  [
    'allowed_request_content_type',
    http('allowedRequestContentTypes', items(mediaType, /^\||\|$/g, /[\s|]+/)),
  ],
  [
    'allowed_request_content_type_charset',
    http('allowedRequestContentCharsets', items(/^[\w.:+-]{1,64}$/, /^\||\|$/g, /[\s|]+/)),
  ],
  ['allowed_http_versions', http('allowedHttpVersions', versions)],
  ['restricted_extensions', http('restrictedExtensions', items(/^\.[a-z0-9_~-]{1,32}$/i, /\/$/))],
  ['restricted_headers', http('restrictedHeadersBasic', headerNames)],
  ['restricted_headers_basic', http('restrictedHeadersBasic', headerNames)],
  ['restricted_headers_extended', http('restrictedHeadersExtended', headerNames)],
  ['allow_method_override_parameter', http('allowMethodOverrideParameter', flag)],
  ['max_num_args', args('maxNumArgs', whole(1, 1_000_000))],
  ['arg_name_length', args('argNameLength', whole(1, 10_000_000))],
  ['arg_length', args('argLength', whole(1, 100_000_000))],
  ['total_arg_length', args('totalArgLength', whole(1, 1_000_000_000))],
  ['max_file_size', args('maxFileSize', bytes(1_000_000_000_000))],
  ['combined_file_sizes', args('combinedFileSizes', bytes(1_000_000_000_000))],
]);

/** Takes a variable into the settings: the path of its field, or null when it stays a rule. */
export function takeVariable(
  settings: ImportedSettings,
  name: string,
  value: string,
): string | null {
  const field = fields.get(name.toLowerCase());
  const converted = field?.convert(value.trim());
  if (field === undefined || converted === undefined) return null;
  Object.assign(settings[field.layer], { [field.name]: converted });
  return `${field.layer}.${field.name}`;
}
