/** What engine directives add up to: settings with units. The last one of a kind counts. */

import { decodeUtf8, type ByteString } from '../../../base/byte-string.ts';
import { decisions } from '../../contract/decision.ts';
import type { DirectiveArgument, DirectiveDefinition } from '../features/directives/definition.ts';
import type { ProgramSettings } from '../transaction/types.ts';
import type { ConfigDirective, Directive, Token } from '../language/ast.ts';
import { quoteForMessage } from '../language/diagnostic.ts';
import { didYouMean } from '../language/nearest-name.ts';
import { findNamed, type LinkContext } from './link-context.ts';
import { readUnicodeMap } from './unicode-map.ts';

type MutableSettings = { -readonly [K in keyof ProgramSettings]: ProgramSettings[K] };

/** Settings that no directive changes. Source: ModSecurity reference manual. */
export const defaultSettings: ProgramSettings = {
  engine: 'off',
  requestBodyAccess: false,
  responseBodyAccess: false,
  requestBodyLimitBytes: 134_217_728,
  requestBodyNoFilesLimitBytes: 1_048_576,
  requestBodyLimitAction: 'reject',
  requestBodyExcessBytes: 0,
  requestBodyExcessAction: 'off',
  requestBodyInspectionLimitBytes: 0,
  multipartBodyLimitBytes: 0,
  inspectsUnparsed: false,
  decision: 'crs',
  scoreWeights: 'none',
  watchScore: 0,
  challengeScore: 0,
  blockScore: 0,
  responseBodyLimitBytes: 524_288,
  responseBodyLimitAction: 'reject',
  responseBodyMimeTypes: ['text/plain', 'text/html'],
  argumentsMax: 1000,
  argumentSeparator: '&',
  pathReadings: false,
  renamedValues: false,
  jsonDepthMax: 10_000,
  uploadFilesMax: 100,
  collectionTimeoutSeconds: 3600,
  parseXmlIntoArgs: 'off',
  pcreMatchLimit: 100_000,
  auditEngine: 'off',
  auditLogParts: 'ABCFHZ',
  componentSignatures: [],
  webAppId: '',
  sensorId: '',
  unicodeMap: null,
};

/** Reads the settings out of the directives, in order. Errors: reported. */
export function linkSettings(
  directives: readonly Directive[],
  context: LinkContext,
): ProgramSettings {
  const settings: MutableSettings = { ...defaultSettings };
  let typesStated = false;
  for (const directive of directives) {
    if (directive.kind !== 'Config') continue;
    const definition = findNamed(context.directives, directive.name, context.report);
    if (definition === null || !isAccepted(directive, definition, context)) continue;
    const name = definition.name.toLowerCase();
    if (name === 'secresponsebodymimetype') {
      settings.responseBodyMimeTypes = mimeTypes(directive, typesStated ? settings : null);
      typesStated = true;
    }
    if (name === 'secresponsebodymimetypesclear') {
      settings.responseBodyMimeTypes = [];
      typesStated = true;
    }
    setters.get(name)?.({
      settings,
      directive,
      context,
      value: directive.arguments[0]?.text ?? '',
    });
  }
  return settings;
}

function mimeTypes(directive: ConfigDirective, before: MutableSettings | null): readonly string[] {
  const added = directive.arguments.map((token) => token.text.toLowerCase());
  return [...new Set([...(before?.responseBodyMimeTypes ?? []), ...added])];
}

/** True when the directive is to take effect; says what is refused, ignored or ill-formed. */
function isAccepted(
  directive: ConfigDirective,
  definition: DirectiveDefinition,
  context: LinkContext,
): boolean {
  const { name, status, note } = definition;
  if (status === 'refused') {
    const off =
      directive.arguments.length === 1 && /^off$/i.test(directive.arguments[0]?.text ?? '');
    if (off) {
      const message = `${name} has no effect: the feature is not there`;
      context.report('warning', 'ignored-directive', message, directive.span);
    } else {
      context.report('error', 'refused-directive', `${name}: ${note ?? ''}`, directive.span);
    }
    return false;
  }
  if (!hasFittingArguments(directive, definition, context)) return false;
  if (status === 'ignored' || status === 'mapped') {
    const message = `${name} has no effect of its own: ${note ?? ''}`;
    context.report('warning', `${status}-directive`, message, directive.span);
  }
  return true;
}

