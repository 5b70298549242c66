/** A plain bar chart as SVG: groups of bars on a logarithmic scale. Pure. */

/** One bar; NaN is drawn as "not measured". */
export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly note: string;
  readonly color: string;
}

/** Bars that are compared with each other. */
export interface BarGroup {
  readonly title: string;
  readonly bars: readonly Bar[];
}

const width = 860;
const labelWidth = 300;
const noteWidth = 150;
const barHeight = 18;
const groupGap = 40;
const top = 50;

/** The chart as an SVG document; lengths are logarithms, so equal steps are equal factors. */
export function barChart(title: string, groups: readonly BarGroup[]): string {
  const values = groups.flatMap(({ bars }) => bars.map(({ value }) => value)).filter(isDrawn);
  const low = 10 ** Math.floor(Math.log10(Math.min(...values, 1e9)));
  const high = Math.max(...values, low * 10);
  const scale = (value: number): number =>
    ((width - labelWidth - noteWidth) * Math.log10(value / low)) / Math.log10(high / low);
  const parts: string[] = [];
  let y = top;
  for (const group of groups) {
    parts.push(text(0, y + 4, group.title, 'font-weight="bold"'));
    y += 14;
    for (const bar of group.bars) {
      parts.push(...drawBar(bar, y, isDrawn(bar.value) ? Math.max(2, scale(bar.value)) : 0));
      y += barHeight + 4;
    }
    y += groupGap - 14;
  }
  const height = y;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 0 ${width + 20} ${height}"`,
    ` width="${width + 20}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<rect x="-10" width="${width + 20}" height="${height}" fill="#ffffff"/>`,
    text(0, 20, title, 'font-size="15" font-weight="bold"'),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function isDrawn(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}

function drawBar({ label, note, color }: Bar, y: number, length: number): string[] {
  const middle = y + barHeight - 5;
  return [
    text(labelWidth - 8, middle, label, 'text-anchor="end"'),
    `<rect x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}"` +
      ` fill="${color}"/>`,
    text(labelWidth + length + 6, middle, note, ''),
  ];
}

function text(x: number, y: number, content: string, attributes: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<text x="${x.toFixed(1)}" y="${y}" fill="#222222" ${attributes}>${escaped}</text>`;
}
