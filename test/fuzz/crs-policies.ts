/**
 * Random policies over CRS: part of its rules, its knobs turned, rules taken out, changed and
 * doubled, own rules around and between them. Compiles nothing.
 */

import { type Dice, startDice } from '../agree/random-changes.ts';
import { type CrsFile, vocabularyOf } from './crs-pieces.ts';
import { OwnRules } from './own-rules.ts';

/** The texts of a policy in order; most of them may be left out. */
export type PolicyPieces = readonly string[];

/** One version of CRS, ready to be cut. */
export interface CrsParts {
  readonly files: readonly CrsFile[];
  /** What the set-up sets in any case. */
  readonly version: string;
}

/** Rules that a policy takes from the files about attacks. */
const attackRulesMax = 22;

/** The policy of a seed; `whole` takes all of CRS. */
export function drawPolicy(
  seed: number,
  { files, version }: CrsParts,
  whole = false,
): PolicyPieces {
  const dice = startDice(seed);
  const taken = whole ? files.map(({ pieces }) => pieces) : drawFiles(dice, files);
  const words = vocabularyOf(taken.flat());
  const own = new OwnRules(dice, words, 100);
  const many = dice.pick([1, 2, 4]);
  const some = (max: number): string[] => {
    return Array.from({ length: dice.below(max + 1) % (many + 1) }, () => own.rule());
  };
  const middle = taken.flatMap((pieces) => [...pieces, ...(dice.below(3) === 0 ? some(2) : [])]);
  const between = insertPlots(dice, own, insertAll(dice, middle, some(3)));
  return [
    ...drawSettings(dice),
    ...drawDefaults(dice),
    `SecAction "id:900990,phase:1,pass,t:none,nolog,setvar:tx.crs_setup_version=${version}"`,
    ...drawKnobs(dice, own),
    ...some(4),
    ...between,
    ...doubles(dice, taken.flat()),
    ...some(3),
    ...drawChanges(dice, own, words),
  ];
}

/** Initialization and evaluation mostly whole, of some others some rules. */
function drawFiles(dice: Dice, files: readonly CrsFile[]): (readonly string[])[] {
  const chosen = new Set([dice.below(files.length), dice.below(files.length)]);
  let left = attackRulesMax;
  return files.map(({ name, pieces }, at) => {
    if (/-9(?:01|05)-/.test(name)) return dice.below(12) === 0 ? thin(dice, pieces, 4) : pieces;
    if (/-(?:949|959|980)-/.test(name)) {
      const kind = dice.below(4);
      return kind === 0 ? [] : kind === 1 ? thin(dice, pieces, 4) : pieces;
    }
    if (!chosen.has(at)) return [];
    const rules = pieces.filter((one) => /^Sec(?:Rule|Action)\b/.test(one)).length;
    const part = thin(dice, pieces, Math.max(1, Math.ceil((2 * rules) / Math.max(1, left))));
    left -= part.length;
    return part;
  });
}

/** Leaves out every `share`th, or keeps only every `share`th where that is many. */
function thin(dice: Dice, pieces: readonly string[], share: number): string[] {
  // Skips by paranoia level and markers are what makes CRS fold.
  return pieces.filter((one) => {
    const frame = /^SecMarker|skipAfter/.test(one);
    return frame ? dice.below(12) > 0 : dice.below(share) === 0;
  });
}

function insertAll(dice: Dice, into: readonly string[], pieces: readonly string[]): string[] {
  const list = [...into];
  for (const piece of pieces) list.splice(dice.below(list.length + 1), 0, piece);
  return list;
}

/** Around some of the pieces that read TX, rules that interfere with them. */
function insertPlots(dice: Dice, own: OwnRules, pieces: readonly string[]): string[] {
  const list = [...pieces];
  for (let left = dice.below(plotsMax + 1); left > 0 && list.length > 0; left--) {
    const at = dice.below(list.length);
    const plot = own.plot(list[at]!);
    if (plot === null) continue;
    const after = at + 1 + (dice.below(2) === 0 ? 0 : dice.below(list.length - at));
    list.splice(after, 0, ...plot.after);
    list.splice(dice.below(2) === 0 ? at : dice.below(at + 1), 0, ...plot.before);
  }
  return list;
}

