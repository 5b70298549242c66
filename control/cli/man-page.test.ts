/** Proves that the manual pages hold every command and flag, and nothing that roff would run. */

import { expect, test } from 'vitest';
import { readTree, walkTree, type TreeNode } from './command-tree.ts';
import { loadCommands } from './commands.ts';
import { manPages } from './man-page.ts';
import { buildProgram } from './program.ts';

const tree = readTree(buildProgram(await loadCommands([]), () => undefined));
const pages = manPages(tree, '1.2.3');
const shown = (text: string): string => text.replaceAll('\\-', '-').replaceAll('\\e', '\\');

test('each first word has a page with all its commands and their flags', () => {
  const missing = tree.children.flatMap((child) => {
    const text = shown(pages.get(`waf-${child.path.join('-')}.1`) ?? '');
    return [...walkTree(child)].flatMap((node) => {
      if (node.children.length > 0) return [];
      const wanted = [
        `.SS waf ${node.path.join(' ')}`,
        ...node.flags.map(({ spelled }) => `.B ${spelled}`),
      ];
      return wanted.filter((line) => !text.includes(line));
    });
  });
  expect(missing).toEqual([]);
  expect(tree.children.length).toBeGreaterThan(20);
  expect(pages.size).toBe(tree.children.length + 1);
});

test('texts of commands are no requests of roff', () => {
  const child: TreeNode = {
    ...{ path: ['x'], summary: ".so /etc/passwd\n'ig", description: '.so a\n\\*(b', usage: '' },
    ...{ children: [], flags: [], arguments: [] },
  };
  const page = manPages({ ...child, path: [], children: [child] }, '1').get('waf-x.1') ?? '';
  expect(page).toContain('\n\\&.so a\n\\e*(b\n');
  expect(page).toContain("waf\\-x \\- \\&.so /etc/passwd 'ig");
});
