/**
 * Random rules that run in every transaction: skips, and scores that are added up, compared
 * and reset as CRS does. Most of them come out the same unless some other rule interferes.
 */

import fc from 'fast-check';

/** One or more rules, with ids from `id` on; as many ids as texts. */
export type RuleWriter = (id: number) => string[];

const phases = fc.constantFrom(1, 1, 2, 2, 2, 3, 4, 5, 5);
const scores = fc.constantFrom('score', 'total', 'pl', 'a', 'late_x', '1');

/** Skips that every request makes, or none; and those that planning cannot decide. */
const jumps: fc.Arbitrary<RuleWriter> = fc
  .tuple(
    phases,
    fc.constantFrom('&TX:never', '&TX:never', 'TX:pl', 'TX:score', '&TX:a', 'IP:n', 'ARGS:x'),
    fc.constantFrom('@eq 0', '@eq 0', '@eq 1', '!@eq 1', '@ge 0'),
    fc.constantFrom('skipAfter:M1', 'skipAfter:M2', 'skipAfter:M2', 'skipAfter:M3', 'skip:2'),
    fc.constantFrom('nolog', 'nolog', "nolog,tag:'t1'", "nolog,setvar:'tx.b=1'", 'log'),
    fc.constantFrom(false, false, true),
  )
  .map(([phase, from, question, jump, more, removed]) => {
    return (id) => {
      const rule = (n: number): string => {
        return `SecRule ${from} "${question}" "id:${n},phase:${phase},pass,${more},${jump}"`;
      };
      if (!removed) return [rule(id)];
      const removal = `phase:${phase},pass,nolog,ctl:ruleRemoveById=${id + 1}`;
      return [`SecRule ARGS "@rx a" "id:${id},${removal}"`, rule(id + 1)];
    };
  });

const texts = fc.constantFrom('0', '1', '+1', '-1', '+%{tx.pl}', '%{tx.score}', '+%{tx.total}');
const sets = fc
  .array(fc.tuple(scores, texts, fc.constantFrom('', '', '', '!')), { minLength: 1, maxLength: 2 })
  .map((list) => {
    return list.map(([name, text, not]) => `setvar:'${not}tx.${name}${not ? '' : `=${text}`}'`);
  })
  .map((list) => list.join(','));

/** Rules that set scores whenever they run, or when other scores ask for it. */
const sums: fc.Arbitrary<RuleWriter> = fc
  .tuple(
    phases,
    fc.option(
      fc.tuple(
        fc.constantFrom('TX:', 'TX:', 'TX:', '&TX:', 'TX:pl|TX:'),
        scores,
        fc.constantFrom('@ge 1', '@eq 0', '@lt 5', '!@eq 1', '@ge %{tx.pl}', '@rx ^[0-9]'),
      ),
      { freq: 3 },
    ),
    sets,
    fc.constantFrom('nolog', 'nolog', 'nolog', 'log', "nolog,tag:'%{tx.a}'", "nolog,tag:'t1'"),
  )
  .map(([phase, asked, list, log]) => {
    return (id) => {
      const actions = `"id:${id},phase:${phase},pass,${log},${list}"`;
      if (asked === null) return [`SecAction ${actions}`];
      return [`SecRule ${asked[0]}${asked[1]} "${asked[2]}" ${actions}`];
    };
  });

