/**
 * What a policy changes in rules of CRS that refuse more than attacks: rules that misread UTF-8 in
 * every policy, and in those that ask for it rules that take ordinary texts and requests for
 * attacks. A rule keeps its id, its targets and its score; attacks that it alone stopped stay
 * stopped. Pure text.
 */

import type { HttpPolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';

const unusualInAll: readonly number[] = [
  ...[920_170, 920_171, 920_180, 920_190, 920_210],
  ...[920_300, 920_310, 920_311, 920_320, 920_330, 920_340, 920_350, 920_600],
  // The rule for encoded parts in policy-body-rules.ts refuses what servers read differently.
  922_120,
];

/** Rules of a version of CRS about how requests look; none of them finds an attack. */
export function unusualRequestRules(major: number): readonly number[] {
  return [...unusualInAll, ...(major < 4 ? [920_341] : [920_520, 920_640, 920_660])];
}

const methodOverrideRule = 199_201;
const asciiRule = 199_202;
const fullWidthRule = 199_209;
const graphQlRules = 199_210;
const passwordRule = 199_214;

/**
 * A byte of UTF-8's continuation range where UTF-8 has none: after ASCII, past the length of its
 * sequence, or where the sequence breaks off after it. `at`: whether it begins the pattern or ends
 * it. An anchor elsewhere matches nothing and keeps the pattern from being scanned for.
 */
function stray(byte: string, at: 'start' | 'end'): string {
  const next = '[\\x80-\\xbf]';
  const before = '[\\x00-\\x7f\\xf8-\\xff]';
  const end = '[^\\x80-\\xbf]';
  const broken = at === 'end' ? `(?:${end}|$)` : end;
  return [
    `${at === 'start' ? `(?:^|${before})` : before}${next}*${byte}`,
    `[\\xc0-\\xdf]${next}+${byte}`,
    `[\\xe0-\\xef]${next}{2}${next}*${byte}`,
    `[\\xf0-\\xf7]${next}{3}${next}*${byte}`,
    `[\\xe0-\\xf7]${byte}${broken}`,
    `[\\xf0-\\xf7]${next}${byte}${broken}`,
  ].join('|');
}

const lead = '[\\xc0-\\xf7][\\x80-\\xbf]*';
/** A name alone between letters that end in those bytes is no word of any language. */
const namedTag = `${lead}\\xbc/?[a-zA-Z][a-zA-Z0-9]*${lead}\\xbe`;
/** `¼`, `¾` and most Cyrillic words hold bytes that US-ASCII without bit 8 reads as tags. */
const strayTags =
  `@rx (?:${stray('\\xbc', 'start')})[^\\xbe>]*[\\xbe>]|` +
  `<(?s:.*)(?:${stray('\\xbe', 'end')})|${namedTag}`;

/** CRS 3 lists typographic quotes in a class of bytes, so that each byte of a letter counts. */
function specialCharacters(count: number): string {
  const ascii = '!-+\\-:->@\\[\\]\\^`\\{-~';
  const quotes = '\\xc2\\xb4|\\xe2\\x80[\\x98\\x99]';
  return `@rx ((?:(?:[${ascii}]|${quotes})[^${ascii}]*?){${count}})`;
}

/** Operators that read UTF-8 as UTF-8. They hold in every policy; rules that are missing are. */
export function renderUtf8Rules(major: number): string {
  const lines = [update(941_310, strayTags)];
  if (major < 4) {
    lines.push(
      update(942_420, specialCharacters(8)),
      update(942_421, specialCharacters(3)),
      update(942_430, specialCharacters(12)),
      update(942_431, specialCharacters(6)),
      update(942_432, specialCharacters(2)),
    );
  }
  return lines.join('\n');
}

/** 941180 without the bare marks of comments and CDATA, which run nothing. */
const scriptWords = {
  3: 'document.cookie document.write .parentnode .innerhtml window.location -moz-binding <!--#',
  4:
    'document.cookie document.domain document.querySelector document.body.appendChild ' +
    'document.write .parentnode .innerhtml window.location -moz-binding <!--#',
} as const;

/** What ends a token of a media type or of a parameter. */
const separators = '\\x00-\\x20!\\x22(),/:-?\\[-\\]{}\\x7f';
/** What a name begins with that does not begin with the word. */
function beginsOtherwise(word: string, excluded: string): string {
  const ways = [...word].map((letter, at) => `${word.slice(0, at)}[^${letter}${excluded}]`);
  return `(?:${ways.join('|')})`;
}

/** A name of a parameter that is not the word. */
const otherNames = beginsOtherwise('charset', separators);
const blanks = '[\\t ]*';
const partCharset = '(?:us-)?ascii|utf-?8|iso-8859-15?|windows-1252';
const partParameter = [
  `${blanks};${blanks}(?:charset${blanks}=${blanks}(?:(?:${partCharset})|\\x22(?:${partCharset})\\x22)`,
  `|${otherNames}[^${separators}]*${blanks}=${blanks}(?:[^${separators}]+|\\x22[^\\x22\\x5c]*\\x22))?`,
].join('');
/** One media type, with no charset but ASCII and what writes ASCII as ASCII does. */
const partType = `!@rx ^[^${separators}]+/[^${separators}]+(?:${partParameter})*${blanks}$`;

/**
 * 921421, which looks for a media type after the first one, without the parameters of
 * multipart/related: they name the type of the first part (RFC 2387).
 */
const dangerousTypes = '(?:application/(?:.+\\+)?json|(?:application/(?:soap\\+)?|text/)xml)';
const secondType =
  `@rx ^${beginsOtherwise('multipart/related', '\\s,;')}[^\\s,;]*[\\s,;].*?${dangerousTypes}|` +
  `^multipart/related[^;]+?${dangerousTypes}`;

/**
 * 920470 with every parameter that RFC 9110 allows (5.6.6): any name, none after `;`, blanks and
 * `;` in quotes. What a value may hold stays what CRS says.
 */
const parameterValue = `(?:['\\x22\\w.()+,/:=?<>@#*-]+|\\x22['\\w.()+,/:=?<>@#*~; -]*\\x22)`;
const mediaType =
  `!@rx ^[\\w/.+*-]+(?:${blanks};${blanks}` +
  `(?:[\\w.+-]+\\s?=\\s?${parameterValue})?)*${blanks}$`;

/** Names of OData's query options; what they hold is inspected as before. */
const odataOptions = [
  ...['apply', 'compute', 'count', 'deltatoken', 'expand', 'filter', 'format', 'levels'],
  ...['orderby', 'search', 'select', 'skip', 'skiptoken', 'top'],
].map((name) => `!ARGS_NAMES:$${name}`);
const odataMistaken = [942_290, 942_360];

/** After the rules of the ruleset: what a policy with `narrowed_rules` changes in them. */
export function renderNarrowedRules(major: number): string {
  return [
    update(920_470, mediaType),
    update(921_421, secondType),
    update(922_110, partType),
    update(941_180, `@pm ${scriptWords[major < 4 ? 3 : 4]}`),
    // Letters stay letters: utf8toUnicode with urlDecodeUni makes quotes of U+0627 and U+0427.
    'SecRuleUpdateActionById 942100 "t:none,t:urlDecodeUni,t:removeNulls"',
    `SecRuleUpdateTargetById 942100 "!ARGS:${passwordNames}"`,
    ...odataMistaken.map((id) => `SecRuleUpdateTargetById ${id} "${odataOptions.join('|')}"`),
  ].join('\n');
}

/**
 * Before the rules of the ruleset: what 942100 no longer reads, letters and quotes in full width,
 * which databases turn into ASCII.
 */
export function renderFullWidthRule(major: number): string {
  const score = major < 4 ? 'tx.anomaly_score_pl1' : 'tx.inbound_anomaly_score_pl1';
  const letters = '@rx \\xef\\xbc[\\x82\\x87\\xa1-\\xba]|\\xef\\xbd[\\x81-\\x9a]';
  return `SecRule REQUEST_COOKIES|ARGS|ARGS_NAMES|XML:/* "${letters}" \\
  "id:${fullWidthRule},phase:2,block,t:none,t:urlDecodeUni,severity:2,tag:'attack-sqli',\\
  msg:'SQL injection in letters of full width',logdata:'%{MATCHED_VAR_NAME}=%{MATCHED_VAR}',chain"
  SecRule MATCHED_VARS "@detectSQLi" \\
    "t:none,t:utf8toUnicode,t:urlDecodeUni,t:removeNulls,\\
    setvar:'${score}=+%{tx.critical_anomaly_score}',\\
    setvar:'tx.sql_injection_score=+%{tx.critical_anomaly_score}'"
`;
}

/** Names of arguments that hold passwords, such as `new_password` and `user[passwd]`. */
const passwordNames =
  '/(?i)(?:passw(?:or)?d|passphrase|(?:^|[^a-z])(?:pass|pwd))[0-9]{0,2}' +
  '(?:[-_]?(?:confirm(?:ation)?|repeat|again|verify|new|old|current))?[]]?$/';

const sqlWords = [
  ...['or', 'and', 'xor', 'not', 'div', 'mod', 'like', 'rlike', 'regexp', 'between', 'is', 'in'],
  ...['null', 'true', 'false', 'union', 'select', 'insert', 'update', 'delete', 'drop', 'exec'],
  ...['from', 'where', 'having', 'group', 'order', 'limit', 'into', 'if', 'case', 'when', 'then'],
  ...['else', 'end', 'as', 'by', 'on', 'all', 'any', 'exists', 'collate', 'binary', 'sounds'],
  ...['similar', 'glob', 'match', 'cast', 'convert', 'declare', 'set', 'waitfor', 'begin'],
].join('|');

/**
 * What a password needs to be SQL that does something, beside what libinjection finds in it:
 * blanks, a word or a call, quotes that can be balanced, or a comment or the end of a statement
 * after a quote. A text with one quote and none of these leaves a literal open: a syntax error.
 */
const activeSql = [
  '^.{0,7}$',
  '[^!-~]',
  `(?i)(?:^|[^a-z])(?:${sqlWords})(?:[^a-z]|$)`,
  '(?i)[a-z0-9_]{2,}\\(|@@|0x',
  "'.*'",
  '\\x22.*\\x22',
  "['\\x22`].*(?:#|--|/\\*|;)",
].join('|');

/**
 * Before the rules of the ruleset: what 942100 no longer reads, passwords. libinjection takes one
 * of 150 random ones for SQL.
 */
export function renderPasswordRule(major: number): string {
  const score = major < 4 ? 'tx.anomaly_score_pl1' : 'tx.inbound_anomaly_score_pl1';
  return `SecRule ARGS:${passwordNames} "@detectSQLi" \\
  "id:${passwordRule},phase:2,block,t:none,t:urlDecodeUni,t:removeNulls,severity:2,\\
  tag:'attack-sqli',msg:'SQL injection in a password',\\
  logdata:'%{MATCHED_VAR_NAME}',chain"
  SecRule MATCHED_VARS "@rx (?s:${activeSql})" \\
    "t:none,\\
    setvar:'${score}=+%{tx.critical_anomaly_score}',\\
    setvar:'tx.sql_injection_score=+%{tx.critical_anomaly_score}'"
`;
}

/** The rules that take a selection such as `{ id }` for a command, and variables for operators. */
const graphQlMistaken = [932_100, 932_235, 942_290];
/** The last is that of messages over a WebSocket (graphql-ws, subscriptions-transport-ws). */
const graphQlTargets = ['ARGS:query', 'ARGS:json.query', 'ARGS:json.payload.query'];

/**
 * Before the rules of the ruleset: GraphQL documents of names, variables and braces alone, sent to
 * a path of that name. A document with a text in it, a separator of commands or `$(` is inspected
 * by all rules.
 */
export function renderGraphQlRules(): string {
  const controls = graphQlMistaken.flatMap((id) =>
    graphQlTargets.map((target) => `ctl:ruleRemoveTargetById=${id};${target}`),
  );
  const targets = graphQlTargets.join('|');
  const document = '^\\s*(?:query|mutation|subscription|fragment|\\{)[\\w\\s{}():,!$@\\[\\]=.#-]*$';
  const start = 'phase:2,t:none,pass,nolog';
  return `SecRule REQUEST_FILENAME "@rx (?i)/(?:graphql|gql)/?$" \\
  "id:${graphQlRules},${start},setvar:'tx.graphql_document=1'"
SecRule ${targets} "!@rx ${document}" \\
  "id:${graphQlRules + 1},${start},setvar:'tx.graphql_document=0'"
SecRule ${targets} "@contains $(" \\
  "id:${graphQlRules + 2},${start},setvar:'tx.graphql_document=0'"
SecRule TX:graphql_document "@eq 1" \\
  "id:${graphQlRules + 3},${start},${controls.join(',')}"
`;
}

/** Before the rules of the ruleset, where unusual requests are allowed. */
export function renderUnusualRequests({ allowedMethods = [] }: HttpPolicyJson): string {
  const names = ['X-HTTP-Method', 'X-HTTP-Method-Override', 'X-Method-Override'];
  const methods = allowedMethods.map((one) => one.replace(/[^A-Za-z0-9]/g, '\\$&')).join('|');
  const override = `SecRule ${names.map((name) => `REQUEST_HEADERS:${name}`).join('|')} \\
  "!@rx ^(?i:${methods})?$" \\
  "id:${methodOverrideRule},phase:1,t:none,t:trim,log,deny,status:403,severity:2,\\
  msg:'A header asks for a method that the policy does not allow',logdata:'%{MATCHED_VAR}'"
`;
  return `${methods === '' ? '' : override}SecRule REQUEST_HEADERS:Content-Type \\
  "@rx (?i)charset\\s*=\\s*[\\"']?(?:us-)?ascii" \\
  "id:${asciiRule},phase:2,t:none,log,deny,status:403,severity:2,\\
  msg:'A body that says it is US-ASCII has other bytes',chain"
  SecRule ARGS|ARGS_NAMES|REQUEST_BODY "@rx [\\x80-\\xff]" "t:none,t:urlDecodeUni"
`;
}

function update(id: number, operator: string): string {
  return `SecRuleUpdateOperatorById ${id} "${operator}"`;
}
