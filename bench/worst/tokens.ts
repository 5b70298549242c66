/**
 * The pieces that values are made of: what parsers and transformations treat specially, the
 * openings of known attacks, and the words that a policy's own rules look for. Pure.
 */

import type { RulePlan } from '../../engine/rules/plan/rule-plan.ts';

const marks = [
  ...'abz09 .,;:!?\'"`/\\|-_=+*&^%$#@~<>()[]{}\t\n\r\0\x7f',
  '\xe9',
  '\xc3\xa9',
  '\xef\xbc\x9c',
  '%25',
  '%u0041',
  '%00',
  '&#',
  '&#x3c;',
  '&lt;',
  '&amp',
  '\\u0041',
  '\\x41',
  '\\101',
  '\\0',
  '\\\\',
  '/*',
  '*/',
  '/**/',
  '/*!50000',
  '--',
  '--\n',
  '#\n',
  '<!--',
  '-->',
  '<![CDATA[',
  '../',
  '..\\',
  '/./',
  '//',
  '${',
  '$(',
  '#{',
  '{{',
  '<%',
  '<?',
  '<a ',
  '<a b=',
  '<script',
  'javascript:',
  'on=',
  '\r\n\r\n',
  '==',
  "''",
  '""',
  "' or ",
  '1=1 ',
  'or ',
  'and ',
  'union ',
  'select ',
  'from ',
  'sleep(',
  'char(',
  '0x41',
  '1e1',
  'a=a,',
  'a.b.',
  'a-b ',
  'a_',
  'aa ',
  'abc(',
  'function(',
  'eval(',
  'http://',
  'ftp://',
  'data:;base64,',
  '127.0.0.1',
  'YWJj',
  'O:8:"',
  'rO0AB',
  '@import',
  '-moz-binding',
  'style=',
  'expression(',
  '/etc/passwd',
  'c:\\',
  '.php',
  ';id',
  '|cat ',
  '&&ls ',
  '`ls`',
  '$IFS',
  '$a',
  '>&',
  '~+',
  '[a-z]',
  '()  {',
  '4111111111111111',
  'multipart/form-data; boundary=',
  'bytes=0-1,',
  'charset=',
  ...attacks(),
];

/** Short attacks that many rules match at once, and names under which values are secrets. */
function attacks(): string[] {
  return [
    "' or 1=1--",
    "';exec xp_cmdshell 'id'--",
    '1 union select 1,2 from users--',
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '../../../etc/passwd',
    ';cat /etc/passwd|sh',
    '$(id)`id`',
    '${jndi:ldap://a/b}',
    '<?php system($_GET[1]);?>',
    'http://127.0.0.1/.git/config',
    'a=1&b[]=2',
    'password=',
    '"pin":"',
    'name="token"',
    'token',
    'pin',
  ];
}

/** Words of the rules that a policy's texts yield at most. */
const minedMax = 4_000;
const wordPattern = /[A-Za-z_$<./:-]{3,24}/g;

/** Marks, and the words that the rules of a plan are written with. */
export function tokensOf(plan: RulePlan): string[] {
  const words = new Set<string>();
  for (const { items } of plan.phases) {
    for (const item of items) {
      for (let link = item.kind === 'rule' ? item : null; link; link = link.next) {
        const { operator } = link;
        const filter = operator?.prefilter;
        const text = filter?.kind === 'words' ? sample(filter.words).join(' ') : operator?.argument;
        for (const [word] of (text ?? '').matchAll(wordPattern)) words.add(word);
      }
    }
  }
  const mined = [...words].slice(0, minedMax);
  // As many of one kind as of the other.
  const times = Math.max(1, Math.floor(mined.length / marks.length));
  return [...Array.from({ length: times }, () => marks).flat(), ...mined];
}

/** Lists of thousands of words would outweigh everything else. */
function sample(words: readonly string[]): string[] {
  const step = Math.ceil(words.length / 40);
  return words.filter((_, at) => at % step === 0);
}
