/**
 * The way from a rule file's bytes to its tree. Pure: reads no file, follows no Include,
 * knows no name; all problems come back at once as diagnostics, nothing is thrown.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { seclangLimits } from '../../../base/rule-limits.ts';
import { runAtOnce, type Steps } from '../../../base/steps.ts';
import { parseActions } from './actions.ts';
import type { Directive, Token } from './ast.ts';
import { createDiagnostics, joinSpans, type Diagnostic, type Report } from './diagnostic.ts';
import { spanOf, splitLogicalLines, type LogicalLine } from './logical-lines.ts';
import { parseOperator } from './operator.ts';
import { parseVariables } from './variables.ts';
import { splitWords, wordSpan, wordToken, type Word, type WordRules } from './words.ts';

/** A file's directives in order, Includes unresolved, and everything that is wrong with it. */
export interface ParsedFile {
  readonly directives: readonly Directive[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses the text of one rule file; a directive that cannot be read is reported and stays in the
 * list as `Invalid`, so that what follows it can be understood.
 * Cost: linear in the text. Source: ModSecurity v3 reference manual, seclang grammar.
 */
export function parseSecLang(text: ByteString, file: string): ParsedFile {
  return runAtOnce(parseInSteps(text, file));
}

/** As `parseSecLang`, a directive a step. */
export function* parseInSteps(text: ByteString, file: string): Steps<ParsedFile> {
  const { list, report } = createDiagnostics(seclangLimits.diagnosticsMax);
  if (text.length > seclangLimits.fileBytesMax) {
    const span = { file, line: 1, column: 1, endLine: 1, endColumn: 1 };
    const message = `the file is longer than ${seclangLimits.fileBytesMax} bytes`;
    report('error', 'file-too-long', message, span);
    return { directives: [], diagnostics: list };
  }
  const directives: Directive[] = [];
  for (const line of splitLogicalLines(file, text, report)) {
    directives.push(parseLine(line, report) ?? invalidDirective(line));
    yield;
  }
  return { directives, diagnostics: list };
}

function invalidDirective(line: LogicalLine): Directive {
  const start = line.text.search(/\S/);
  const end = start + (/^\S+/.exec(line.text.slice(start, start + 80))?.[0].length ?? 0);
  const name = { text: line.text.slice(start, end), span: spanOf(line, start, end) };
  return { kind: 'Invalid', name, span: spanOf(line, start, line.text.length) };
}

function parseLine(line: LogicalLine, report: Report): Directive | null {
  if (line.text.length > seclangLimits.logicalLineBytesMax) {
    const message = `the directive is longer than ${seclangLimits.logicalLineBytesMax} bytes`;
    report('error', 'directive-too-long', message, spanOf(line, 0, 1));
    return null;
  }
  const words = splitWords(line, wordRules, report);
  const [name, ...rest] = words ?? [];
  if (name === undefined) return null;
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name.text)) {
    const span = wordSpan(name, 0, name.text.length);
    const message = name.text.startsWith('<')
      ? "a web server's sections are not part of a rule file"
      : 'expected the name of a directive';
    report('error', 'expected-directive', message, span);
    return null;
  }
  return readDirective(name, rest, report);
}

function readDirective(name: Word, rest: readonly Word[], report: Report): Directive | null {
  const base = {
    name: wordToken(name),
    span: joinSpans(wordSpan(name, 0, name.text.length), lastSpan(rest.at(-1) ?? name)),
  };
  const reader = readers.get(name.text.toLowerCase());
  if (reader === undefined) {
    return { kind: 'Config', ...base, arguments: rest.map((word) => wordToken(word)) };
  }
  if (rest.length < reader.least || rest.length > reader.most) {
    report('error', 'argument-count', `${name.text} takes ${reader.usage}`, base.span);
    return null;
  }
  return reader.read(base, rest, report);
}

/** The last word's span with its closing quote. */
function lastSpan(word: Word): Token['span'] {
  const span = wordSpan(word, 0, word.text.length);
  return word.quote === '' ? span : { ...span, endColumn: span.endColumn + 1 };
}

/** ModSecurity v3 takes an action list whose closing quote is missing; so do rules in use. */
const wordRules: WordRules = {
  hasSelectors(directive, index) {
    if (/^SecRule$/i.test(directive)) return index === 1;
    return /^SecRuleUpdateTarget/i.test(directive) && index >= 2;
  },
  mayEndOpen(directive, index) {
    if (/^SecRule$/i.test(directive)) return index === 3;
    return /^Sec(?:Default)?Action$/i.test(directive) && index === 1;
  },
};

interface Base {
  readonly name: Token;
  readonly span: Token['span'];
}

interface Reader {
  readonly least: number;
  readonly most: number;
  readonly usage: string;
  read(base: Base, words: readonly Word[], report: Report): Directive | null;
}

