/**
 * Reports of matches: the plain record that evidence keeps, and a log line in ModSecurity's
 * wording. Texts are expanded when the whole chain has matched. Decides nothing about matching.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { HiddenNames, stars } from '../../base/hidden-names.ts';
import { isSecretNameIn } from '../../base/secret-names.ts';
import { secretsIn } from '../../base/secret-text.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import type { MatchedRule, MatchedVariable } from '../../contract/verdict.ts';
import { expandMacroStart } from './macro.ts';
import type { Transaction } from './transaction.ts';
import type { MacroText, Rule } from './types.ts';
import { SOURCE } from './values.ts';

/**
 * The record of a rule whose whole chain has just matched.
 * Limits: `reportedVariablesMax` variables (the last ones), values and texts cut.
 */
export function buildMatchedRule(rule: Rule, tx: Transaction): MatchedRule {
  const { kind } = rule.disruption;
  const blocks = kind === 'deny' || kind === 'drop' || kind === 'redirect';
  return {
    ruleId: rule.id,
    phase: rule.phase,
    message: rule.message ? expandShort(rule.message, tx) : '',
    data: rule.logData ? expandShort(rule.logData, tx) : '',
    severity: rule.severity,
    tags: expandTags(rule, tx),
    operator: lastLink(rule).operatorText,
    matched: reportVariables(tx),
    disruptive: blocks && tx.control.engine === 'on',
    file: rule.location.file,
    line: rule.location.line,
    rev: rule.rev,
    ver: rule.ver,
    maturity: rule.maturity,
    accuracy: rule.accuracy,
    log: rule.log,
    auditLog: rule.auditLog,
    ...(tx.scoreAdded === 0 ? null : { score: tx.scoreAdded }),
  };
}

/** Texts of tags that hold no reference, as a rule set's own are: one list for all its records. */
const fixedTags = new WeakMap<Rule['tags'], readonly ByteString[] | null>();

function expandTags({ tags }: Rule, tx: Transaction): readonly ByteString[] {
  let fixed = fixedTags.get(tags);
  if (fixed === undefined) {
    const isFixed = tags.every(({ literal }) => literal !== null);
    fixed = isFixed ? tags.map((tag) => expandShort(tag, tx)) : null;
    fixedTags.set(tags, fixed);
  }
  return fixed ?? tags.map((tag) => expandShort(tag, tx));
}

const noRecords: readonly MatchedRule[] = [];

/** The records with the values hidden that sanitise actions named; for the end of a transaction. */
export function maskSanitised(tx: Transaction): readonly MatchedRule[] {
  // The result outlives the transaction, which keeps an empty list for the next request.
  if (tx.matchedRules.length === 0) return noRecords;
  if (tx.sanitised.length === 0) return tx.matchedRules;
  const hidden = new HiddenNames(tx.sanitised);
  const secrets = hiddenValues(tx, hidden);
  return tx.matchedRules.map((record) => maskRecord(record, hidden, secrets));
}

/**
 * One line as ModSecurity 3 writes it to the server's error log.
 * Shape: bytes; control bytes and bytes from 0x7F on as \xHH.
 */
export function formatErrorLogLine(record: MatchedRule, tx: Transaction, status = 403): ByteString {
  const head = record.disruptive
    ? `ModSecurity: Access denied with code ${status} (phase ${record.phase}). `
    : 'ModSecurity: Warning. ';
  const fields: [name: string, value: string | number][] = [
    ['file', record.file],
    ['line', record.line],
    ['id', record.ruleId],
    ['rev', record.rev],
    ['msg', record.message],
    ['data', record.data],
    ['severity', Math.max(0, record.severity)],
    ['ver', record.ver],
    ['maturity', record.maturity],
    ['accuracy', record.accuracy],
    ...record.tags.map((tag): [string, string] => ['tag', tag]),
    ['hostname', tx.request.connection.serverIp],
    ['unique_id', tx.request.requestId],
  ];
  const text = fields.map(([name, value]) => `[${name} "${escapeLog(String(value))}"]`).join(' ');
  return `${head}${describeMatch(record)} ${text}`;
}

function describeMatch(record: MatchedRule): ByteString {
  const last = record.matched.at(-1);
  if (record.operator === '' || !last) return 'Unconditional match in SecAction.';
  const parsed = /^\s*!?\s*(?:@(\S+)\s*)?(.*)$/s.exec(record.operator);
  const name = displayName(parsed?.[1] ?? 'rx');
  const parameter = escapeLog((parsed?.[2] ?? '').slice(0, 200));
  const value = escapeLog(last.value.slice(0, 100));
  return (
    `Matched "Operator \`${name}' with parameter \`${parameter}' against variable ` +
    `\`${escapeLog(last.name)}' (Value: \`${value}' )`
  );
}

const displayNames: Readonly<Record<string, string>> = { streq: 'StrEq', strmatch: 'StrMatch' };

