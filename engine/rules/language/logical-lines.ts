/**
 * How physical lines become logical ones: continuation, comments, and the way back from an
 * offset to line and column. Knows nothing of directives beyond recognizing comments.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { Report, SourceSpan } from './diagnostic.ts';

/** One directive's text with its continuation lines joined. */
export interface LogicalLine {
  readonly file: string;
  readonly text: ByteString;
  /** Number of the first physical line, from 1. */
  readonly firstLine: number;
  /** Offset in `text` at which each physical line starts; the first is 0. */
  readonly starts: readonly number[];
}

/** The span of [start, end) of `line.text`. Cost: logarithmic in the number of physical lines. */
export function spanOf(line: LogicalLine, start: number, end: number): SourceSpan {
  const from = locate(line.starts, start);
  // The end is exclusive: it belongs to the physical line of the last byte inside.
  const to = end > start ? locate(line.starts, end - 1) : from;
  return {
    file: line.file,
    line: line.firstLine + from,
    column: start - (line.starts[from] ?? 0) + 1,
    endLine: line.firstLine + to,
    endColumn: end - (line.starts[to] ?? 0) + 1,
  };
}

/**
 * Cuts a file into logical lines, without comments and empty lines. A backslash before the line end
 * joins the next line as it stands, its indentation included (as Apache and ModSecurity 2 do).
 * A comment ends with its line, except that a commented-out rule includes its continuation
 * lines (ModSecurity 3); a line swallowed that way that is no comment itself is reported.
 */
export function splitLogicalLines(file: string, text: ByteString, report: Report): LogicalLine[] {
  const physical = splitPhysicalLines(text);
  const lines: LogicalLine[] = [];
  let index = 0;
  while (index < physical.length) {
    const first = physical[index] ?? '';
    if (/^[ \t]*#/.test(first)) index = skipComment(file, physical, index, report);
    else if (/^[ \t\f\v]*$/.test(first)) index += 1;
    else index = joinLines(file, physical, index, lines);
  }
  return lines;
}

function splitPhysicalLines(text: ByteString): ByteString[] {
  const withoutMark = text.startsWith('\xef\xbb\xbf') ? text.slice(3) : text;
  return withoutMark.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

/** Length of `line` in front of its continuation backslash; -1 when it does not continue. */
function continuationAt(line: ByteString): number {
  let end = line.length;
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t')) end -= 1;
  return end > 0 && line[end - 1] === '\\' ? end - 1 : -1;
}

function skipComment(
  file: string,
  physical: readonly ByteString[],
  start: number,
  report: Report,
): number {
  let index = start;
  const isRule = /^[ \t]*#[ \t]*Sec(?:Rule|Action)/i.test(physical[start] ?? '');
  while (isRule && index + 1 < physical.length && continuationAt(physical[index] ?? '') >= 0) {
    index += 1;
    const swallowed = physical[index] ?? '';
    if (/^[ \t]*(?:#|$)/.test(swallowed)) continue;
    const line = { file, text: swallowed, firstLine: index + 1, starts: [0] };
    const message = 'this line continues the commented-out rule above it and is not read';
    report('warning', 'comment-continues', message, spanOf(line, 0, swallowed.length));
  }
  return index + 1;
}

function joinLines(
  file: string,
  physical: readonly ByteString[],
  start: number,
  lines: LogicalLine[],
): number {
  const parts: ByteString[] = [];
  const starts: number[] = [];
  let length = 0;
  let index = start;
  for (; index < physical.length; index += 1) {
    const line = physical[index] ?? '';
    const end = continuationAt(line);
    starts.push(length);
    parts.push(end < 0 ? line : line.slice(0, end));
    length += end < 0 ? line.length : end;
    if (end < 0) break;
  }
  lines.push({ file, text: parts.join(''), firstLine: start + 1, starts });
  return index + 1;
}

/** Index of the last start that is not after `offset`. */
function locate(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
