/**
 * Owns random SecLang rule sets for comparing engines: every kind of target, transformation,
 * operator, chain, skip and TX change that the planner treats specially, small enough to collide.
 */

import fc from 'fast-check';

const txNames = ['a', 'b', 'score', 'pl', 'late_x', '1'];
const keys = ['x', 'y', 'Q', 'user'];

const rowTargets = [
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
  'QUERY_STRING',
  'REQUEST_METHOD',
  'REQUEST_BODY',
  'REQUEST_LINE',
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
    arbitrary: fc.constantFrom('ARGS:/^[xy]$/', 'REQUEST_HEADERS:/^User/', 'TX:/^late/'),
  },
  { weight: 3, arbitrary: fc.constantFrom(...txNames).map((name) => `TX:${name}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('&ARGS', '&ARGS:x', '&REQUEST_HEADERS:Host', '&TX:a', '&TX:score'),
  },
  { weight: 1, arbitrary: fc.constantFrom('MATCHED_VAR', 'MATCHED_VARS', 'MATCHED_VAR_NAME') },
);

const exclusion = fc.constantFrom(
  '!ARGS:x',
  '!ARGS:/^q$/',
  '!REQUEST_HEADERS:Host',
  '!REQUEST_COOKIES:y',
);

const targets = fc
  .tuple(
    fc.array(target, { minLength: 1, maxLength: 3 }),
    fc.option(exclusion, { nil: undefined, freq: 4 }),
  )
  .map(([list, out]) => [...list, ...(out === undefined ? [] : [out])].join('|'));

const word = fc.constantFrom(
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

const patterns = [
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
];

const operator = fc
  .tuple(
    fc.constantFrom('', '', '', '!'),
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...patterns).map((p) => `@rx ${p}`) },
      { weight: 2, arbitrary: fc.array(word, { minLength: 1, maxLength: 3 }).map(pmOf) },
      {
        weight: 3,
        arbitrary: fc
          .tuple(fc.constantFrom('contains', 'beginsWith', 'endsWith', 'streq', 'within'), word)
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

const transformation = fc.constantFrom(
  't:none',
  't:lowercase',
  't:urlDecodeUni',
  't:urlDecode',
  't:removeWhitespace',
  't:htmlEntityDecode',
  't:length',
  't:trim',
  't:replaceComments',
  't:normalizePath',
  't:base64Decode',
  't:hexEncode',
);

const name = fc.constantFrom(...txNames);

const runtimeAction = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(name, fc.constantFrom('1', '2', '+1', '+%{tx.pl}', '-1', '%{MATCHED_VAR}', '%{tx.a}'))
      .map(([key, value]) => `setvar:'tx.${key}=${value}'`),
  },
  { weight: 1, arbitrary: name.map((key) => `setvar:'!tx.${key}'`) },
  { weight: 1, arbitrary: fc.constant(`setvar:'tx.late_%{tx.a}=1'`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'ctl:ruleRemoveById=5',
      'ctl:ruleRemoveById=3-8',
      'ctl:ruleRemoveByTag=t1',
      'ctl:ruleRemoveTargetById=4;ARGS:x',
      'ctl:ruleRemoveTargetByTag=t1;REQUEST_HEADERS',
      'ctl:ruleEngine=DetectionOnly',
      'ctl:ruleEngine=Off',
    ),
  },
);

const disruptive = fc.oneof(
  { weight: 12, arbitrary: fc.constant('pass') },
  { weight: 1, arbitrary: fc.constantFrom('deny', 'deny,status:406', 'block', 'drop') },
  { weight: 1, arbitrary: fc.constantFrom('allow', 'allow:phase', 'allow:request') },
);

const flow = fc.oneof(
  { weight: 8, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom('skip:1', 'skip:2') },
  { weight: 1, arbitrary: fc.constantFrom('skipAfter:M1', 'skipAfter:M2', 'skipAfter:M3') },
);

const extras = fc.subarray([
  'capture',
  'multiMatch',
  "tag:'t1'",
  "severity:'CRITICAL'",
  "msg:'m %{TX.1}'",
]);
const logging = fc.constantFrom('nolog', 'log', 'nolog,auditlog', '');

const transformations = fc.array(transformation, { maxLength: 3 });
const actions = fc.array(runtimeAction, { maxLength: 2 });

interface LinkParts {
  readonly targets: string;
  readonly operator: string;
  readonly list: readonly string[];
}

const link: fc.Arbitrary<LinkParts> = fc
  .tuple(targets, operator, transformations, actions, fc.constantFrom('', '', 'capture'))
  .map(([t, o, chain, acts, capture]) => ({
    targets: t,
    operator: o,
    list: [...chain, ...acts, capture],
  }));

const rule = fc
  .tuple(
    fc.constantFrom(1, 1, 2, 2, 5),
    fc.boolean(),
    link,
    fc.array(link, { maxLength: 2 }),
    disruptive,
    flow,
    extras,
    logging,
  )
  .map(([phase, isAction, head, links, outcome, jump, more, log]) => {
    return {
      phase,
      isAction: isAction && links.length === 0,
      head,
      links,
      outcome,
      jump,
      more,
      log,
    };
  });

/** A rule set as text; ids count from 1 in order. */
export const ruleTexts: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('On', 'On', 'On', 'DetectionOnly'),
    fc.array(
      fc.oneof(
        { weight: 9, arbitrary: rule },
        { weight: 1, arbitrary: fc.constantFrom('M1', 'M2') },
      ),
      {
        minLength: 1,
        maxLength: 14,
      },
    ),
  )
  .map(([engine, items]) => {
    const lines = [`SecRuleEngine ${engine}`, 'SecRequestBodyAccess On'];
    let id = 1;
    for (const item of items) {
      if (typeof item === 'string') lines.push(`SecMarker ${item}`);
      else lines.push(...writeRule(item, id++));
    }
    return lines.join('\n') + '\n';
  });

function writeRule(
  {
    phase,
    isAction,
    head,
    links,
    outcome,
    jump,
    more,
    log,
  }: typeof rule extends fc.Arbitrary<infer T> ? T : never,
  id: number,
): string[] {
  const first = [`id:${id}`, `phase:${phase}`, outcome, log, ...head.list, ...more, jump];
  if (links.length > 0) first.push('chain');
  const text = join(first);
  if (isAction) return [`SecAction "${text}"`];
  const lines = [`SecRule ${head.targets} "${head.operator}" "${text}"`];
  links.forEach((next, i) => {
    const list = join([...next.list, i < links.length - 1 ? 'chain' : '']);
    lines.push(`SecRule ${next.targets} "${next.operator}"${list === '' ? '' : ` "${list}"`}`);
  });
  return lines;
}

function join(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(',');
}

const value = fc.oneof(
  word,
  fc.constantFrom(
    'abab1',
    'select',
    'x--y',
    '1 or 1=1',
    '<script>',
    'aa',
    '%3Cb',
    'YWI=',
    'A B',
    '5',
  ),
  fc.string({ maxLength: 6 }),
);

/** One request to run a rule set over; all texts are byte strings. */
export interface RandomRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | null;
}

const pairs = fc.array(fc.tuple(fc.constantFrom(...keys, 'z'), value), { maxLength: 4 });
const encode = (list: readonly (readonly [string, string])[]): string =>
  list.map(([key, text]) => `${key}=${encodeURIComponent(text)}`).join('&');

/** Requests that share names and values with `ruleTexts`. */
export const randomRequests: fc.Arbitrary<RandomRequest> = fc
  .tuple(
    fc.constantFrom('/', '/a', '/a/../b', '/x.php'),
    pairs,
    fc.option(pairs, { nil: null }),
    fc.array(fc.tuple(fc.constantFrom('x', 'y', 'sid'), fc.constantFrom('a', 'b1', '1', 'ab<b')), {
      maxLength: 2,
    }),
    fc.constantFrom('curl/8', 'Mozilla select', 'a'),
  )
  .map(([path, query, form, cookies, agent]) => {
    const headers: [string, string][] = [
      ['Host', 'a.example'],
      ['User-Agent', agent],
    ];
    if (cookies.length > 0)
      headers.push(['Cookie', cookies.map(([k, v]) => `${k}=${v}`).join('; ')]);
    const body = form === null ? null : encode(form);
    if (body !== null) {
      headers.push(['Content-Type', 'application/x-www-form-urlencoded']);
      headers.push(['Content-Length', String(body.length)]);
    }
    const target = query.length === 0 ? path : `${path}?${encode(query)}`;
    return { method: body === null ? 'GET' : 'POST', target, headers, body };
  });