function hasFittingArguments(
  directive: ConfigDirective,
  definition: DirectiveDefinition,
  context: LinkContext,
): boolean {
  const grammar = definition.arguments ?? [];
  const given = directive.arguments;
  const least = grammar.length - (definition.optionalArguments ?? 0);
  const most = definition.repeated === true ? Infinity : grammar.length;
  if (given.length < least || given.length > most) {
    const count = least === most ? `${most}` : `at least ${least}`;
    const message = `${definition.name} takes ${count} argument(s), got ${given.length}`;
    context.report('error', 'argument-count', message, directive.span);
    return false;
  }
  return given.every((token, index) => {
    const argument = grammar[Math.min(index, grammar.length - 1)];
    return argument === undefined || fits(token, argument, definition, context);
  });
}

function fits(
  token: Token,
  argument: DirectiveArgument,
  definition: DirectiveDefinition,
  context: LinkContext,
): boolean {
  if (argument.kind === 'text') return true;
  const shown = quoteForMessage(token.text);
  let expected: string;
  if (argument.kind === 'choice') {
    const wanted = token.text.toLowerCase();
    if (argument.values.some((value) => value.toLowerCase() === wanted)) return true;
    expected = `one of ${argument.values.join(', ')}, got ${shown}`;
    expected += didYouMean(token.text, argument.values);
  } else {
    const value = /^\d{1,10}$/.test(token.text) ? Number(token.text) : -1;
    if (value >= argument.min && value <= argument.max) return true;
    expected = `a whole number from ${argument.min} to ${argument.max}, got ${shown}`;
  }
  const message = `${definition.name}: expected ${expected}`;
  context.report('error', 'bad-argument', message, token.span);
  return false;
}

interface Setting {
  readonly settings: MutableSettings;
  readonly directive: ConfigDirective;
  readonly context: LinkContext;
  /** The first argument, checked against the directive's grammar. */
  readonly value: ByteString;
}

/** The numeric setting that a directive sets, by the directive's name in lower case. */
const numbers = {
  secrequestbodylimit: 'requestBodyLimitBytes',
  secrequestbodynofileslimit: 'requestBodyNoFilesLimitBytes',
  secrequestbodyexcesslimit: 'requestBodyExcessBytes',
  secrequestbodyinspectionlimit: 'requestBodyInspectionLimitBytes',
  secmultipartbodylimit: 'multipartBodyLimitBytes',
  secrequestbodyjsondepthlimit: 'jsonDepthMax',
  secresponsebodylimit: 'responseBodyLimitBytes',
  secargumentslimit: 'argumentsMax',
  secuploadfilelimit: 'uploadFilesMax',
  seccollectiontimeout: 'collectionTimeoutSeconds',
  secpcrematchlimit: 'pcreMatchLimit',
  secwatchscore: 'watchScore',
  secchallengescore: 'challengeScore',
  secblockscore: 'blockScore',
} as const;