/** `rx` is shown as Rx, `beginsWith` as BeginsWith. */
export function displayName(operator: string): string {
  const known = displayNames[operator.toLowerCase()];
  return known ?? operator.charAt(0).toUpperCase() + operator.slice(1);
}

/** Bytes that could break a line or a terminal, as \xHH. */
export function escapeLog(text: ByteString): ByteString {
  return text.replace(
    /[^\x20-\x7e]/g,
    (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

function lastLink(rule: Rule): Rule {
  let link = rule;
  while (link.next) link = link.next;
  return link;
}

function reportVariables(tx: Transaction): MatchedVariable[] {
  return tx.matchedVariables
    .slice(-ruleRunLimits.reportedVariablesMax)
    .map(({ key, value }) => ({ name: key, value: shorten(value) }));
}

/** Values of a megabyte are not put together to be cut afterwards: dozens of rules may show one. */
function expandShort(text: MacroText, tx: Transaction): ByteString {
  return expandMacroStart(text, tx, ruleRunLimits.reportedValueBytesMax);
}

function shorten(text: ByteString): ByteString {
  const max = ruleRunLimits.reportedValueBytesMax;
  return text.length > max ? text.slice(0, max) : text;
}

/** Values of arguments, headers and cookies whose names are hidden. */
function hiddenValues(tx: Transaction, hidden: HiddenNames): ByteString[] {
  const { values } = tx;
  const found = new Set<ByteString>();
  for (const [source, name] of namedSources) {
    for (const row of values.rowsOf(source)) {
      if (hidden.has(`${name}:${values.key(row)}`)) found.add(values.value(row));
    }
  }
  return [...found].filter((value) => value.length >= secretBytesMin);
}

const namedSources = [
  [SOURCE.argGet, 'args'],
  [SOURCE.argPost, 'args'],
  [SOURCE.requestHeader, 'request_headers'],
  [SOURCE.requestCookie, 'request_cookies'],
  [SOURCE.argRenamed, 'args'],
  [SOURCE.headerRenamed, 'request_headers'],
  [SOURCE.cookieRenamed, 'request_cookies'],
  [SOURCE.responseHeader, 'response_headers'],
] as const;

/**
 * Values of fields whose names stand for secrets, where rules matched: events hide them wherever
 * they turn up. Limits: `secretsMax` values, each cut as reported ones are.
 */
export function secretsOf(tx: Transaction): readonly ByteString[] {
  const found = new Set<ByteString>();
  if (tx.matchedRules.length === 0) return noSecrets;
  const { values } = tx;
  const { slab, keyStart, keyEnd, start, end } = values;
  // Where the last name that was asked about stands.
  let asked = -1;
  let askedEnd = -1;
  let secret = false;
  for (const [source] of namedSources) {
    for (const row of values.rowsOf(source)) {
      if (found.size >= ruleRunLimits.secretsMax) return [...found];
      if (end[row] === start[row]) continue;
      // Items of a list share one name.
      if (keyStart[row] !== asked || keyEnd[row] !== askedEnd) {
        asked = keyStart[row]!;
        askedEnd = keyEnd[row]!;
        secret = isSecretNameIn(slab, asked, askedEnd);
      }
      if (!secret) continue;
      found.add(shorten(values.value(row)));
    }
  }
  for (const one of secretsOfBody(tx)) found.add(shorten(one));
  return found.size === 0 ? noSecrets : [...found];
}

const noSecrets: readonly ByteString[] = [];

/** Of a body whose values have no names in the table: XML, and what no parser read. */
function secretsOfBody(tx: Transaction): readonly ByteString[] {
  const { values, bodyStart, requestBodyBytes } = tx;
  if (requestBodyBytes === 0) return noSecrets;
  if (!tx.xmlPresent && values.rowsOf(SOURCE.argPost).length > 0) return noSecrets;
  const end = bodyStart + Math.min(requestBodyBytes, ruleRunLimits.secretTextBytesMax);
  return secretsIn(values.slab.latin1Slice(bodyStart, end), ruleRunLimits.secretsMax);
}

/** Shorter values are hidden under their names only: `1` is part of everything. */
const secretBytesMin = 3;

function maskRecord(
  record: MatchedRule,
  hidden: HiddenNames,
  secrets: readonly ByteString[],
): MatchedRule {
  const matched = record.matched.filter(({ name }) => hidden.has(name)).map(({ value }) => value);
  const values = [...matched, ...secrets].filter((value) => value !== '');
  const clean = (text: ByteString): ByteString =>
    values.reduce((rest, value) => rest.replaceAll(value, stars(value)), hidden.clean(text));
  return {
    ...record,
    message: clean(record.message),
    data: clean(record.data),
    tags: record.tags.map(clean),
    matched: record.matched.map((variable) => ({ ...variable, value: clean(variable.value) })),
  };
}
