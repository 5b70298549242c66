/**
 * The rules about request bodies that stand before any ruleset: which parser reads one, what
 * happens when it fails, what happens past the limit. Pure text.
 */

import type {
  ArgLimitsJson,
  CrsCoreSettingsJson,
  HttpPolicyJson,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { CrsSettings } from './crs-setup.ts';

const processorRules = 199_300;
const excessRule = 199_400;
const multipartErrorRule = 199_401;
const ambiguousPartRule = 199_402;
const inspectionLimitRule = 199_403;
const fieldExcessRule = 199_404;
const lateLimitRule = 199_405;
const responseLimitRule = 199_406;
const hiddenEncodingRule = 199_407;
const encodedPartRule = 199_408;
const codedExcessRule = 199_409;

/** SecLang: the policy's own media types, then the rules 200000 to 200006 that CRS expects. */
export function renderBodyRules({ crsCore, httpPolicy: http, argLimits }: CrsSettings): string {
  return [
    ...processorSection(http),
    excessSection(crsCore),
    inspectionLimitSection(crsCore, argLimits),
    parseErrorSection(http),
    multipartSection,
    ambiguousPartSection(http),
    http.allowUnusualRequests === true ? encodedPartSection : '',
  ].join('\n');
}

/** A media type that the policy names is read as it says, whatever else would apply. */
function processorSection(http: HttpPolicyJson): string[] {
  const overrides = overrideRules(http);
  if (overrides.length === 0) return [standardProcessors];
  return [...overrides, standardProcessors, 'SecMarker END-BODY-PROCESSORS'];
}

function overrideRules({ bodyProcessorOverrides = [] }: HttpPolicyJson): string[] {
  const processors: Readonly<Record<string, string>> = {
    BODY_PROCESSOR_JSON: 'ctl:requestBodyProcessor=JSON',
    BODY_PROCESSOR_XML: 'ctl:requestBodyProcessor=XML',
    BODY_PROCESSOR_URLENCODED: 'ctl:requestBodyProcessor=URLENCODED',
    BODY_PROCESSOR_RAW: 'ctl:forceRequestBodyVariable=On',
  };
  return bodyProcessorOverrides.flatMap(({ contentTypePrefix = '', processor = '' }, at) => {
    const control = processors[processor];
    if (control === undefined) return [];
    const type = contentTypePrefix.toLowerCase().replace(/[^a-z0-9/]/g, '\\$&');
    return [
      `SecRule REQUEST_HEADERS:Content-Type "@rx ^${type}\\s*(?:;|$)" \\
  "id:${processorRules + at},phase:1,t:none,t:lowercase,pass,nolog,${control},\\
  skipAfter:END-BODY-PROCESSORS"`,
    ];
  });
}

const standardProcessors = `SecRule REQUEST_HEADERS:Content-Type \\
  "@rx ^(?:application(?:/soap\\+|/)|text/)xml" \\
  "id:200000,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"
SecRule REQUEST_HEADERS:Content-Type "@rx ^application/json" \\
  "id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
SecRule REQUEST_HEADERS:Content-Type "@rx ^application/[a-z0-9.-]+[+]json" \\
  "id:200006,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"`;

function excessSection({ requestBodyLimitAction }: CrsCoreSettingsJson): string {
  const message = (id: number, decision: string, remark: string): string => `"id:${id},phase:2,\\
  t:none,log,${decision},severity:4,\\
  msg:'The request body is larger than the policy allows${remark}'"`;
  // Fields of multipart bodies have a limit of their own, which always rejects.
  const fields = `SecRule REQBODY_ERROR_MSG \\
  "@beginsWith Request body excluding files is bigger" \\
  `;
  if (requestBodyLimitAction !== 'REQUEST_BODY_LIMIT_ACTION_OBSERVE') {
    return `${fields}${message(excessRule, 'deny,status:413', '')}`;
  }
  return `SecRule INBOUND_DATA_ERROR "@eq 1" \\
  ${message(excessRule, 'pass', ' (observed)')}
${fields}${message(fieldExcessRule, 'deny,status:413', '')}`;
}

/** A limit of inspection: what lies past it is refused, or inspected as well as can be. */
function inspectionLimitSection(core: CrsCoreSettingsJson, limits: ArgLimitsJson): string {
  const observed = limits.argumentLimitAction === 'ARGUMENT_LIMIT_ACTION_OBSERVE';
  const long = core.requestBodyLimitAction === 'REQUEST_BODY_LIMIT_ACTION_OBSERVE';
  // A body that may be longer than what is inspected is no reason to refuse it.
  const condition =
    long && !observed
      ? 'INSPECTION_LIMIT_ERROR_MSG "!@within body-bytes"'
      : 'INSPECTION_LIMIT_ERROR "!@eq 0"';
  return `SecRule ${condition} \\
  "id:${inspectionLimitRule},phase:2,t:none,log,${observed ? 'pass' : 'deny,status:413'},\\
  severity:4,msg:'A limit of inspection was reached${observed ? ' (observed)' : ''}',\\
  logdata:'%{INSPECTION_LIMIT_ERROR_MSG}'"`;
}

/**
 * SecLang that comes after all other rules: limits that rules reach while they run, and answers of
 * which only the beginning was inspected. No setting refuses such an answer: it is recorded.
 */
export function renderLateLimitRules({ argLimits }: CrsSettings): string {
  const observed = argLimits.argumentLimitAction === 'ARGUMENT_LIMIT_ACTION_OBSERVE';
  const rule = (id: number, phase: number, names: string, decision: string): string =>
    `SecRule INSPECTION_LIMIT_ERROR "!@eq 0" \\
  "id:${id},phase:${phase},t:none,log,${decision},severity:4,\\
  msg:'A limit of inspection was reached${decision === 'pass' ? ' (observed)' : ''}',\\
  logdata:'%{INSPECTION_LIMIT_ERROR_MSG}',chain"
  SecRule INSPECTION_LIMIT_ERROR_MSG "@rx (?:^|,)(?:${names})(?:,|$)" "t:none"
`;
  const whileRunning = 'verify-candidates|xpath-nodes|xpath-text';
  return (
    rule(lateLimitRule, 2, whileRunning, observed ? 'pass' : 'deny,status:413') +
    rule(responseLimitRule, 4, 'response-bytes', 'pass')
  );
}

/**
 * Only JSON and XML may fail unpunished, in encodings that show what they say: what multipart and
 * other encodings hide from us is never let through.
 */
function parseErrorSection({ requestBodyParseFailureAction }: HttpPolicyJson): string {
  const message = "msg:'Failed to parse request body.',logdata:'%{reqbody_error_msg}',severity:2";
  const observed = requestBodyParseFailureAction === 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE';
  const never = `SecRule REQBODY_PROCESSOR "@streq MULTIPART" \\
  "id:${multipartErrorRule},phase:2,t:none,log,deny,status:400,${message},chain"
  SecRule REQBODY_ERROR "!@eq 0" "t:none"
SecRule REQBODY_ERROR_MSG "@rx ^(?:XML|Multipart|Charset|Content coding): an encoding that is not read" \\
  "id:${hiddenEncodingRule},phase:2,t:none,log,deny,status:400,${message}"
SecRule REQBODY_ERROR_MSG "@streq Content coding: more than is inspected" \\
  "id:${codedExcessRule},phase:2,t:none,log,deny,status:413,${message}"
`;
  return `${observed ? never : ''}SecRule REQBODY_ERROR "!@eq 0" \\
  "id:200002,phase:2,t:none,log,${observed ? 'pass' : 'deny,status:400'},\\
  ${message}"`;
}

/** Where it is observed, the part is inspected as a field and as a file, under all its names. */
function ambiguousPartSection({ requestBodyParseFailureAction }: HttpPolicyJson): string {
  const observed = requestBodyParseFailureAction === 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE';
  return `SecRule MULTIPART_AMBIGUOUS_PART "!@eq 0" \\
  "id:${ambiguousPartRule},phase:2,t:none,log,${observed ? 'pass' : 'deny,status:400'},severity:2,\\
  msg:'A multipart part can be read as a field and as a file, or under several names.'"
`;
}

/** Stands for CRS 922120, which refuses the encodings of Java mail that change nothing, too. */
const encodedPartSection = `SecRule MULTIPART_PART_HEADERS \\
  "@rx ^content-transfer-encoding[\\x00-\\x20]*:" \\
  "id:${encodedPartRule},phase:2,t:none,t:lowercase,log,deny,status:400,severity:2,\\
  msg:'Only some servers decode the encoding of this multipart part.',\\
  logdata:'%{MATCHED_VAR}',chain"
  SecRule MATCHED_VARS "!@rx ^content-transfer-encoding:\\s*(?:7bit|8bit|binary)\\s*$" \\
    "t:none,t:lowercase"
`;

const multipartSection = `SecRule MULTIPART_TWO_READINGS "!@eq 0" \\
  "id:200003,phase:2,t:none,log,deny,status:400,severity:2,\\
  msg:'Multipart request body that backends read differently: \\
%{MULTIPART_TWO_READINGS_REASON}', \\
  logdata:'PE %{REQBODY_PROCESSOR_ERROR}, BQ %{MULTIPART_BOUNDARY_QUOTED}, \\
BW %{MULTIPART_BOUNDARY_WHITESPACE}, DB %{MULTIPART_DATA_BEFORE}, \\
DA %{MULTIPART_DATA_AFTER}, HF %{MULTIPART_HEADER_FOLDING}, LF %{MULTIPART_LF_LINE}, \\
SM %{MULTIPART_MISSING_SEMICOLON}, IQ %{MULTIPART_INVALID_QUOTING}, \\
IP %{MULTIPART_INVALID_PART}, IH %{MULTIPART_INVALID_HEADER_FOLDING}, \\
FL %{MULTIPART_FILE_LIMIT_EXCEEDED}, AB %{MULTIPART_AMBIGUOUS_BOUNDARY}'"
SecRule MULTIPART_UNMATCHED_BOUNDARY "@eq 1" \\
  "id:200004,phase:2,t:none,log,deny,status:400,severity:2,\\
  msg:'Multipart parser detected a possible unmatched boundary.'"
SecRule TX:/^MSC_/ "!@streq 0" \\
  "id:200005,phase:2,t:none,log,deny,status:500,\\
  msg:'Internal error flagged: %{MATCHED_VAR_NAME}'"
`;