const setters: ReadonlyMap<string, (setting: Setting) => void> = new Map([
  ...Object.entries(numbers).map(([name, field]): [string, (setting: Setting) => void] => [
    name,
    ({ settings, value }) => void (settings[field] = Number(value)),
  ]),
  ['secruleengine', ({ settings, value }) => void (settings.engine = engineMode(value))],
  [
    'secrequestbodyaccess',
    ({ settings, value }) => void (settings.requestBodyAccess = isOn(value)),
  ],
  [
    'secresponsebodyaccess',
    ({ settings, value }) => void (settings.responseBodyAccess = isOn(value)),
  ],
  [
    'secrequestbodylimitaction',
    ({ settings, value }) => void (settings.requestBodyLimitAction = limitAction(value)),
  ],
  [
    'secrequestbodyexcessaction',
    ({ settings, value }) => void (settings.requestBodyExcessAction = excessAction(value)),
  ],
  [
    'secresponsebodylimitaction',
    ({ settings, value }) => void (settings.responseBodyLimitAction = limitAction(value)),
  ],
  ['secdecision', ({ settings, value }) => void (settings.decision = decisionOf(value))],
  ['secscoreweights', ({ settings, value }) => void (settings.scoreWeights = value)],
  ['secinspectunparsed', ({ settings, value }) => void (settings.inspectsUnparsed = isOn(value))],
  ['secauditengine', ({ settings, value }) => void (settings.auditEngine = auditMode(value))],
  [
    'secparsexmlintoargs',
    ({ settings, value }) => void (settings.parseXmlIntoArgs = xmlMode(value)),
  ],
  ['secauditlogparts', setAuditLogParts],
  ['secargumentseparator', setArgumentSeparator],
  [
    'seccomponentsignature',
    ({ settings, value }) =>
      void (settings.componentSignatures = [...settings.componentSignatures, decodeUtf8(value)]),
  ],
  ['secwebappid', ({ settings, value }) => void (settings.webAppId = value)],
  ['secsensorid', ({ settings, value }) => void (settings.sensorId = value)],
  ['secunicodemapfile', setUnicodeMap],
  ['secxmlexternalentity', checkExternalEntity],
]);

function isOn(value: ByteString): boolean {
  return value.toLowerCase() === 'on';
}

function engineMode(value: ByteString): ProgramSettings['engine'] {
  return value.toLowerCase() === 'detectiononly' ? 'detectionOnly' : isOn(value) ? 'on' : 'off';
}

function xmlMode(value: ByteString): ProgramSettings['parseXmlIntoArgs'] {
  return value.toLowerCase() === 'onlyargs' ? 'onlyArgs' : isOn(value) ? 'on' : 'off';
}

function auditMode(value: ByteString): ProgramSettings['auditEngine'] {
  return value.toLowerCase() === 'relevantonly' ? 'relevantOnly' : isOn(value) ? 'on' : 'off';
}

function limitAction(value: ByteString): ProgramSettings['requestBodyLimitAction'] {
  return value.toLowerCase() === 'reject' ? 'reject' : 'processPartial';
}

function decisionOf(value: ByteString): ProgramSettings['decision'] {
  const wanted = value.toLowerCase();
  return decisions.find((one) => one.toLowerCase() === wanted) ?? 'crs';
}

function excessAction(value: ByteString): ProgramSettings['requestBodyExcessAction'] {
  const action = value.toLowerCase();
  return action === 'block' || action === 'record' ? action : 'off';
}

function setAuditLogParts({ settings, directive, context, value }: Setting): void {
  if (/^[A-KZ]+$/.test(value)) settings.auditLogParts = value;
  else {
    const shown = quoteForMessage(value);
    const message = `SecAuditLogParts: expected letters A to K and Z, got ${shown}`;
    context.report('error', 'bad-argument', message, directive.span);
  }
}

function setArgumentSeparator({ settings, directive, context, value }: Setting): void {
  if (value.length === 1) settings.argumentSeparator = value;
  else {
    const message = 'SecArgumentSeparator: expected one byte';
    context.report('error', 'bad-argument', message, directive.span);
  }
}

/** XML never refers to the outside here; a request for it gets a warning. */
function checkExternalEntity({ directive, context, value }: Setting): void {
  if (!isOn(value)) return;
  const message = 'SecXmlExternalEntity stays Off: external entities are never loaded';
  context.report('warning', 'ignored-directive', message, directive.span);
}

const defaultCodePage = 20127;

function setUnicodeMap({ settings, directive, context, value }: Setting): void {
  const codePage = Number(directive.arguments[1]?.text ?? defaultCodePage);
  const text = context.readDataFile(value, directive.span.file);
  const map = text === null ? null : readUnicodeMap(text, codePage);
  if (map !== null) settings.unicodeMap = map;
  else {
    const what = text === null ? 'the file cannot be read' : `it has no code page ${codePage}`;
    const message = `SecUnicodeMapFile: ${what}`;
    context.report('error', 'bad-unicode-map', message, directive.span);
  }
}
