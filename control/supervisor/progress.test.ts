/** Tests how progress looks on a terminal and in a log file. */

import { expect, test } from 'vitest';
import { createProgressView, renderBar } from './progress.ts';

function record(isTty: boolean): { lines: string[]; view: ReturnType<typeof createProgressView> } {
  const lines: string[] = [];
  const view = createProgressView({ isTty, columns: 60, write: (text) => void lines.push(text) });
  return { lines, view };
}

test('a bar fits its terminal', () => {
  expect(renderBar('rule databases', 3, 6, 80)).toBe(
    'rule databases [###############...............] 3/6',
  );
  expect(renderBar('rule databases', 3, 6, 20)).toHaveLength(19);
  expect(renderBar('x', 9, 6, 80)).toContain('[##############################]');
});

test('a terminal sees one line redrawn, ended when the work is done', () => {
  const { lines, view } = record(true);
  for (let done = 1; done <= 4; done++) view.show('work', done, 4);
  view.finish();
  expect(lines.filter((line) => line.startsWith('\r'))).toHaveLength(4);
  expect(lines.filter((line) => line === '\n')).toHaveLength(1);
});

test('a log file gets no progress', () => {
  const { lines, view } = record(false);
  for (let done = 0; done <= 100; done++) view.show('work', done, 100);
  view.finish();
  expect(lines).toEqual([]);
});