/** What sets values up in the first phase, most of it the same for every request. */
const constants: fc.Arbitrary<RuleWriter> = fc
  .tuple(
    fc.constantFrom('', '', '', '&TX:c "@eq 0"', 'TX:c|TX:d "@ge 1"', 'TX:c "@eq %{tx.d}"'),
    fc.constantFrom('c', 'd', 'late_c', 'copy_c', 'score'),
    fc.constantFrom('0', '1', '+1', '%{tx.d}', '/a/'),
    fc.constantFrom('', '', ",tag:'t1'", ",tag:'%{MATCHED_VAR}'", ",msg:'m;n'", ",tag:'%{tx.0}'"),
    fc.constantFrom('', '', '', ',skipAfter:M1', ',skip:1'),
    fc.constantFrom('', '', '', 'TX:c "@eq 0"', 'ARGS "@rx a"'),
  )
  .map(([asked, name, value, more, jump, next]) => {
    return (id) => {
      const head = asked === '' ? 'SecRule &TX:none "@eq 0"' : `SecRule ${asked}`;
      const list = `id:${id},phase:1,pass,nolog,setvar:'tx.${name}=${value}'${more}${jump}`;
      if (next !== '') return [`${head} "${list},chain"\nSecRule ${next}`];
      return [asked === '' ? `SecAction "${list}"` : `${head} "${list}"`];
    };
  });

/** Questions about sums and about how the body was read. */
const questions: fc.Arbitrary<RuleWriter> = fc
  .tuple(
    phases,
    fc.constantFrom(
      'TX:score "@ge 1"',
      'TX:total "@ge 2"',
      'TX:total "@eq 0"',
      'TX:/^(?:score|late)/ "@ge 1"',
      '&TX:/^late/ "@ge 1"',
      'REQBODY_PROCESSOR "@streq JSON"',
      'REQBODY_PROCESSOR "!@rx (?:URLENCODED|MULTIPART|XML|JSON)"',
      'REQBODY_ERROR "!@eq 0"',
      'MULTIPART_STRICT_ERROR "!@eq 0"',
      'REQUEST_BODY_LENGTH "@gt 0"',
      'REQUEST_BODY_LENGTH "@eq 0"',
    ),
    fc.constantFrom('pass,nolog', 'pass,log', 'deny,log', 'deny,nolog', 'pass,nolog,skipAfter:M2'),
    fc.constantFrom('', '', "setvar:'tx.score=+1'", "setvar:'tx.seen=1'"),
    fc.constantFrom('', '', 'TX:pl "@eq 1"', 'TX:total "@ge 1"', 'ARGS:x "@rx a"'),
    fc.constantFrom('', "setvar:'tx.total=+1'"),
  )
  .map(([phase, asked, outcome, own, next, last]) => {
    return (id) => {
      const list = [`id:${id}`, `phase:${phase}`, outcome, own].filter((part) => part !== '');
      if (next === '') return [`SecRule ${asked} "${list.join(',')}"`];
      const link = `SecRule ${next}${last === '' ? '' : ` "${last}"`}`;
      return [`SecRule ${asked} "${[...list, 'chain'].join(',')}"\n${link}`];
    };
  });

/** What interferes: values that add to scores, removals, other processors, texts that show them. */
const interference: fc.Arbitrary<RuleWriter> = fc
  .tuple(
    phases,
    fc.constantFrom(
      'ARGS "@rx a"',
      'ARGS:x "@rx ."',
      'REQUEST_HEADERS:Host "@rx ."',
      'REQUEST_URI "@contains a"',
      'REQUEST_URI "@contains %{tx.score}"',
      'ARGS|TX:total "@rx 1"',
      'REMOTE_ADDR "@ipMatch 127.0.0.0/8"',
    ),
    fc.constantFrom(
      "setvar:'tx.score=+2'",
      "setvar:'tx.total=%{tx.score}'",
      "setvar:'tx.other=%{tx.total}'",
      "setvar:'tx.late_%{MATCHED_VAR_NAME}=1'",
      "setvar:'tx.to%{ARGS.x}=1'",
      'capture',
      'ctl:ruleRemoveById=1-6',
      'ctl:ruleRemoveTargetById=1-20;TX:score',
      'ctl:ruleRemoveTargetById=1-20;ARGS',
      'ctl:requestBodyProcessor=JSON',
      'ctl:ruleEngine=DetectionOnly',
      'ctl:ruleEngine=Off',
      'ctl:auditLogParts=+E',
      "initcol:'ip=%{tx.total}',setvar:'ip.n=+1'",
      "setenv:'e=%{tx.score}'",
      "setenv:'e=%{tx:total}'",
      "setenv:'e=%{tx./^(?:late|c)/}'",
      "setenv:'e=%{tx}'",
      "setvar:'tx.other=%{tx./^to/}'",
      'ctl:ruleRemoveByTag=t1',
      "ctl:ruleRemoveByTag='t1'",
      'ctl:ruleRemoveByTag=a',
      "ctl:'ruleRemoveByMsg=m;n'",
      "ctl:'ruleRemoveById = 1-20'",
      "ctl:' ruleRemoveTargetByTag = t1;TX:c'",
      "ctl:'ruleRemoveTargetByTag=t1;TX:pl'",
      "setvar:'tx.c%{tx.other}=5'",
      "setvar:'!tx.c'",
    ),
    fc.constantFrom('nolog', 'nolog', "log,msg:'%{tx.score} %{tx.total}'"),
    fc.constantFrom('pass', 'pass', 'pass', 'pass,skip:1', 'allow:phase', 'deny'),
  )
  .map(([phase, asked, does, log, outcome]) => {
    return (id) => [`SecRule ${asked} "id:${id},phase:${phase},${outcome},${log},${does}"`];
  });

