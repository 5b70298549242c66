/**
 * Random SecLang rule sets for comparing engines: every kind of chain, skip and TX change that the
 * planner treats specially, small enough to collide.
 */

import fc from 'fast-check';
import { operator, rowTargets, targets, transformation, txNames } from './rule-parts.ts';
import { standingRules } from './standing-texts.ts';

const name = fc.constantFrom(...txNames);

const runtimeAction = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(name, fc.constantFrom('1', '2', '+1', '+%{tx.pl}', '-1', '%{MATCHED_VAR}', '%{tx.a}'))
      .map(([key, value]) => `setvar:'tx.${key}=${value}'`),
  },
  { weight: 1, arbitrary: name.map((key) => `setvar:'!tx.${key}'`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      `setvar:'tx.late_%{tx.a}=1'`,
      `setvar:'tx.%{MATCHED_VAR_NAME}=%{MATCHED_VAR}'`,
      `setvar:'tx.b=%{tx.1}'`,
      `setvar:'tx.b=%{HIGHEST_SEVERITY}'`,
      `setvar:'tx.b=%{rule.msg}'`,
      `setvar:'tx.a=%{RULE.logdata}'`,
      'initcol:ip=%{REMOTE_ADDR}',
      `setvar:'ip.n=+1'`,
      `setvar:'tx.a=%{ip.n}'`,
      'expirevar:ip.n=60',
      `setenv:'e=%{MATCHED_VAR}'`,
      'sanitiseArg:x',
      'sanitiseMatched',
    ),
  },
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
      'ctl:ruleEngine=On',
      'ctl:ruleRemoveByMsg=m',
      'ctl:ruleRemoveTargetByMsg=m;ARGS:/^[xq]/',
      'ctl:ruleRemoveTargetById=1-9;XML:/*',
      'ctl:ruleRemoveTargetById=2-6;TX:a',
      'ctl:requestBodyProcessor=JSON',
      'ctl:requestBodyProcessor=XML',
      'ctl:requestBodyProcessor=URLENCODED',
      'ctl:requestBodyProcessor=GRPC',
      'ctl:requestBodyAccess=Off',
      'ctl:forceRequestBodyVariable=On',
      'ctl:responseBodyAccess=Off',
    ),
  },
);

const disruptive = fc.oneof(
  { weight: 12, arbitrary: fc.constant('pass') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'deny',
      'deny,status:406',
      'block',
      'drop',
      `redirect:'http://b/%{tx.a}'`,
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('allow', 'allow:phase', 'allow:request') },
);

const flow = fc.oneof(
  { weight: 8, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom('skip:1', 'skip:2') },
  { weight: 1, arbitrary: fc.constantFrom('skipAfter:M1', 'skipAfter:M2', 'skipAfter:M3') },
);

const extras = fc
  .tuple(
    fc.subarray(['capture', 'multiMatch', "tag:'t1'"]),
    fc.constantFrom('', '', "severity:'CRITICAL'", "severity:'NOTICE'"),
    fc.constantFrom('', "msg:'m'", "msg:'m %{TX.1}'", "msg:'%{MATCHED_VAR_NAME}'"),
    fc.constantFrom('', '', "logdata:'%{TX.0} %{MATCHED_VAR} %{ARGS.x}'", "tag:'%{tx.a}'"),
  )
  .map(([list, ...more]) => [...list, ...more]);
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

/** Links that leave nothing: a chain of these may be searched for by any of them. */
const silentLink: fc.Arbitrary<LinkParts> = fc
  .tuple(targets, operator, transformations, fc.constantFrom('', '', 'capture'))
  .map(([t, o, chain, capture]) => ({ targets: t, operator: o, list: [...chain, capture] }));

