/** Markdown tables and the way numbers are written in reports. Pure. */

/** A table; columns after the first are set flush right. Cells may hold Markdown. */
export function markdownTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = columns.map((_, i) => (i === 0 ? '---' : '--:'));
  return [line(columns), line(rule), ...rows.map(line)].join('\n');
}

/** Three significant digits, whole numbers from 100 on; a dash for what was not measured. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return groupThousands(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

function groupThousands(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ' ');
}