const countOne = "pass,nolog,setvar:'tx.total=+1'";
const onA = 'SecRule ARGS "@rx a"';

/** A rule that interferes between two that come out the same without it: head, then actions. */
const plots: readonly (readonly (readonly [head: string, actions: string])[])[] = [
  [
    [onA, 'pass,nolog,ctl:ruleRemoveTargetById=1-40;TX:score'],
    ['SecRule TX:score "@eq 0"', countOne],
  ],
  [
    ['SecAction', "pass,nolog,setvar:'tx.late_a=1'"],
    [onA, "pass,nolog,setvar:'tx.late_b=2'"],
    ['SecAction', "pass,nolog,setvar:'tx.late_c=3'"],
    ['SecRule TX:/^late_/ "@rx ."', "pass,log,msg:'%{MATCHED_VAR}'"],
  ],
  [
    [onA, 'pass,nolog,ctl:requestBodyProcessor=JSON'],
    ['SecRule REQBODY_ERROR "!@eq 0"', countOne],
  ],
  [
    [onA, 'pass,nolog,ctl:requestBodyProcessor=XML'],
    ['SecRule REQBODY_PROCESSOR "@streq XML"', countOne],
  ],
  [
    ['SecRule ARGS "@rx (.)"', 'pass,nolog,capture'],
    ['SecRule &TX:1 "@eq 0"', countOne],
  ],
  [
    ['SecRule ARGS:x "@rx ."', "pass,nolog,setvar:'tx.late_%{ARGS.x}=1'"],
    ['SecRule &TX:late_a "@eq 0"', countOne],
  ],
  [
    ['SecAction', 'pass,nolog,initcol:ip=%{REMOTE_ADDR}'],
    ['SecAction', countOne],
    [onA, "pass,nolog,setvar:'ip.n=%{tx.total}'"],
    ['SecRule IP:n "@ge 1"', 'pass,log'],
  ],
  [
    ['SecAction', countOne],
    [onA, 'pass,nolog,ctl:ruleRemoveTargetByTag=1;ARGS'],
    [onA, "pass,log,tag:'%{tx.total}'"],
  ],
  [
    [onA, "pass,nolog,ctl:ruleRemoveByTag='t1'"],
    ['SecAction', "pass,nolog,tag:'t1',setvar:'tx.c=1'"],
    ['SecRule &TX:c "@eq 0"', countOne],
  ],
  [
    [onA, "pass,nolog,ctl:'ruleRemoveByMsg = m;n'"],
    ['SecAction', "pass,nolog,msg:'m;n',skip:1"],
    ['SecAction', countOne],
  ],
  [
    [onA, "pass,nolog,setenv:'e=%{tx:c}%{tx./^late/}'"],
    ['SecAction', "pass,nolog,setvar:'tx.c=1',setvar:'tx.late_c=2'"],
    ['SecRule ENV:e "@rx ."', 'pass,log'],
  ],
  [
    ['SecAction', "pass,nolog,setvar:'tx.c=1',setvar:'tx.d=2'"],
    ['SecRule TX:c|TX:d "@ge 1"', "pass,nolog,setvar:'tx.d=0',setvar:'tx.total=+1'"],
    ['SecRule TX:total "@eq 2"', 'pass,log'],
  ],
];