/** As CRS 920450: copies of values, and a question about the copies. */
const copyChain = fc
  .tuple(
    fc.constantFrom(...rowTargets, 'REQUEST_HEADERS:Host', 'ARGS:x'),
    fc.constantFrom('@rx ^.*$', '@rx ^.*$', '@rx .*', '@rx ^(.*)$', '!@rx ^.*$'),
    fc.constantFrom(['t:lowercase'], ['t:none'], ['t:urlDecodeUni', 't:lowercase'], ['t:length']),
    fc.constantFrom('copy_%{tx.0}', 'copy_%{tx.0}', 'co%{tx.0}', 'copy_%{tx.1}', 'copy_%{tx.0}_'),
    fc.constantFrom('/%{tx.0}/', '%{tx.0}', '/%{tx.0}', '%{tx.0} %{tx.a}'),
    fc.constantFrom(
      'TX:/^copy_/',
      'TX:/^copy_/',
      'TX:/^co/',
      'TX:/copy_/',
      'TX:/^copy_a/',
      'TX:copy_a',
    ),
    fc.constantFrom('@within /host/ /a/ x /select/', '@within %{tx.list}', '!@within /a/ /x/'),
  )
  .map(([from, all, chain, key, value, asked, question]): [LinkParts, LinkParts] => [
    { targets: from, operator: all, list: [...chain, 'capture', `setvar:'tx.${key}=${value}'`] },
    { targets: asked, operator: question, list: [] },
  ]);

const chainParts: fc.Arbitrary<{ head: LinkParts; links: readonly LinkParts[] }> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ head: link, links: fc.array(link, { maxLength: 2 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      head: silentLink,
      links: fc.array(silentLink, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: copyChain.map(([head, asking]) => ({ head, links: [asking] })) },
);

const rule = fc
  .tuple(
    fc.constantFrom(1, 1, 1, 2, 2, 2, 3, 4, 5),
    fc.boolean(),
    chainParts,
    disruptive,
    flow,
    extras,
    logging,
  )
  .map(([phase, isAction, { head, links }, outcome, jump, more, log]) => {
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

const settings = fc.tuple(
  fc.constantFrom('On', 'On', 'On', 'DetectionOnly'),
  fc.constantFrom('', '', 'SecDefaultAction "phase:2,log,auditlog,deny,status:418"'),
  fc.constantFrom('', '', 'SecDefaultAction "phase:1,nolog,pass,t:lowercase"'),
  fc.constantFrom('', 'SecInspectUnparsed On'),
);

/** What a last rule says of the state that all rules before it left. */
const closingRule = fc.constantFrom(
  '',
  '',
  '',
  `SecAction "id:90,phase:5,pass,log,msg:'%{MATCHED_VAR} %{MATCHED_VAR_NAME}'"`,
  `SecAction "id:90,phase:5,pass,log,logdata:'%{TX.a} %{TX.score} %{HIGHEST_SEVERITY}'"`,
  `SecRule ARGS|REQUEST_BODY "@rx a" "id:90,phase:5,pass,log,msg:'%{MATCHED_VAR}'"`,
);

const itemsMax = 14;

/** A rule set as text; ids count from 1 in order. */
export const ruleTexts: fc.Arbitrary<string> = fc
  .tuple(
    settings,
    fc.array(
      fc.oneof(
        { weight: 9, arbitrary: rule },
        { weight: 1, arbitrary: fc.constantFrom('M1', 'M2') },
        { weight: 2, arbitrary: standingRules },
      ),
      { minLength: 1, maxLength: itemsMax },
    ),
    closingRule,
    fc.array(fc.tuple(fc.nat(itemsMax), operator), { maxLength: 2 }),
  )
  .map(([[engine, ...defaults], items, closing, updates]) => {
    const lines = [`SecRuleEngine ${engine}`, 'SecRequestBodyAccess On', ...defaults];
    lines.push('SecResponseBodyAccess On');
    lines.push(`SecAction "id:91,phase:1,pass,nolog,setvar:'tx.list=/a/ /host/ GET Select'"`);
    let id = 1;
    for (const item of items) {
      if (typeof item === 'string') lines.push(`SecMarker ${item}`);
      else if (typeof item === 'function') {
        const written = item(id);
        id += written.length;
        lines.push(...written);
      } else lines.push(...writeRule(item, id++));
    }
    const updated = updates.flatMap(([at, text]) => updateLine(lines, at, text));
    return [...lines, closing, ...updated].filter((line) => line !== '').join('\n') + '\n';
  });

/** Another operator for one of the rules; nothing without any. */
function updateLine(lines: readonly string[], at: number, text: string): string[] {
  const ids = lines.flatMap((line) => /^SecRule .*"id:(\d+)/.exec(line)?.[1] ?? []);
  const id = ids[at % Math.max(1, ids.length)];
  return id === undefined ? [] : [`SecRuleUpdateOperatorById ${id} "${text}"`];
}

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
