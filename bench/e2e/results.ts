/** Where results are kept: JSON, Markdown and chart in a folder, the overview in the README. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  conditions,
  cpuChart,
  markdownPage,
  overviewTable,
  tailTable,
  type Report,
} from './report.ts';

/** Where to write. */
export interface ResultPlaces {
  readonly folder: string;
  /** README to update; null leaves it alone. */
  readonly readme: string | null;
  readonly root: string;
}

const marks = { begin: '<!-- benchmark:begin -->', end: '<!-- benchmark:end -->' };

/** Writes all files; hands back their names and the overview for the terminal. */
export function writeResults(
  report: Report,
  { folder, readme, root }: ResultPlaces,
): { readonly written: readonly string[]; readonly overview: string } {
  mkdirSync(folder, { recursive: true });
  // All cores make a page of their own beside the one of a single worker.
  const name = report.settings.workers === 1 ? 'e2e' : `e2e-workers-${report.settings.workers}`;
  const files = {
    [`${name}.json`]: `${JSON.stringify(report, null, 1)}\n`,
    [`${name}.md`]: markdownPage(report, `${name}.svg`),
    [`${name}.svg`]: cpuChart(report),
  };
  const written = Object.entries(files).map(([file, text]) => {
    const path = join(folder, file);
    writeFileSync(path, text);
    return path;
  });
  const overview = overviewTable(report);
  if (readme !== null) {
    const chart = relative(root, join(folder, `${name}.svg`));
    const text = readFileSync(readme, 'utf8');
    writeFileSync(readme, replaceSection(text, readmeSection(report, overview, chart)));
    written.push(readme);
  }
  format(
    root,
    written.filter((path) => path.endsWith('.md')),
  );
  return { written, overview };
}

function readmeSection(report: Report, overview: string, chart: string): string {
  return [
    `\`${report.settings.command}\` gave:`,
    overview,
    ...tailTable(report),
    `![CPU time per request](${chart})`,
    conditions(report),
  ].join('\n\n');
}

/** The text with what stands between the marks replaced. Errors: throws when they are not there. */
export function replaceSection(text: string, section: string): string {
  const begin = text.indexOf(marks.begin);
  const end = text.indexOf(marks.end);
  if (begin < 0 || end < begin) throw new Error('README.md has no place for the benchmark table');
  return `${text.slice(0, begin + marks.begin.length)}\n\n${section}\n\n${text.slice(end)}`;
}

/** Markdown in the repository is held to one format; without the tool it stays as written. */
function format(root: string, files: readonly string[]): void {
  const tool = join(root, 'node_modules', 'prettier', 'bin', 'prettier.cjs');
  if (!existsSync(tool)) return;
  spawnSync(process.execPath, [tool, '--write', ...files], { cwd: root, stdio: 'ignore' });
}