/** In one phase, or with the last rules in the next one. */
const stories: fc.Arbitrary<RuleWriter> = fc
  .tuple(fc.constantFrom(...plots), fc.constantFrom(1, 2, 2, 3), fc.nat(3))
  .map(([plot, phase, late]) => {
    return (id) => {
      return plot.map(([head, actions], n) => {
        const own = phase + Number(plot.length - n < late);
        return `${head} "id:${id + n},phase:${own},${actions}"`;
      });
    };
  });

/** Questions whether something is missing, alone or after another. */
const absences: fc.Arbitrary<RuleWriter> = fc
  .tuple(
    phases,
    fc.constantFrom(
      'REQUEST_HEADERS:Host',
      'REQUEST_HEADERS:X-None',
      'REQUEST_HEADERS:Content-Length',
      'ARGS:x',
      'REQUEST_COOKIES:x',
    ),
    fc.constantFrom('@eq', '@eq', '@lt', '@le', '!@ge', '!@gt', '!@eq', '@ge', '@gt'),
    fc.constantFrom('0', '1', '1', '2', '-1', '%{tx.pl}'),
    fc.constantFrom('', '', ',capture', ",setvar:'tx.score=+1'", ',ctl:auditLogParts=+E'),
    fc.constantFrom('alone', 'after', 'after', 'before'),
    fc.constantFrom('pass,log', "pass,nolog,setvar:'tx.total=+1'", 'deny'),
    fc.boolean(),
  )
  .map(([phase, name, relation, number, own, place, outcome, shown]) => {
    return (id) => {
      const asked = `&${name} "${relation} ${number}"`;
      const other = 'ARGS "@rx (a)"';
      const [first, second] = place === 'after' ? [other, asked] : [asked, other];
      const head = `id:${id},phase:${phase},${outcome}${own}`;
      const rule =
        place === 'alone'
          ? `SecRule ${asked} "${head}"`
          : `SecRule ${first} "${head},chain"\nSecRule ${second}`;
      if (!shown) return [rule];
      const next = `"id:${id + 1},phase:${phase},pass,log,msg:'%{MATCHED_VAR_NAME} %{TX.1}'"`;
      return [rule, `SecAction ${next}`];
    };
  });

/** One of them. */
export const standingRules: fc.Arbitrary<RuleWriter> = fc.oneof(
  absences,
  stories,
  jumps,
  sums,
  sums,
  constants,
  constants,
  questions,
  interference,
);

/** A whole rule set of them: little else that would keep anything from being memoized. */
export const standingTexts: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: standingRules },
      { weight: 1, arbitrary: fc.constantFrom('M1', 'M2') },
    ),
    { minLength: 3, maxLength: 14 },
  )
  .map((items) => {
    const lines = [
      'SecRuleEngine On',
      'SecRequestBodyAccess On',
      'SecResponseBodyAccess On',
      `SecAction "id:91,phase:1,pass,nolog,setvar:'tx.pl=1',setvar:'tx.score=0'"`,
    ];
    let id = 1;
    for (const item of items) {
      if (typeof item === 'string') lines.push(`SecMarker ${item}`);
      else {
        const written = item(id);
        id += written.length;
        lines.push(...written);
      }
    }
    return `${lines.join('\n')}\n`;
  });