const readRule: Reader = {
  least: 2,
  most: 3,
  usage: 'targets, an operator and, optionally, actions (quote each that holds white space)',
  read(base, [targets, operand, list], report) {
    if (targets === undefined || operand === undefined) return null;
    const variables = parseVariables(targets, report);
    const operator = parseOperator(operand, report);
    const actions = list === undefined ? [] : parseActions(list, report);
    if (variables === null || operator === null || actions === null) return null;
    return { kind: 'SecRule', ...base, variables, operator, actions };
  },
};

function actionListReader(kind: 'SecAction' | 'SecDefaultAction'): Reader {
  return {
    least: 1,
    most: 1,
    usage: 'one argument, the actions (quote them when they hold white space)',
    read(base, [list], report) {
      const actions = list === undefined ? null : parseActions(list, report);
      return actions === null ? null : { kind, ...base, actions };
    },
  };
}

const readMarker: Reader = {
  least: 1,
  most: 1,
  usage: 'one argument, the label',
  read: (base, [label]) =>
    label === undefined ? null : { kind: 'SecMarker', ...base, label: wordToken(label) },
};

const readRemoveById: Reader = {
  least: 1,
  most: seclangLimits.variablesMax,
  usage: 'ids or ranges of ids',
  read: (base, words) => ({
    kind: 'SecRuleRemoveById',
    ...base,
    ids: words.map((word) => wordToken(word)),
  }),
};

function removeByTextReader(kind: 'SecRuleRemoveByTag' | 'SecRuleRemoveByMsg'): Reader {
  return {
    least: 1,
    most: 1,
    usage: 'one argument, the text to look for',
    read: (base, [word]) =>
      word === undefined ? null : { kind, ...base, pattern: wordToken(word) },
  };
}

function updateTargetReader(
  kind: 'SecRuleUpdateTargetById' | 'SecRuleUpdateTargetByTag' | 'SecRuleUpdateTargetByMsg',
): Reader {
  return {
    least: 2,
    most: 3,
    usage: 'what to change, the targets and, optionally, the target they replace',
    read(base, [subject, targets, old], report) {
      if (subject === undefined || targets === undefined) return null;
      const variables = parseVariables(targets, report);
      const olds = old === undefined ? [] : parseVariables(old, report);
      if (variables === null || olds === null) return null;
      if (olds.length > 1) {
        report('error', 'argument-count', 'only one target can be replaced', base.span);
        return null;
      }
      return { kind, ...base, subject: wordToken(subject), variables, replaced: olds[0] ?? null };
    },
  };
}

const readUpdateAction: Reader = {
  least: 2,
  most: 2,
  usage: 'an id and the actions',
  read(base, [subject, list], report) {
    const actions = list === undefined ? null : parseActions(list, report);
    if (subject === undefined || actions === null) return null;
    return { kind: 'SecRuleUpdateActionById', ...base, subject: wordToken(subject), actions };
  },
};

const readUpdateOperator: Reader = {
  least: 2,
  most: 2,
  usage: 'an id and the operator',
  read(base, [subject, operand], report) {
    const operator = operand === undefined ? null : parseOperator(operand, report);
    if (subject === undefined || operator === null) return null;
    return { kind: 'SecRuleUpdateOperatorById', ...base, subject: wordToken(subject), operator };
  },
};

function includeReader(optional: boolean): Reader {
  return {
    least: 1,
    most: 1,
    usage: 'one argument, a file or a pattern',
    read: (base, [pattern]) =>
      pattern === undefined
        ? null
        : { kind: 'Include', ...base, pattern: wordToken(pattern), optional },
  };
}

/** Directives with a grammar of their own, by lower-case name. */
const readers: ReadonlyMap<string, Reader> = new Map([
  ['secrule', readRule],
  ['secaction', actionListReader('SecAction')],
  ['secdefaultaction', actionListReader('SecDefaultAction')],
  ['secmarker', readMarker],
  ['secruleremovebyid', readRemoveById],
  ['secruleremovebytag', removeByTextReader('SecRuleRemoveByTag')],
  ['secruleremovebymsg', removeByTextReader('SecRuleRemoveByMsg')],
  ['secruleupdatetargetbyid', updateTargetReader('SecRuleUpdateTargetById')],
  ['secruleupdatetargetbytag', updateTargetReader('SecRuleUpdateTargetByTag')],
  ['secruleupdatetargetbymsg', updateTargetReader('SecRuleUpdateTargetByMsg')],
  ['secruleupdateactionbyid', readUpdateAction],
  ['secruleupdateoperatorbyid', readUpdateOperator],
  ['include', includeReader(false)],
  ['includeoptional', includeReader(true)],
]);
