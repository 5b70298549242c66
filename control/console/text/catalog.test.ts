/** Tests that sentences are found by their words and by templates, and that values stay. */

import { expect, test } from 'vitest';
import { catalogOf, translate } from './catalog.ts';

const catalog = catalogOf({
  "names the database's own tables": '引用系统表',
  'has x in it, which hides it': '含有 x',
  block: '拦截',
  '{name} web shell': '{name} 后门',
  'Unknown web shell': '未知后门',
  'PHP {name} web shell': 'PHP 的 {name}',
  'No {kind} with the id "{id}".': '没有 {kind}：{id}。',
  '{field}: {said}': '{field}：{said}',
  'is required': '必填',
  'is known; too': '已知；也',
  'must be at most {most}': '不得大于 {most}',
  'Score {score} ({saidLevel}): {saidWhat} in {place}':
    '{place}：{saidWhat}（{saidLevel}，{score}）',
});

test.each([
  ['block', '拦截'],
  ["names the database's own tables", '引用系统表'],
  // As rules say it.
  ['names the databases own tables', '引用系统表'],
  ['r57 web shell', 'r57 后门'],
  ['Unknown web shell', '未知后门'],
  // The template with most words of its own.
  ['PHP r57 web shell', 'PHP 的 r57'],
  ['No site with the id "a.b".', '没有 site：a.b。'],
  ['Score 9 (block): has x in it, which hides it in args.a', 'args.a：含有 x（拦截，9）'],
  // A value is no sentence, whatever it says.
  ['Score 9 (block): has x in it, which hides it in block', 'block：含有 x（拦截，9）'],
  ['site.name: is required', 'site.name：必填'],
  ['site.name: must be at most 64', 'site.name：不得大于 64'],
  ['block web shell', 'block 后门'],
  // A list of sentences.
  ['site.name: is required; site.host: is required', 'site.name：必填；site.host：必填'],
  ['names the databases own tables; block', '引用系统表；拦截'],
  ['a: is known; too; b: is required', 'a：已知；也；b：必填'],
  // A sentence that is no list.
  ['site.name: must be at most a; b', 'site.name：不得大于 a; b'],
  ['$& {name} web shell', '$& {name} 后门'],
])('%s', (sentence, expected) => {
  expect(translate(catalog, sentence)).toBe(expected);
});

test.each([
  '',
  'Block',
  'web shell',
  'blocks',
  'Score 9 (high): has x in it, which hides it in args.a',
  'Score 9 (block): an unknown sentence in args.a',
  'No site with the id "a.b"',
  'site.name: is not known here',
  'toString',
  // Fields without end.
  'a: '.repeat(600),
  `${'r'.repeat(3000)} web shell`,
])('%s has no translation', (sentence) => {
  expect(translate(catalog, sentence)).toBeNull();
});
