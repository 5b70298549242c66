/**
 * Where something stands in a rule file and what is wrong with it. Diagnostics are data: the
 * language rooms collect all of them and throw nothing.
 */

import type { ByteString } from '../../../base/byte-string.ts';

/** A stretch of a rule file. Lines and columns count from 1, in bytes; the end is exclusive. */
export interface SourceSpan {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** `error` keeps a program from being built; `warning` says what is accepted but not as written. */
export type DiagnosticSeverity = 'error' | 'warning';

/** One finding; `code` is stable and kebab-case, `message` is for people and quotes rule text. */
export interface Diagnostic {
  readonly severity: DiagnosticSeverity;
  readonly code: string;
  readonly message: string;
  readonly span: SourceSpan;
}

/** Takes one diagnostic; callers hand in a collector's `add`. */
export type Report = (
  severity: DiagnosticSeverity,
  code: string,
  message: string,
  span: SourceSpan,
) => void;

/** One line for people: `file:line:column: severity: message [code]`. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { file, line, column } = diagnostic.span;
  const { severity, message, code } = diagnostic;
  return `${file}:${line}:${column}: ${severity}: ${message} [${code}]`;
}

/** True when any of `diagnostics` is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/**
 * Collects diagnostics up to `max`; past it the first dropped one leaves a note and the rest are
 * only counted, so that a hostile file cannot grow the list without end.
 */
export function createDiagnostics(max: number): { list: Diagnostic[]; report: Report } {
  const list: Diagnostic[] = [];
  const report: Report = (severity, code, message, span) => {
    if (list.length < max) list.push({ severity, code, message, span });
    else if (list.length === max) {
      const text = `more than ${max} diagnostics: the rest are not listed`;
      list.push({ severity: 'error', code: 'too-many-diagnostics', message: text, span });
    }
  };
  return { list, report };
}

/** The span that reaches from the start of `first` to the end of `last`; both in one file. */
export function joinSpans(first: SourceSpan, last: SourceSpan): SourceSpan {
  return { ...first, endLine: last.endLine, endColumn: last.endColumn };
}

/** Rule text for a message: cut to 60 bytes, control bytes made visible. */
export function quoteForMessage(text: ByteString): string {
  const cut = text.length > 60 ? text.slice(0, 57) + '...' : text;
  const printable = cut.replace(/[^\x20-\x7e]/g, (byte) => {
    return '\\x' + byte.charCodeAt(0).toString(16).padStart(2, '0');
  });
  return `"${printable}"`;
}
