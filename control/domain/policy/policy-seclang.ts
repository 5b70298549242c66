/**
 * The SecLang text of a policy: engine switches, body limits, setup values, the files of the
 * ruleset in order, then what the policy changes in them. Pure; never reads the files it includes.
 */

import { frontLimits } from '../../../base/delivery-limits.ts';
import { uploadLimitTag, valueLimits } from '../../../base/rule-limits.ts';
import type {
  ArgLimitsJson,
  CrsCoreSettingsJson,
  PolicyJson,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { renderBodyRules, renderLateLimitRules } from './policy-body-rules.ts';
import { crs3XmlRules } from './crs3-xml-rules.ts';
import { crsMajor, renderCrsSetup, type CrsSettings } from './crs-setup.ts';
import {
  isSampled,
  renderCrs3Removals,
  renderEarlyBlocking,
  renderMethodParameter,
  renderReports,
  renderSampledOut,
} from './crs3-settings.ts';
import { inertScoring, renderScoring } from './policy-scoring.ts';
import type { RulesetIncludes } from '../records.ts';
import {
  renderFullWidthRule,
  renderPasswordRule,
  renderGraphQlRules,
  renderNarrowedRules,
  renderUnusualRequests,
  renderUtf8Rules,
  unusualRequestRules,
} from './narrowed-rules.ts';

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
/** Bytes of the longest body that the proxy takes. */
export const longestBodyBytes = frontLimits.requestBodyBytesMax;
/** Largest request body limit, bytes. */
const maxRequestBodyLimitBytes = 4_194_304;
const defaultUploadBytes = 13_107_200;
const defaultResponseBodyLimitBytes = 524_288;
const defaultResponseTypes = ['text/plain', 'text/html', 'text/xml'];
const ownArgumentRules = 199_100;
const ownFileRules = 199_104;
const observedContentTypeRule = 199_200;

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
    renderScoring(policy, ruleset?.version ?? ''),
    defaultActionSection(policy, ruleset),
    renderBodyRules(settings),
    fileLimitRules(settings.argLimits),
  ];
  warnings.push(...inertExcess(settings), ...inertScoring(policy));
  if (ruleset === null) {
    warnings.push('the policy has no ruleset: only its own rules run');
    if (isSampled(settings.crsCore)) warnings.push(notSampled);
  } else parts.push(renderCrsSetup(settings, ruleset.version));
  if (ruleset !== null && settings.crsCore.narrowedRules === true) {
    const major = crsMajor(ruleset.version);
    parts.push(renderFullWidthRule(major), renderPasswordRule(major), renderGraphQlRules());
  }
  if (ruleset !== null && crsMajor(ruleset.version) < 4) {
    parts.push(renderMethodParameter(settings.crsCore, settings.httpPolicy));
  }
  parts.push(added.beforeCrs ?? '');
  // After overrides by path, which leave out rules of phase 1 that follow.
  if (settings.httpPolicy.allowUnusualRequests === true) {
    parts.push(renderUnusualRequests(settings.httpPolicy));
  }
  if (ruleset !== null) {
    parts.push(includeSection(ruleset, added, settings));
    parts.push(adjustmentSection(settings, ruleset.version));
  } else {
    parts.push(argumentRules(settings.argLimits).join('\n'));
    parts.push(added.requestBeforeBlocking ?? '', added.responseBeforeBlocking ?? '');
  }
  parts.push(added.afterCrs ?? '', renderLateLimitRules(settings));
  return { seclang: joinParts(parts), warnings };
}

const notSampled =
  'crsCore.samplingPercentage: sampling is of the rules of a ruleset; the own rules run for all requests';

/** Settings for what follows the request body limit, where nothing that follows is taken. */
function inertExcess({ crsCore, argLimits }: CrsSettings): string[] {
  const { requestBodyInspectionLimit, requestBodyExcessAction } = crsCore;
  const observed = crsCore.requestBodyLimitAction === 'REQUEST_BODY_LIMIT_ACTION_OBSERVE';
  const why = observed
    ? bodyExcessOf(crsCore, argLimits).action === 'off'
      ? 'crsCore.requestBodyExcessAction is OFF'
      : ''
    : 'crsCore.requestBodyLimitAction refuses longer bodies; OBSERVE takes them';
  if (why === '') return [];
  const inert = [
    ...(requestBodyInspectionLimit === undefined ? [] : ['requestBodyInspectionLimit']),
    ...(observed || isUnstated(requestBodyExcessAction) ? [] : ['requestBodyExcessAction']),
  ];
  return inert.map((name) => `crsCore.${name} has no effect: ${why}`);
}

