/** Where in a text a message of the API says that a fault is. Pure. */

/** A place in a text, from 1 on. */
interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** The place that a message names, as `line 3, column 14` or `file:3:14`; null for none. */
export function placeIn(message: string): TextPlace | null {
  const found =
    /\bline (\d+)(?:, column (\d+))?/.exec(message) ?? /:(\d+):(\d+)(?::|\b)/.exec(message);
  if (found === null) return null;
  const [, line, column = '1'] = found;
  return { line: Number(line), column: Number(column) };
}

/** The part of a text from a place to the end of its line, as offsets. */
export function rangeAt(text: string, { line, column }: TextPlace): [start: number, end: number] {
  let from = 0;
  for (let at = 1; at < line; at += 1) {
    const next = text.indexOf('\n', from);
    if (next < 0) break;
    from = next + 1;
  }
  const end = text.indexOf('\n', from);
  const last = end < 0 ? text.length : end;
  return [Math.min(from + column - 1, last), last];
}
