/** Tests that a copied line gives a shell one word for each text of an attacker. */

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlOf } from './curl.ts';

/** The words that a shell reads, without running curl. */
const words = (line: string): string[] =>
  execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

test.each(["/?a=1' OR '1'='1", '/$(touch x)', '/`id`', '/;id', '/"\\', '/a b'])('%s', (path) => {
  const line = curlOf({ method: "GE'T", host: 'a.example', path }, [
    { name: 'X-Test', values: ["'; id; '"] },
  ]);
  expect(words(line)).toEqual([
    ...['curl', '-i', '-X', "GE'T", '-H', "X-Test: '; id; '"],
    `http://a.example${path}`,
  ]);
});

test('secrets and control characters are not copied', () => {
  const line = curlOf({ method: 'GET', host: 'a.example', path: '/a\nid\n' }, [
    { name: 'Cookie', values: ['session=1'] },
    { name: 'Authorization', values: ['Bearer 1'] },
  ]);
  expect(line).toBe("curl -i -X 'GET' 'http://a.example/aid'");
});
