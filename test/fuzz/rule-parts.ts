/**
 * Random targets, operators and transformations of every kind that the planner treats specially,
 * small enough to collide.
 */

import fc from 'fast-check';
import { transformations as knownTransformations } from '../../engine/rules/features/transformations/list.ts';

/** TX variables that rules set and read. */
export const txNames = ['a', 'b', 'score', 'pl', 'late_x', '1'];
/** Names of arguments and cookies. */
export const keys = ['x', 'y', 'Q', 'user', 'u.v', '\xc9'];

/** Targets that the scanner reads from the value table. */
export const rowTargets = [
  'ARGS',
  'ARGS_GET',
  'ARGS_POST',
  'ARGS_NAMES',
  'ARGS_GET_NAMES',
  'REQUEST_COOKIES',
  'REQUEST_COOKIES_NAMES',
  'REQUEST_HEADERS',
  'REQUEST_HEADERS_NAMES',
  'REQUEST_URI',
  'REQUEST_FILENAME',
  'REQUEST_PATHS',
  'REQUEST_PATHS_JOINED',
  'ARGS_RENAMED',
  'ARGS_RENAMED_NAMES',
  'REQUEST_COOKIES_RENAMED',
  'REQUEST_HEADERS_RENAMED',
  'QUERY_STRING',
  'REQUEST_METHOD',
  'REQUEST_BODY',
  'REQUEST_LINE',
  'REQUEST_BASENAME',
  'REQUEST_URI_RAW',
  'ARGS_POST_NAMES',
  'FILES',
  'FILES_NAMES',
  'MULTIPART_PART_HEADERS',
  'XML:/*',
  'XML://@*',
  'FULL_REQUEST',
];

const responseTargets = [
  'RESPONSE_BODY',
  'RESPONSE_HEADERS',
  'RESPONSE_HEADERS_NAMES',
  'RESPONSE_HEADERS:X-A',
  'RESPONSE_STATUS',
  'RESPONSE_CONTENT_TYPE',
];

const computedTargets = [
  'ARGS_COMBINED_SIZE',
  'FILES_COMBINED_SIZE',
  'REQBODY_ERROR',
  'MULTIPART_STRICT_ERROR',
  'MULTIPART_TWO_READINGS',
  'MULTIPART_TWO_READINGS_REASON',
  'MULTIPART_UNMATCHED_BOUNDARY',
  'REMOTE_ADDR',
  'MATCHED_VARS_NAMES',
  'HIGHEST_SEVERITY',
  'RULE:id',
  'RULE:msg',
  'RULE:logdata',
  'IP:n',
  '&IP:n',
  'IP',
  'TX',
  'ENV:e',
  'XML://b',
  '&XML:/*',
  'REQUEST_BODY_LENGTH',
];

