/**
 * What becomes of ModSecurity's configuration directives: a field of the policy, nothing because
 * the product settles it elsewhere, or a refusal. One row each; a name without a row is refused.
 */

import type { ConfigDirective } from '../../../../engine/rules/language/ast.ts';
import { honored, ignored, refused, type Verdict } from './report.ts';
import type { ImportedSettings } from './setup-variables.ts';

type Take = (value: string, settings: ImportedSettings, all: readonly string[]) => Verdict;

/** The fate of a directive, whose value goes into `settings` where it has a field. */
export function takeConfig(directive: ConfigDirective, settings: ImportedSettings): Verdict {
  const name = directive.name.text.toLowerCase();
  const values = directive.arguments.map(({ text }) => text);
  const take = table.get(name);
  if (take !== undefined) return take(values[0] ?? '', settings, values);
  if (!name.startsWith('sec')) return ignored('a directive of the web server, not of ModSecurity');
  return refused('unknown to this product: remove the line, or ask what took its place');
}

const logs = ignored('security events and the log policy take the place of the audit log');
const log = ignored('the log of the process takes its place: see --log-level and --log-format');
const folders = ignored('the product keeps its files in its data folder');
const uploads = ignored('uploads are never kept on disk');
const server = ignored('the product sends no such name of a server');
const engineLimits = ignored('the product bounds matching by bytes and deadlines of its own');
const connections = ignored('the listener has limits and deadlines for slow clients of its own');
const noScripts = refused('the product runs no scripts');
const hashes = ignored('of SecHashEngine, which has a line of its own');
const pdf = ignored('of SecPdfProtect, which has a line of its own');
const oldCode = 'ModSecurity itself reads this no more';

/** Taken when the value is what the product does anyway. */
const fixed =
  (expected: string, does: string): Take =>
  (value) =>
    value.toLowerCase() === expected.toLowerCase() ? honored(does) : ignored(`fixed: ${does}`);
/** Taken when it switches off what the product does not do; refused when it switches it on. */
const offOnly =
  (reason: string): Take =>
  (value) =>
    value.toLowerCase() === 'off' ? honored(`off: ${reason}`) : refused(reason);
const always =
  (verdict: Verdict): Take =>
  () =>
    verdict;

/** Bytes for a field; undefined when the value is no number in the range. */
function bytesOf(value: string, most: number): number | undefined {
  const bytes = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
  return bytes >= 1 && bytes <= most ? bytes : undefined;
}

const engineStates = new Map<string, ImportedSettings['engineState']>([
  ['on', 'on'],
  ['detectiononly', 'detection-only'],
  ['off', 'off'],
]);

const ruleEngine: Take = (value, settings) => {
  const state = engineStates.get(value.toLowerCase());
  if (state === undefined) return refused(`SecRuleEngine ${value}: wants On, DetectionOnly or Off`);
  settings.engineState = state;
  return honored('engineState');
};

const inspectedBodyMax = 4_194_304;

const noFilesLimit: Take = (value, { crsCore }) => {
  const bytes = bytesOf(value, Number.MAX_SAFE_INTEGER);
  if (bytes === undefined) return refused(`no number of bytes: ${value}`);
  crsCore.requestBodyLimit = String(Math.min(bytes, inspectedBodyMax));
  const cut = bytes > inspectedBodyMax ? `; ${inspectedBodyMax} is the most` : '';
  return honored(`crsCore.requestBodyLimit${cut}`);
};

const bodyLimit: Take = (value, { argLimits }) => {
  const bytes = bytesOf(value, 1_000_000_000_000);
  if (bytes === undefined) return refused(`no number of bytes: ${value}`);
  const known = Number(argLimits.combinedFileSizes ?? bytes);
  argLimits.combinedFileSizes = String(Math.min(known, bytes));
  return honored('argLimits.combinedFileSizes');
};

const bodyLimitActions = new Map<string, ImportedSettings['crsCore']['requestBodyLimitAction']>([
  ['processpartial', 'REQUEST_BODY_LIMIT_ACTION_OBSERVE'],
  ['reject', 'REQUEST_BODY_LIMIT_ACTION_BLOCK'],
]);

const bodyLimitAction: Take = (value, { crsCore }) => {
  const action = bodyLimitActions.get(value.toLowerCase());
  if (action === undefined) return refused(`wants Reject or ProcessPartial: ${value}`);
  crsCore.requestBodyLimitAction = action;
  return honored('crsCore.requestBodyLimitAction');
};

const responseLimit: Take = (value, { crsCore }) => {
  const bytes = bytesOf(value, 1_073_741_824);
  if (bytes === undefined) return refused(`no number of bytes up to 1 GiB: ${value}`);
  crsCore.responseBodyLimit = String(bytes);
  return honored('crsCore.responseBodyLimit');
};

const responseAccess: Take = (value, { crsCore }) => {
  if (!/^(?:on|off)$/i.test(value)) return refused(`wants On or Off: ${value}`);
  crsCore.responseBodyAccess = value.toLowerCase() === 'on';
  return honored('crsCore.responseBodyAccess');
};

