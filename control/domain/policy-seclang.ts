/**
 * Owns the SecLang text of a policy: engine switches, body limits, setup values, the files of the
 * ruleset in order, then what the policy changes in them. Pure; never reads the files it includes.
 */

import type { PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import { crsMajor, renderCrsSetup, type CrsSettings } from './crs-setup.ts';
import type { RulesetIncludes } from './records.ts';

/** The ruleset that a policy is rendered for. */
export interface RulesetView {
  readonly version: string;
  readonly includes: RulesetIncludes;
}

/** Text an operator adds, by the place where it goes. */
export interface AddedSecLang {
  readonly beforeCrs?: string;
  readonly afterCrs?: string;
  /** Before the rules that compare the scores of a request. */
  readonly requestBeforeBlocking?: string;
  /** Before the rules that compare the scores of a response. */
  readonly responseBeforeBlocking?: string;
  /** Between the settings files of plugins and their rules. */
  readonly pluginSettings?: string;
}

/** A policy as text, with what deserves a look. */
export interface RenderedPolicy {
  readonly seclang: string;
  readonly warnings: readonly string[];
}

/** Request bodies inspected where a policy states nothing, bytes. */
export const defaultRequestBodyLimitBytes = 65_536;
/** Largest request body limit, bytes. */
export const maxRequestBodyLimitBytes = 4_194_304;
const defaultUploadBytes = 13_107_200;
const defaultResponseBodyLimitBytes = 524_288;
const defaultResponseTypes = ['text/plain', 'text/html', 'text/xml'];
const observedArgumentRules = 199_100;
const observedContentTypeRule = 199_200;
const bodyProcessorRules = 199_300;
const bodyExcessRule = 199_400;

/** Renders a policy. Cost: linear in its settings; a few kilobytes of text. */
export function renderPolicy(
  policy: PolicyJson,
  ruleset: RulesetView | null,
  added: AddedSecLang = {},
): RenderedPolicy {
  const settings: CrsSettings = {
    crsCore: policy.crsCore ?? {},
    httpPolicy: policy.httpPolicy ?? {},
    argLimits: policy.argLimits ?? {},
  };
  const warnings: string[] = [];
  const parts = [
    engineSection(policy),
    requestBodySection(settings),
    responseBodySection(settings),
    otherEngineSection(ruleset),
    defaultActionSection(policy, ruleset),
    recommendedRules(settings),
    bodyProcessorSection(settings),
  ];
  if (ruleset === null) warnings.push('the policy has no ruleset: only its own rules run');
  else parts.push(renderCrsSetup(settings, ruleset.version));
  parts.push(added.beforeCrs ?? '');
  if (ruleset !== null) {
    parts.push(includeSection(ruleset.includes, added));
    parts.push(adjustmentSection(settings, ruleset.version, warnings));
  } else parts.push(added.requestBeforeBlocking ?? '', added.responseBeforeBlocking ?? '');
  parts.push(added.afterCrs ?? '');
  return { seclang: joinParts(parts), warnings };
}

function joinParts(parts: readonly string[]): string {
  return parts
    .filter((part) => part.trim() !== '')
    .map((part) => (part.endsWith('\n') ? part : `${part}\n`))
    .join('\n');
}

function engineSection(policy: PolicyJson): string {
  const state = policy.engineState ?? 'ENGINE_STATE_ON';
  const sampledOut = policy.crsCore?.samplingPercentage === 0;
  if (state === 'ENGINE_STATE_OFF' || sampledOut) return 'SecRuleEngine Off\n';
  return `SecRuleEngine ${state === 'ENGINE_STATE_DETECTION_ONLY' ? 'DetectionOnly' : 'On'}\n`;
}

function requestBodySection({ crsCore, argLimits }: CrsSettings): string {
  const limited = crsCore.requestBodyLimitEnabled ?? true;
  const stated = Number(crsCore.requestBodyLimit ?? defaultRequestBodyLimitBytes);
  const limit = limited ? stated : maxRequestBodyLimitBytes;
  const observed = crsCore.requestBodyLimitAction === 'REQUEST_BODY_LIMIT_ACTION_OBSERVE';
  const upload = Number(argLimits.combinedFileSizes ?? defaultUploadBytes);
  const lines = ['SecRequestBodyAccess On'];
  if (observed) {
    lines.push(`SecRequestBodyLimit ${limit}`, 'SecRequestBodyLimitAction ProcessPartial');
  } else {
    lines.push(
      `SecRequestBodyLimit ${Math.max(limit, upload)}`,
      `SecRequestBodyNoFilesLimit ${limit}`,
      'SecRequestBodyLimitAction Reject',
    );
  }
  lines.push('SecRequestBodyJsonDepthLimit 512');
  return `${lines.join('\n')}\n`;
}

function responseBodySection({ crsCore }: CrsSettings): string {
  if (crsCore.responseBodyAccess !== true) return 'SecResponseBodyAccess Off\n';
  const types = crsCore.responseBodyMimeTypes ?? [];
  const limit = Number(crsCore.responseBodyLimit ?? defaultResponseBodyLimitBytes);
  return [
    'SecResponseBodyAccess On',
    `SecResponseBodyMimeType ${(types.length === 0 ? defaultResponseTypes : types).join(' ')}`,
    `SecResponseBodyLimit ${limit}`,
    'SecResponseBodyLimitAction ProcessPartial',
    '',
  ].join('\n');
}

function otherEngineSection(ruleset: RulesetView | null): string {
  const lines = ['SecArgumentSeparator &', 'SecCollectionTimeout 600'];
  const map = ruleset?.includes.unicodeMap ?? '';
  if (map !== '') lines.push(`SecUnicodeMapFile ${map} 20127`);
  return `${lines.join('\n')}\n`;
}

function defaultActionSection(policy: PolicyJson, ruleset: RulesetView | null): string {
  const selfContained = policy.blockingMode === 'BLOCKING_MODE_SELF_CONTAINED';
  const decision = selfContained ? 'deny,status:403' : 'pass';
  const phases = ruleset !== null && crsMajor(ruleset.version) < 4 ? [1, 2] : [1, 2, 3, 4, 5];
  return phases
    .map((phase) => {
      const what = phase === 5 ? 'pass' : decision;
      return `SecDefaultAction "phase:${phase},log,auditlog,${what}"\n`;
    })
    .join('');
}

/** The rules 200000 to 200006 that CRS expects from the recommended engine configuration. */
function recommendedRules({ httpPolicy, crsCore }: CrsSettings): string {
  const observed =
    httpPolicy.requestBodyParseFailureAction === 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE';
  const onParseError = observed ? 'pass' : 'deny,status:400';
  const excess =
    crsCore.requestBodyLimitAction === 'REQUEST_BODY_LIMIT_ACTION_OBSERVE'
      ? ''
      : `SecRule REQBODY_ERROR_MSG "@beginsWith Request body excluding files is bigger" \\
  "id:${bodyExcessRule},phase:2,t:none,log,deny,status:413,severity:4,\\
  msg:'The request body is larger than the policy allows'"
`;
  return `SecRule REQUEST_HEADERS:Content-Type "@rx ^(?:application(?:/soap\\+|/)|text/)xml" \\
  "id:200000,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"
SecRule REQUEST_HEADERS:Content-Type "@rx ^application/json" \\
  "id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
SecRule REQUEST_HEADERS:Content-Type "@rx ^application/[a-z0-9.-]+[+]json" \\
  "id:200006,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
${excess}SecRule REQBODY_ERROR "!@eq 0" \\
  "id:200002,phase:2,t:none,log,${onParseError},msg:'Failed to parse request body.',\\
  logdata:'%{reqbody_error_msg}',severity:2"
SecRule MULTIPART_STRICT_ERROR "!@eq 0" \\
  "id:200003,phase:2,t:none,log,deny,status:400,severity:2,\\
  msg:'Multipart request body failed strict validation: \\
PE %{REQBODY_PROCESSOR_ERROR}, BQ %{MULTIPART_BOUNDARY_QUOTED}, \\
BW %{MULTIPART_BOUNDARY_WHITESPACE}, DB %{MULTIPART_DATA_BEFORE}, \\
DA %{MULTIPART_DATA_AFTER}, HF %{MULTIPART_HEADER_FOLDING}, LF %{MULTIPART_LF_LINE}, \\
SM %{MULTIPART_MISSING_SEMICOLON}, IQ %{MULTIPART_INVALID_QUOTING}, \\
IP %{MULTIPART_INVALID_PART}, IH %{MULTIPART_INVALID_HEADER_FOLDING}, \\
FL %{MULTIPART_FILE_LIMIT_EXCEEDED}'"
SecRule MULTIPART_UNMATCHED_BOUNDARY "@eq 1" \\
  "id:200004,phase:2,t:none,log,deny,status:400,severity:2,\\
  msg:'Multipart parser detected a possible unmatched boundary.'"
SecRule TX:/^MSC_/ "!@streq 0" \\
  "id:200005,phase:2,t:none,log,deny,status:500,\\
  msg:'Internal error flagged: %{MATCHED_VAR_NAME}'"
`;
}

/** The part of CRS that reads a body of one media type as another. */
function bodyProcessorSection({ httpPolicy }: CrsSettings): string {
  const processors: Record<string, string> = {
    BODY_PROCESSOR_JSON: 'ctl:requestBodyProcessor=JSON',
    BODY_PROCESSOR_XML: 'ctl:requestBodyProcessor=XML',
    BODY_PROCESSOR_URLENCODED: 'ctl:requestBodyProcessor=URLENCODED',
    BODY_PROCESSOR_RAW: 'ctl:forceRequestBodyVariable=On',
  };
  return (httpPolicy.bodyProcessorOverrides ?? [])
    .map(({ contentTypePrefix, processor }, at) => {
      const control = processors[processor ?? ''] ?? '';
      const type = (contentTypePrefix ?? '').toLowerCase().replace(/[^a-z0-9/]/g, '\\$&');
      return control === ''
        ? ''
        : `SecRule REQUEST_HEADERS:Content-Type "@rx ^${type}\\s*(?:;|$)" \\
  "id:${bodyProcessorRules + at},phase:1,t:none,t:lowercase,pass,nolog,${control}"\n`;
    })
    .join('');
}

function includeSection(includes: RulesetIncludes, added: AddedSecLang): string {
  const lines = includes.pluginConfigs.map(include);
  lines.push(added.pluginSettings ?? '', ...includes.pluginsBefore.map(include));
  for (const file of includes.rules) {
    if (file.includes('-949-')) lines.push(added.requestBeforeBlocking ?? '');
    if (file.includes('-959-')) lines.push(added.responseBeforeBlocking ?? '');
    lines.push(include(file));
  }
  lines.push(...includes.pluginsAfter.map(include));
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

function include(file: string): string {
  return `Include ${file}`;
}

/** What the policy changes in the ruleset's rules; stands behind them. */
function adjustmentSection(settings: CrsSettings, version: string, warnings: string[]): string {
  const { argLimits, httpPolicy, crsCore } = settings;
  const lines: string[] = [];
  const limitRules: readonly (readonly [id: number, value: unknown, hard: boolean])[] = [
    [920380, argLimits.maxNumArgs, false],
    [920360, argLimits.argNameLength, false],
    [920370, argLimits.argLength, false],
    [920390, argLimits.totalArgLength, false],
    [920400, argLimits.maxFileSize, true],
    [920410, argLimits.combinedFileSizes, true],
  ];
  const observed = argLimits.argumentLimitAction === 'ARGUMENT_LIMIT_ACTION_OBSERVE';
  for (const [id, value, hard] of limitRules) {
    if (value === undefined || (observed && !hard)) continue;
    lines.push(`SecRuleUpdateActionById ${id} "deny,status:413"`);
  }
  if (observed) lines.push(...observedLimits(argLimits));
  if (httpPolicy.disallowedContentTypeAction === 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE') {
    lines.push(...observedContentType());
  }
  if (crsCore.crsXmlAttributeInspection === false && crsMajor(version) >= 4) {
    lines.push('SecRuleUpdateTargetByTag "OWASP_CRS" "!XML://@*"');
  }
  if (crsCore.crsXmlAttributeInspection === true && crsMajor(version) < 4) {
    warnings.push(
      'crsCore.crsXmlAttributeInspection: this ruleset has no rules for XML attributes',
    );
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function observedLimits(limits: NonNullable<PolicyJson['argLimits']>): string[] {
  const rule = (at: number, target: string, how: string, max: number, what: string): string =>
    `SecRule ${target} "@gt ${max}" \\
  "id:${observedArgumentRules + at},phase:2,t:none,${how}log,pass,severity:5,\\
  msg:'${what} (observed)'"`;
  const lines: string[] = [];
  const { maxNumArgs, argNameLength, argLength, totalArgLength } = limits;
  if (maxNumArgs !== undefined) lines.push(rule(0, '&ARGS', '', maxNumArgs, 'Too many arguments'));
  if (argNameLength !== undefined) {
    lines.push(rule(1, 'ARGS_NAMES', 't:length,', argNameLength, 'Argument name too long'));
  }
  if (argLength !== undefined) {
    lines.push(rule(2, 'ARGS', 't:length,', argLength, 'Argument too long'));
  }
  if (totalArgLength !== undefined) {
    lines.push(rule(3, 'ARGS_COMBINED_SIZE', '', totalArgLength, 'Arguments too long in total'));
  }
  return lines;
}

function observedContentType(): string[] {
  return [
    'SecRuleRemoveById 920420',
    `SecRule REQUEST_HEADERS:Content-Type "@rx ^[^;\\s]+" \\
  "id:${observedContentTypeRule},phase:1,t:none,capture,log,pass,severity:5,\\
  msg:'Media type outside the policy (observed)',setvar:'tx.content_type=|%{tx.0}|',chain"
  SecRule TX:content_type "!@within %{tx.allowed_request_content_type}" "t:none,t:lowercase"`,
  ];
}
