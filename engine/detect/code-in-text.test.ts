/** Tests which code is what a text is about, and that no program is taken for such a text. */

import { describe, expect, test } from 'vitest';
import { isFenced, isSaidOf } from './code-in-text.ts';

describe('a call', () => {
  test.each([
    ['f(1) returns 2', 'any', true],
    ["f('a)', [1]).g(2)[0] fails", 'any', true],
    ['f("a\\")") prints it', 'any', true],
    ['`f(1)` does nothing', 'any', true],
    ['f(1) is 2', 'any', false],
    ['f(1) is 2', 'withIs', true],
    ['f(1); prints it', 'withIs', false],
    ['f(1); prints it', 'script', true],
    ['f(1)\nprints it', 'script', false],
    ['f(1) prints(it)', 'any', false],
    ['f(1) and g', 'any', false],
    ['f(1).prints', 'any', false],
    ['f(1', 'any', false],
    ['f(")) says', 'any', false],
    [')f(1) says', 'any', true],
    ['f(1) returns a list', 'groovy', false],
    ["f(1) doesn't work", 'groovy', true],
    ["f(1) doesn't x'", 'groovy', false],
    ['f(1); works, but g is better', 'groovy', true],
    ['f(1); works', 'groovy', false],
    ['f(1) blocks the thread', 'any', true],
    ['f(1) blocks = 1', 'any', false],
    ['f(1) blocks', 'any', true],
    ['f(1) blocks. x = 1', 'any', false],
    ['f(1) blocks. It does so', 'any', true],
    ['f(1) unless x', 'any', false],
    ['f(1) here, call g too', 'any', true],
    ['f(1) here, b = 1', 'any', false],
    ['`f(1)` is unsafe', 'any', true],
    ['f(1); class A', 'script', false],
    ['f(1); this in a', 'script', false],
    ['f(1) throws E', 'groovy', true],
    ['f(1) to get it', 'any', true],
    [`f(${'x'.repeat(500)}) says`, 'any', false],
  ] as const)('%s is the subject of a sentence, %s: %s', (text, language, expected) => {
    expect(isSaidOf(text, 0, language)).toBe(expected);
  });
});

describe('code', () => {
  test.each([
    ['```php\nf(1);\n```', true],
    ['This fails:\n```\nf(1);', true],
    ['~~~python\nf(1)\n~~~', true],
    ['~~~\nf(1)\n~~~', false],
    ['~~~0\nf(1)\n~~~', false],
    ['```\na\n```\nf(1)', false],
    ['/*\n```\n*/f(1)', false],
    ["'\n```\n';f(1)", false],
    ['python=0\n~~~python\nf(1)', false],
    ['#\n```\nf(1)', false],
    ['x ```f(1)```', false],
    ['```php\n$a = f(1);', true],
    ['```php\n";f(1)."', false],
    ['```php\n";\nf(1)."', false],
    ['```php\n{f(1)}', false],
    ['```php\n{{\nf(1)}}', false],
    ['~~~c\nf(1)', false],
    ['```php\n#{f(1)}', false],
    ['```php\n${\nf(1)}', false],
    ['```php\n<%\nf(1)%>', false],
    ['```php\n@php f(1)', false],
    ['```php\na = 1;\n  f(1)', true],
    [`\`\`\`js\n${'a;\n'.repeat(2000)}f(1)`, false],
  ])('in %s stands in a block of Markdown: %s', (text, expected) => {
    expect(isFenced(text, text.indexOf('f('))).toBe(expected);
  });
});
