/** What README tells to run works in a clone: it names no folder beside it. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

function commandsOf(text: string): string[] {
  return [...text.matchAll(/^```[a-z]*\n(.*?)^```/gms)].flatMap(([, block = '']) =>
    block.split('\n').filter((line) => /^\s*(?:npx|npm|git|node|curl) /.test(line)),
  );
}

/** Paths of a command that lie outside the clone. */
function outside(line: string): string[] {
  return line.split(/\s+/).filter((word) => word.startsWith('../'));
}

test('no command of README reads a folder beside the clone', () => {
  const commands = commandsOf(readFileSync(path.join(root, 'README.md'), 'utf8'));
  expect(commands.length).toBeGreaterThan(5);
  expect(commands.filter((line) => outside(line).length > 0)).toEqual([]);
  // A folder that a command reads is one that a command before it fetches.
  const tested = commands.findIndex((line) => line.startsWith('npx waf crs test /tmp/crs'));
  const fetched = commands.findIndex((line) => /^git clone .* \/tmp\/crs$/.test(line));
  expect([tested > 0, fetched >= 0 && fetched < tested]).toEqual([true, true]);
  // The check finds such a line.
  expect(outside('npx waf crs test ../shared/a.jsonl')).toEqual(['../shared/a.jsonl']);
});