const plotsMax = 8;

/** Rules once more under other ids. */
function doubles(dice: Dice, pieces: readonly string[]): string[] {
  const rules = pieces.filter((one) => /\bid:\d/.test(one));
  if (rules.length === 0) return [];
  return Array.from({ length: dice.below(4) }, (_, n) => {
    return dice.pick(rules).replace(/\bid:\d+/, `id:${800 + n}`);
  });
}

function drawSettings(dice: Dice): string[] {
  return [
    `SecRuleEngine ${dice.pick(['On', 'On', 'On', 'DetectionOnly'])}`,
    `SecRequestBodyAccess ${dice.pick(['On', 'On', 'On', 'On', 'Off'])}`,
    'SecResponseBodyAccess On',
    'SecResponseBodyMimeType text/plain text/html text/xml application/json',
    `SecRequestBodyLimit ${dice.pick(['13107200', '13107200', '200', '16'])}`,
    `SecRequestBodyNoFilesLimit ${dice.pick(['131072', '131072', '64'])}`,
    `SecRequestBodyLimitAction ${dice.pick(['Reject', 'ProcessPartial'])}`,
    `SecRequestBodyJsonDepthLimit ${dice.pick(['512', '512', '2', '1'])}`,
    `SecArgumentsLimit ${dice.pick(['1000', '1000', '3', '1'])}`,
    ...recommended.filter(() => dice.below(4) > 0),
  ];
}

/** As modsecurity.conf-recommended has them. */
const recommended = [
  'SecRule REQUEST_HEADERS:Content-Type "^(?:application(?:/soap\\+|/)|text/)xml" ' +
    '"id:200000,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"',
  'SecRule REQUEST_HEADERS:Content-Type "^application/json" ' +
    '"id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"',
  'SecRule REQBODY_ERROR "!@eq 0" "id:200002,phase:2,t:none,log,deny,status:400,' +
    "msg:'Failed to parse request body.',logdata:'%{reqbody_error_msg}',severity:2\"",
  'SecRule MULTIPART_STRICT_ERROR "!@eq 0" "id:200003,phase:2,t:none,log,deny,status:400"',
  'SecRule TX:/^MSC_/ "!@streq 0" "id:200005,phase:2,t:none,deny,' +
    "msg:'ModSecurity internal error flagged: %{MATCHED_VAR_NAME}'\"",
];

function drawDefaults(dice: Dice): string[] {
  const blocking = dice.pick(['pass', 'pass', 'deny,status:403', "redirect:'http://b/'", 'drop']);
  const logging = dice.pick(['log,auditlog', 'log,auditlog', 'nolog,auditlog', 'nolog']);
  const more = dice.pick(['', '', '', ',t:lowercase', ',t:urlDecodeUni,t:length', ",tag:'own'"]);
  const list = [1, 2, 3, 4, 5].map((phase) => {
    return `SecDefaultAction "phase:${phase},${logging},${blocking}${more}"`;
  });
  return dice.below(6) === 0 ? list.slice(0, 2) : list;
}

const numberKnobs = [
  'blocking_paranoia_level',
  'detection_paranoia_level',
  'paranoia_level',
  'executing_paranoia_level',
  'enforce_bodyproc_urlencoded',
  'critical_anomaly_score',
  'error_anomaly_score',
  'warning_anomaly_score',
  'notice_anomaly_score',
  'inbound_anomaly_score_threshold',
  'outbound_anomaly_score_threshold',
  'reporting_level',
  'early_blocking',
  'enable_default_collections',
  'do_reput_block',
  'allow_method_override_parameter',
  'max_num_args',
  'arg_name_length',
  'arg_length',
  'total_arg_length',
  'max_file_size',
  'combined_file_sizes',
  'sampling_percentage',
  'crs_validate_utf8_encoding',
  'crs_skip_response_analysis',
] as const;