const target = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...rowTargets) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('ARGS', 'ARGS_GET', 'REQUEST_COOKIES'), fc.constantFrom(...keys))
      .map(([name, key]) => `${name}:${key}`),
  },
  { weight: 2, arbitrary: fc.constantFrom('REQUEST_HEADERS:Host', 'REQUEST_HEADERS:User-Agent') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'ARGS:/^[xy]$/',
      'ARGS_RENAMED:u_v',
      'REQUEST_COOKIES_RENAMED:u_v',
      'REQUEST_HEADERS:/^User/',
      'TX:/^late/',
      'TX:/\\.\\./',
      'TX:/x\\./',
    ),
  },
  { weight: 3, arbitrary: fc.constantFrom(...txNames).map((name) => `TX:${name}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('&ARGS', '&ARGS:x', '&REQUEST_HEADERS:Host', '&TX:a', '&TX:score'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '&REQUEST_HEADERS:X-None',
      '&MULTIPART_PART_HEADERS',
      '&FILES',
      'REQUEST_HEADERS:Content-Length',
      'REQUEST_HEADERS:X-None',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('MATCHED_VAR', 'MATCHED_VARS', 'MATCHED_VAR_NAME') },
  { weight: 1, arbitrary: fc.constantFrom(...responseTargets) },
  { weight: 1, arbitrary: fc.constantFrom(...computedTargets) },
);

const exclusion = fc.constantFrom(
  '!ARGS:x',
  '!ARGS:u.v',
  '!ARGS:/^q$/',
  '!REQUEST_HEADERS:Host',
  '!REQUEST_COOKIES:y',
  '!XML:/*',
  '!TX:a',
  '!ARGS',
  '!ARGS_NAMES:X',
  '!RESPONSE_HEADERS:x-a',
);

/** One to three targets, some with an exclusion. */
export const targets = fc
  .tuple(
    fc.array(target, { minLength: 1, maxLength: 3 }),
    fc.option(exclusion, { nil: undefined, freq: 4 }),
  )
  .map(([list, out]) => [...list, ...(out === undefined ? [] : [out])].join('|'));

/** Short texts that values and operators share. */
export const word: fc.Arbitrary<string> = fc.constantFrom(
  'A',
  'a',
  'b1',
  'ab',
  'Select',
  'x',
  '<b',
  "o'r",
  '%41',
  '..',
  '1',
  '0',
  '',
);

/** Commands as CRS spells them: with what shells ignore between any two letters. */
export function commands(filler: string, ...words: string[]): string {
  const spelt = words.map((one) => [...one].join(filler)).join('|');
  return `(?i)(?:^|[;|&=]\\s*|\\bx\\s.*)(?:${spelt})[\\s)<>|]`;
}

const patterns = [
  commands(
    `[\\"'\\)\\[\\x5c]*(?:(?:\\|\\||&&)?\\$[a-z{]*)?\\x5c?`,
    ...['select', 'busybox', 'abab'],
  ),
  commands('[\\"\\^]*', 'select', 'powershell', 'rundll32', 'abab'),
  'a',
  '^a',
  'b$',
  '^$',
  '^[a-z]+$',
  '(?i)select',
  '[<>]',
  '\\d+',
  '(a)(b)?',
  'a|<',
  '\\bb\\b',
  '.',
  '(?:ab)+1?',
  'x.*y',
  '[^a-z0-9]',
  '^(?!a)',
  '(.)\\1',
  'a++b',
  '\\Aa',
  'b\\z',
  '^.{1,3}$',
  '\\Ba',
  '\\B$',
  'a{3,}',
  '(?-s)x.y',
  '(?m)^select$',
  '\\s$',
  '\\n',
  'a\\nb',
  '[^<]$',
  '(?:^|\\W)b(?:\\W|$)',
  '^[^\\n]*$',
];

/** An operator with its argument, some negated. */
export const operator = fc
  .tuple(
    fc.constantFrom('', '', '', '!'),
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...patterns).map((p) => `@rx ${p}`) },
      { weight: 2, arbitrary: fc.array(word, { minLength: 1, maxLength: 3 }).map(pmOf) },
      {
        weight: 3,
        arbitrary: fc
          .tuple(
            fc.constantFrom(
              'contains',
              'beginsWith',
              'endsWith',
              'streq',
              'within',
              'containsWord',
              'strmatch',
            ),
            word,
          )
          .map(([name, text]) => `@${name} ${text === '' ? 'a' : text}`),
      },
      {
        weight: 4,
        arbitrary: fc
          .tuple(
            fc.constantFrom('eq', 'ge', 'gt', 'le', 'lt'),
            fc.constantFrom('0', '1', '2', '5', '%{tx.score}', '%{tx.pl}'),
          )
          .map(([name, value]) => `@${name} ${value}`),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          '@rxGlobal (a)|(b)',
          '@streq %{MATCHED_VAR}',
          '@streq %{RULE.msg}',
          '@contains %{ARGS.x}',
          '@within %{tx.a} %{tx.b}',
          '@within GET POST Select x 1',
          '@within %{tx.list}',
          '@within %{tx.list}',
          '@streq %{tx.list}',
          '@rx ^%{tx.a}',
          '@ipMatch 127.0.0.0/8',
          '@verifyCC \\d{13,16}',
          '@unconditionalMatch',
          '@noMatch',
          '@detectSQLi',
          '@detectXSS',
          '@validateByteRange 32-126',
          '@validateUrlEncoding',
          '@validateUtf8Encoding',
        ),
      },
    ),
  )
  .map(([not, text]) => not + text);

function pmOf(words: readonly string[]): string {
  const list = words.filter((text) => text !== '');
  return `@pm ${list.length === 0 ? 'zz' : list.join(' ')}`;
}

/** One transformation as an action. */
export const transformation = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom('t:none', 't:lowercase', 't:urlDecodeUni', 't:length') },
  { weight: 2, arbitrary: fc.constantFrom(...knownTransformations.map(({ name }) => `t:${name}`)) },
);
