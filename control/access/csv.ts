/** Writes CSV (RFC 4180). Reading is csv-parse's. */

/** One line with its end; fields are quoted where they have to be. */
export function toCsvLine(fields: readonly string[]): string {
  const quoted = fields.map((field) =>
    /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field,
  );
  return `${quoted.join(',')}\r\n`;
}