function isUnstated(action: string | undefined): boolean {
  return action === undefined || action === 'REQUEST_BODY_EXCESS_ACTION_UNSPECIFIED';
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

/** Bytes of a body that are inspected without files, and of all its files together. */
export function bodyLimitsOf(
  crsCore: CrsCoreSettingsJson,
  argLimits: ArgLimitsJson,
): { readonly limit: number; readonly upload: number } {
  const limited = crsCore.requestBodyLimitEnabled ?? true;
  const stated = Number(crsCore.requestBodyLimit ?? defaultRequestBodyLimitBytes);
  const limit = limited ? stated : maxRequestBodyLimitBytes;
  const largest = Math.max(defaultUploadBytes, Number(argLimits.maxFileSize ?? 0));
  return { limit, upload: Number(argLimits.combinedFileSizes ?? largest) };
}

/** What happens to a body after the request body limit, where that is observed. */
export interface BodyExcess {
  readonly action: 'off' | 'record' | 'block';
  /** Bytes of a body that are inspected in all. */
  readonly inspected: number;
}

/** The bound of inspection after the request body limit, and what rules may do there. */
export function bodyExcessOf(crsCore: CrsCoreSettingsJson, argLimits: ArgLimitsJson): BodyExcess {
  const { limit } = bodyLimitsOf(crsCore, argLimits);
  const actions: Readonly<Record<string, BodyExcess['action']>> = {
    REQUEST_BODY_EXCESS_ACTION_BLOCK: 'block',
    REQUEST_BODY_EXCESS_ACTION_OFF: 'off',
  };
  const action = actions[crsCore.requestBodyExcessAction ?? ''] ?? 'record';
  if (action === 'off') return { action, inspected: limit };
  const usual = action === 'block' ? longestBodyBytes : limit + valueLimits.bodyExcessBytesMax;
  const stated = Number(crsCore.requestBodyInspectionLimit ?? usual);
  return { action, inspected: Math.max(limit, stated) };
}

function requestBodySection({ crsCore, argLimits }: CrsSettings): string {
  const { limit, upload } = bodyLimitsOf(crsCore, argLimits);
  const observed = crsCore.requestBodyLimitAction === 'REQUEST_BODY_LIMIT_ACTION_OBSERVE';
  const lines = ['SecRequestBodyAccess On'];
  if (observed) {
    const { action, inspected } = bodyExcessOf(crsCore, argLimits);
    const recorded =
      action === 'record' ? Math.min(inspected, valueLimits.multipartHeldBytesMax) : 0;
    const excess =
      action === 'block' ? Math.min(valueLimits.bodyExcessBytesMax, inspected - limit) : 0;
    lines.push(
      `SecRequestBodyLimit ${limit}`,
      `SecRequestBodyExcessLimit ${excess}`,
      `SecRequestBodyExcessAction ${action}`,
      `SecRequestBodyInspectionLimit ${inspected}`,
      // Fields of multipart bodies have it too, whatever the action.
      `SecRequestBodyNoFilesLimit ${Math.max(limit + valueLimits.bodyExcessBytesMax, recorded)}`,
      'SecRequestBodyLimitAction ProcessPartial',
    );
  } else {
    lines.push(
      `SecRequestBodyLimit ${Math.max(limit, upload)}`,
      `SecRequestBodyNoFilesLimit ${limit}`,
      'SecRequestBodyLimitAction Reject',
    );
  }
  // Fields and framing come on top of the files.
  lines.push(`SecMultipartBodyLimit ${upload + limit}`, 'SecInspectUnparsed On');
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

function includeSection(
  { includes, version }: RulesetView,
  added: AddedSecLang,
  { crsCore }: CrsSettings,
): string {
  const isCrs3 = crsMajor(version) < 4;
  const lines = includes.pluginConfigs.map(include);
  lines.push(added.pluginSettings ?? '', ...includes.pluginsBefore.map(include));
  for (const file of includes.rules) {
    if (file.includes('-949-')) {
      lines.push(added.requestBeforeBlocking ?? '');
      if (isCrs3) lines.push(renderEarlyBlocking(crsCore));
    }
    if (file.includes('-959-')) lines.push(added.responseBeforeBlocking ?? '');
    if (file.includes('-980-') && isCrs3) lines.push(renderReports(crsCore));
    lines.push(include(file));
    if (file.includes('-901-')) lines.push(renderSampledOut(crsCore, crsMajor(version)));
  }
  lines.push(...includes.pluginsAfter.map(include));
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

function include(file: string): string {
  return `Include ${file}`;
}

/** The policy's changes to the ruleset's rules. They must come after the rules. */
function adjustmentSection(settings: CrsSettings, version: string): string {
  const { argLimits, httpPolicy, crsCore } = settings;
  const lines: string[] = [];
  const limitRules: readonly (readonly [id: number, value: unknown])[] = [
    [920380, argLimits.maxNumArgs],
    [920360, argLimits.argNameLength],
    [920370, argLimits.argLength],
    [920390, argLimits.totalArgLength],
  ];
  const observed = argLimits.argumentLimitAction === 'ARGUMENT_LIMIT_ACTION_OBSERVE';
  for (const [id, value] of limitRules) {
    if (value === undefined || observed) continue;
    lines.push(`SecRuleUpdateActionById ${id} "deny,status:413"`);
  }
  if (observed) lines.push(...argumentRules(argLimits));
  if (httpPolicy.disallowedContentTypeAction === 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE') {
    lines.push(...observedContentType());
  }
  if (crsCore.crsXmlAttributeInspection === false && crsMajor(version) >= 4) {
    lines.push('SecRuleUpdateTargetByTag "OWASP_CRS" "!XML://@*"');
  }
  if (crsCore.crsXmlAttributeInspection === true && crsMajor(version) < 4) {
    lines.push(...crs3XmlRules.map((id) => `SecRuleUpdateTargetById ${id} "XML://@*"`));
  }
  const major = crsMajor(version);
  if (major < 4) lines.push(...renderCrs3Removals(crsCore));
  if (crsCore.crsSkipResponseAnalysis === true) {
    // CRS 4 itself skips phase 3 alone.
    lines.push('SecRuleRemoveById 950000-956999 959000-959999');
  }
  lines.push(renderUtf8Rules(major));
  if (crsCore.narrowedRules === true) lines.push(renderNarrowedRules(major));
  if (httpPolicy.allowUnusualRequests === true) {
    lines.push(`SecRuleRemoveById ${unusualRequestRules(major).join(' ')}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Rules of our own for argument limits: where they only observe, and where no CRS checks them. */
export function argumentRules(limits: ArgLimitsJson): string[] {
  const observed = limits.argumentLimitAction === 'ARGUMENT_LIMIT_ACTION_OBSERVE';
  const rows: readonly LimitRow[] = [
    [limits.maxNumArgs, '&ARGS', 'Too many arguments'],
    [limits.argNameLength, 'ARGS_NAMES', 'Argument name too long'],
    [limits.argLength, 'ARGS', 'Argument too long'],
    [limits.totalArgLength, 'ARGS_COMBINED_SIZE', 'Arguments too long in total'],
  ];
  return limitRules(ownArgumentRules, rows, observed);
}

/**
 * Limits of files always reject. They have own rules under every ruleset: CRS 920400 compares the
 * Content-Length, which chunked requests do not have, and exclusions must not switch them off.
 */
function fileLimitRules(limits: ArgLimitsJson): string {
  const rows: readonly LimitRow[] = [
    [limits.maxFileSize, 'FILES_SIZES', 'Uploaded file too large'],
    [limits.combinedFileSizes, 'FILES_COMBINED_SIZE', 'Files too large'],
  ];
  return limitRules(ownFileRules, rows, false, `,tag:'${uploadLimitTag}'`).join('\n');
}

type LimitRow = readonly [max: number | string | undefined, target: string, what: string];

function limitRules(
  firstId: number,
  rows: readonly LimitRow[],
  observed: boolean,
  tag = '',
): string[] {
  return rows.flatMap(([max, target, what], at) => {
    if (max === undefined) return [];
    const length = target === 'ARGS' || target === 'ARGS_NAMES' ? 't:length,' : '';
    const decision = observed ? 'pass' : 'deny,status:413';
    return [
      `SecRule ${target} "@gt ${max}" \\
  "id:${firstId + at},phase:2,t:none,${length}log,${decision},severity:5,\\
  msg:'${what}${observed ? ' (observed)' : ''}'${tag}"`,
    ];
  });
}

/** In place of 920420, where a media type outside the policy is only recorded. */
export function observedContentType(): string[] {
  return [
    'SecRuleRemoveById 920420',
    `SecRule REQUEST_HEADERS:Content-Type "@rx ^[^;\\s]+" \\
  "id:${observedContentTypeRule},phase:1,t:none,capture,log,pass,severity:5,\\
  msg:'Media type outside the policy (observed)',setvar:'tx.content_type=|%{tx.0}|',chain"
  SecRule TX:content_type "!@within %{tx.allowed_request_content_type}" "t:none,t:lowercase"`,
  ];
}
