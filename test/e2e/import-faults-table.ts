/**
 * What keeps a directive of a ModSecurity set-up from becoming part of a policy, a row each. `§`
 * stands before the place that the report names; it is no part of the directive.
 */

/** A directive, and what the report says of it. */
export interface ImportFault {
  /** What is wrong. */
  readonly name: string;
  /** Lines of SecLang; rules have ids of their own. */
  readonly text: string;
  readonly note: RegExp;
}

const rule = (rest: string, head = 'SecRule ARGS "@rx a"'): string =>
  `${head} "id:%ID,phase:2,${rest}"`;
const of = (targets: string, operator: string): string =>
  `SecRule ${targets} "${operator}" "id:%ID,phase:2,deny"`;
const control = (value: string): string => rule(`pass,ctl:§${value}`);

/** One row for each kind of fault. */
export const importFaults: readonly ImportFault[] = [
  {
    name: 'a namespace that is no URI',
    text: rule('deny,xmlns:§x=org.x'),
    note: /xmlns: expected a URI/,
  },
  {
    name: 'a namespace without a prefix',
    text: rule('deny,xmlns:§=urn:x'),
    note: /prefix is missing/,
  },
  {
    name: 'an unknown transformation',
    text: rule('deny,t:§rot13'),
    note: /unknown transformation/,
  },
  { name: 'an unknown action', text: rule('deny,§denyy'), note: /unknown action/ },
  { name: 'an unknown operator', text: of('ARGS', '@§frobnicate x'), note: /unknown operator/ },
  { name: 'an unknown variable', text: of('ARGS|§FOO_BAR', '@rx a'), note: /unknown variable/ },
  { name: 'a byte range above 255', text: of('ARGS', '@validateByteRange §32-300'), note: /255/ },
  { name: 'ctl:requestBodyLimit', text: control('requestBodyLimit=1000'), note: /Unknown switch/ },
  { name: 'ctl:responseBodyLimit', text: control('responseBodyLimit=1'), note: /Unknown switch/ },
  { name: 'ctl:hashEngine', text: control('hashEngine=On'), note: /Unknown switch/ },
  { name: 'ctl:hashEnforcement', text: control('hashEnforcement=On'), note: /Unknown switch/ },
  { name: 'ctl without a value', text: control('ruleEngine'), note: /expected name=value/ },
  {
    name: 'a value that ctl does not have',
    text: control('ruleEngine=Maybe'),
    note: /not one of this/,
  },
  { name: 'ctl of no number', text: control('ruleRemoveById=abc'), note: /expected rule ids/ },
  { name: 'ctl of no target', text: control('ruleRemoveTargetById=942100'), note: /semicolon/ },
  {
    name: 'ctl of an unknown target',
    text: control('ruleRemoveTargetById=942100;FOO_BAR'),
    note: /no known variable/,
  },
  {
    name: 'ctl of a target with no regular expression',
    text: control('ruleRemoveTargetById=942100;ARGS:/(/'),
    note: /no valid regular expression/,
  },
  {
    name: 'a pattern that is no regular expression',
    text: of('ARGS', '@rx §(a'),
    note: /@rx: /,
  },
  {
    name: 'a selector that is no regular expression',
    text: of('ARGS:§/(/', '@rx a'),
    note: /no regular expression/,
  },
  {
    name: 'an XPath that is not supported',
    text: of('XML:§/a[position()<2]', '@rx a'),
    note: /XPath/,
  },
  {
    name: 'a selector where there is none',
    text: of('REQUEST_URI:§a', '@rx a'),
    note: /REQUEST_URI/,
  },
  { name: 'an operator without its argument', text: of('ARGS', '§@pm'), note: /@pm/ },
  {
    name: 'an operator with an argument too many',
    text: of('ARGS', '@detectSQLi §x'),
    note: /detectSQLi/,
  },
  {
    name: 'an address that is none',
    text: of('REMOTE_ADDR', '@ipMatch §10.0.0.1/99'),
    note: /ipMatch/,
  },
  { name: 'an action without its value', text: rule('deny,§msg'), note: /msg/ },
  { name: 'an action with a value too many', text: rule('§deny:403'), note: /deny/ },
  { name: 'a severity that is none', text: rule('deny,severity:§loud'), note: /severity/ },
  { name: 'a status that is none', text: rule('deny,status:§99'), note: /status/ },
  { name: 'a skip of nothing', text: rule('pass,skip:§abc'), note: /skip/ },
  { name: 'allow of what is not there', text: rule('allow:§all'), note: /allow/ },
  {
    name: 'a phase that is none',
    text: 'SecRule ARGS "@rx a" "id:%ID,phase:§9,deny"',
    note: /phase/,
  },
  { name: 'exec', text: rule('deny,§exec:/bin/echo'), note: /the action exec is not supported/ },
  { name: 'proxy', text: rule('§proxy:http://a.test/'), note: /the action proxy is not supported/ },
  {
    name: 'a schema',
    text: of('XML:/*', '§@validateSchema /a.xsd'),
    note: /validateSchema is not/,
  },
  {
    name: 'a file to inspect',
    text: of('FILES_TMPNAMES', '§@inspectFile /a.lua'),
    note: /inspectFile is/,
  },
  {
    name: 'a data file that is not there',
    text: of('ARGS', '@pmFromFile §gone.data'),
    note: /gone\.data is not in the folder/,
  },
  {
    name: 'a data file of addresses with none',
    text: of('REMOTE_ADDR', '@ipMatchFromFile §names.data'),
    note: /ipMatch/,
  },
  { name: 'a rule without an id', text: '§SecRule ARGS "@rx a" "phase:2,deny"', note: /has no id/ },
  { name: 'a rule without an operator', text: '§SecRule ARGS', note: /SecRule takes targets/ },
  { name: 'a quote that does not end', text: 'SecRule ARGS §"@rx a', note: /quote/ },
  {
    name: 'a chain that nothing ends',
    text: `${rule('deny,chain').replace('SecRule', '§SecRule')}\nSecMarker END-%ID`,
    note: /no rule follows that ends its chain/,
  },
  {
    name: 'a fault in a later link of a chain',
    text: `${rule('deny,chain')}\n  SecRule ARGS:b \\\n    "@rx b" "t:§rot13"`,
    note: /unknown transformation/,
  },
  {
    name: 'a decision in a later link of a chain',
    text: `${rule('deny,chain')}\n  SecRule ARGS:b "@rx b" "§deny"`,
    note: /chain/,
  },
  {
    name: 'a directive that nobody knows',
    text: '§SecNoSuchThing On',
    note: /unknown to this product/,
  },
  { name: 'a script', text: '§SecRuleScript /opt/rule.lua', note: /runs no scripts/ },
  {
    name: 'an action of a rule of the ruleset',
    text: '§SecRuleUpdateActionById 942100 "pass"',
    note: /waf rule override/,
  },
  {
    name: 'an added target that nobody knows',
    text: 'SecRuleUpdateTargetById 942100 "§FOO_BAR"',
    note: /FOO_BAR/,
  },
  {
    name: 'a removed target that nobody knows',
    text: 'SecRuleUpdateTargetByTag "attack-sqli" "!§FOO_BAR"',
    note: /unknown variable/,
  },
  {
    name: 'a removed target with no regular expression',
    text: 'SecRuleUpdateTargetById 942100-942199 "!ARGS:§/(/"',
    note: /no regular expression/,
  },
  {
    name: 'a replaced target that nobody knows',
    text: 'SecRuleUpdateTargetById 942100-942199 "!ARGS:a" "§FOO_BAR"',
    note: /unknown variable/,
  },
  { name: 'an id that is no number', text: 'SecAction "§id:abc,pass"', note: /whole number/ },
  { name: 'an id of zero', text: 'SecAction "§id:0,pass"', note: /whole number/ },
  {
    name: 'a removal that takes the sum of scores along',
    text: '§SecRuleRemoveByMsg "SQLI?="',
    note: /rule 9801\d0 sets up, compares or reports/,
  },
  {
    name: 'an action past a limit that is none',
    text: '§SecRequestBodyLimitAction Maybe',
    note: /Reject or ProcessPartial/,
  },
  {
    name: 'neither on nor off',
    text: '§SecResponseBodyAccess Maybe',
    note: /On or Off/,
  },
  {
    name: 'a media type that is none',
    text: '§SecResponseBodyMimeType text/plain json',
    note: /no media type: json/,
  },
];