const responseTypes: Take = (_value, { crsCore }, all) => {
  const types = all.flatMap((one) => one.split(/\s+/)).filter((one) => one !== '');
  const other = types.find((one) => !/^[\w.+-]+\/[\w.+-]+$/.test(one));
  if (other !== undefined) return refused(`no media type: ${other}`);
  crsCore.responseBodyMimeTypes = [
    ...new Set([...(crsCore.responseBodyMimeTypes ?? []), ...types]),
  ];
  return honored('crsCore.responseBodyMimeTypes');
};

const argumentsLimit: Take = (value, { argLimits }) => {
  const most = bytesOf(value, 1_000_000);
  if (most === undefined) return refused(`no number of arguments: ${value}`);
  argLimits.maxNumArgs = Math.min(argLimits.maxNumArgs ?? most, most);
  return honored('argLimits.maxNumArgs');
};

/** Rows with a reason of their own, then names that share one. */
const table: ReadonlyMap<string, Take> = new Map<string, Take>([
  ['secruleengine', ruleEngine],
  ['secrequestbodyaccess', fixed('on', 'request bodies are always inspected')],
  ['secrequestbodylimit', bodyLimit],
  ['secrequestbodynofileslimit', noFilesLimit],
  ['secrequestbodylimitaction', bodyLimitAction],
  ['secrequestbodyjsondepthlimit', fixed('512', 'JSON is read 512 levels deep')],
  ['secargumentslimit', argumentsLimit],
  ['secresponsebodyaccess', responseAccess],
  ['secresponsebodymimetype', responseTypes],
  ['secresponsebodylimit', responseLimit],
  [
    'secresponsebodylimitaction',
    fixed('processpartial', 'the start of a longer response is inspected, the rest passes'),
  ],
  ['secargumentseparator', fixed('&', 'arguments are parted by &')],
  ['seccookieformat', fixed('0', 'cookies are read as browsers send them (version 0)')],
  ['seccollectiontimeout', fixed('600', 'collections are kept for 600 seconds')],
  ['secunicodemapfile', always(honored('the Unicode map of the rule set'))],
  ['secxmlexternalentity', fixed('off', 'external entities are never read')],
  ['seccomponentsignature', always(ignored('a name in the audit log'))],
  ['secgeolookupdb', always(ignored('country data is kept by waf system geo-upload'))],
  ['secremoterules', always(refused('rules are never fetched while serving: copy them here'))],
  ['secrulescript', always(noScripts)],
  ['sechttpblkey', always(refused('http:BL is not asked; name DNS zones in WAF_RBL_ZONES'))],
  ['seccontentinjection', offOnly('bodies are never changed')],
  ['sechashengine', offOnly('link hashes (SecHashEngine) are not made')],
  ['secencryptionengine', offOnly('link hashes (SecEncryptionEngine) are not made')],
  ['secpdfprotect', offOnly('requests for PDF files are not redirected')],
  [
    'secparsexmlintoargs',
    offOnly('XML is inspected as XML; for some requests write a rule with ctl:parseXmlIntoArgs'),
  ],
  [
    'secignorerulecompilationerrors',
    offOnly('a rule that does not compile is refused here, see --partial'),
  ],
  ...(
    [
      [logs, 'AuditEngine AuditLog AuditLog2 AuditLogDirMode AuditLogFileMode AuditLogFormat'],
      [logs, 'AuditLogParts AuditLogRelevantStatus AuditLogStorageDir AuditLogType AuditLogPrefix'],
      [log, 'DebugLog DebugLogLevel GuardianLog RulePerfTime SensorId StatusEngine'],
      [folders, 'TmpDir DataDir ChrootDir'],
      [uploads, 'UploadDir UploadFileLimit UploadFileMode UploadKeepFiles TmpSaveUploadedFiles'],
      [server, 'ServerSignature'],
      [engineLimits, 'PcreMatchLimit PcreMatchLimitRecursion RequestBodyInMemoryLimit'],
      [engineLimits, 'CacheTransformations StreamInBodyInspection StreamOutBodyInspection'],
      [connections, 'ConnEngine ConnReadStateLimit ConnWriteStateLimit ReadStateLimit'],
      [connections, 'WriteStateLimit'],
      [ignored('it names a place in one web server'), 'WebAppId RuleInheritance'],
      [ignored('origins are offered no coding but what is decoded'), 'DisableBackendCompression'],
      [ignored('the fail policy of the site decides'), 'InterceptOnError RemoteRulesFailAction'],
      [refused('Google Safe Browsing lookups are not supported'), 'GsbLookupDb'],
      [hashes, 'HashKey HashParam HashMethodRx HashMethodPm'],
      [hashes, 'EncryptionKey EncryptionParam EncryptionMethodRx EncryptionMethodPm'],
      [pdf, 'PdfProtectMethod PdfProtectSecret PdfProtectTimeout PdfProtectTokenName'],
      [ignored(oldCode), 'RequestEncoding ServerResponseToken'],
      [ignored('code points are mapped as the Unicode map says'), 'UnicodeCodePage'],
      [honored('crsCore.responseBodyMimeTypes'), 'ResponseBodyMimeTypesClear'],
      [honored('crsCore.responseBodyMimeTypes'), 'ResponseBodyMimeTypeClear'],
    ] as const
  ).flatMap(([verdict, names]) =>
    names.split(' ').map((name): [string, Take] => [`sec${name.toLowerCase()}`, always(verdict)]),
  ),
]);