const listKnobs: readonly (readonly [string, readonly string[]])[] = [
  [
    'allowed_methods',
    ['GET HEAD POST OPTIONS', 'GET', 'GET %{tx.own}', 'PUT %{REQUEST_METHOD}', ''],
  ],
  [
    'allowed_request_content_type',
    ['|application/x-www-form-urlencoded| |application/json|', '|text/xml|', '|%{tx.own}|'],
  ],
  ['allowed_request_content_type_charset', ['|utf-8|', '|utf-8| |%{tx.own}|']],
  ['allowed_http_versions', ['HTTP/1.0 HTTP/1.1 HTTP/2', 'HTTP/2', 'HTTP/%{tx.own}']],
  ['restricted_extensions', ['.php/ .sql/ .bak/', '.%{tx.own}/', '']],
  ['restricted_headers', ['/proxy/ /x-a/', '/user-agent/']],
  ['restricted_headers_basic', ['/proxy/ /x-a/', '/user-agent/ /%{tx.own}/', '']],
  ['restricted_headers_extended', ['/accept-charset/', '/accept/ /host/', '%{tx.own_b}']],
];

/** Set-up rules: knobs set for all, for some requests, twice, or removed again. */
function drawKnobs(dice: Dice, own: OwnRules): string[] {
  const level = dice.pick([1, 1, 2, 3, 4]);
  const set = (name: string, value: string): string => `setvar:'tx.${name}=${value}'`;
  const actions = [
    set('blocking_paranoia_level', String(level)),
    ...(dice.below(2) === 0
      ? [set('detection_paranoia_level', String(dice.pick([level, 4])))]
      : []),
    ...(dice.below(2) === 0 ? [set('own', dice.pick(['1', 'GET', 'a', 'x-a']))] : []),
  ];
  for (let left = dice.below(9); left > 0; left--) {
    if (dice.below(3) === 0) {
      const [name, values] = dice.pick(listKnobs);
      actions.push(set(name, dice.pick(values)));
    } else {
      const other = `%{tx.${own.variable()}}`;
      const usual = ['0', '1', '2', '4', '5', '100', '10000'];
      actions.push(set(dice.pick(numberKnobs), dice.pick([...usual, ...usual, ...odd, other])));
    }
  }
  return actions.map((action, n) => knobRule(dice, 900000 + n, action));
}

const odd = ['', '-1', 'a', '+1', '3.5', '99999999999999999999'];

function knobRule(dice: Dice, id: number, action: string): string {
  const list = `id:${id},phase:1,pass,t:none,nolog,${action}`;
  if (dice.below(8) > 0) return `SecAction "${list}"`;
  const asked = dice.pick([
    'REQUEST_FILENAME "@beginsWith /a"',
    'ARGS "@rx [a-z]"',
    '&TX:own "@eq 0"',
    'TX:own "@streq 1"',
    'REQUEST_METHOD "@streq POST"',
    'UNIQUE_ID "@rx ."',
  ]);
  return `SecRule ${asked} "${list}"`;
}

/** Removals and updates, which have to follow the rules. */
function drawChanges(
  dice: Dice,
  own: OwnRules,
  { tags, messages, ids }: ReturnType<typeof vocabularyOf>,
): string[] {
  const target = (): string =>
    dice.pick(['!ARGS:x', '!REQUEST_COOKIES', '!ARGS', 'TX:own', '&ARGS', '!TX:own']);
  const kinds: readonly (() => string)[] = [
    () => `SecRuleRemoveById ${own.idList().replace(',', ' ')}`,
    () => `SecRuleRemoveByTag "${dice.pick(tags)}"`,
    () => `SecRuleRemoveByMsg "${escapePattern(dice.pick(messages))}"`,
    () => `SecRuleUpdateTargetById ${dice.pick(ids)} "${target()}"`,
    () => `SecRuleUpdateTargetByTag "${dice.pick(tags)}" "${target()}"`,
    () => `SecRuleUpdateTargetByMsg "${escapePattern(dice.pick(messages))}" "${target()}"`,
    () => `SecRuleUpdateActionById ${dice.pick(ids)} "${dice.pick(updates)},${own.action()}"`,
    () => `SecRuleUpdateActionById ${dice.pick(ids)} "${own.action()}"`,
  ];
  if (tags.length === 0 || messages.length === 0 || ids.length === 0) return [];
  return Array.from({ length: dice.below(6) }, () => dice.pick(kinds)());
}

const updates = [
  'pass',
  'deny',
  'nolog',
  'log',
  "severity:'NOTICE'",
  "tag:'own'",
  't:none',
  'allow',
];

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '.');
}
