/** Covers the grammar by table, and the round trip through the printer on random text. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Directive, SecRuleDirective } from './ast.ts';
import { formatDiagnostic } from './diagnostic.ts';
import { parseSecLang } from './parse.ts';
import { formatAction, formatDirective, formatOperator, formatVariable } from './print.ts';
import { withoutSpans } from './without-spans.ts';

function parseOne(text: string): Directive {
  const { directives, diagnostics } = parseSecLang(text, 'a.conf');
  expect(diagnostics.map(formatDiagnostic)).toEqual([]);
  expect(directives).toHaveLength(1);
  return directives[0] as Directive;
}

function parseRule(text: string): SecRuleDirective {
  const directive = parseOne(text);
  expect(directive.kind).toBe('SecRule');
  return directive as SecRuleDirective;
}

function problems(text: string): string[] {
  return parseSecLang(text, 'a.conf').diagnostics.map(formatDiagnostic);
}

describe('targets', () => {
  const table: [string, string, string, string][] = [
    ['ARGS', '', 'none', ''],
    ['&ARGS', '&', 'none', ''],
    ['!ARGS:foo', '!', 'literal', 'foo'],
    ['TX:/^MSC_/', '', 'regex', '^MSC_'],
    ['TX:/a|b/', '', 'regex', 'a|b'],
    ["ARGS:'/a|b c/'", '', 'regex', 'a|b c'],
    ["ARGS:'a|b'", '', 'literal', 'a|b'],
    ["ARGS:'it\\'s'", '', 'literal', "it's"],
    ['XML:/*', '', 'xpath', '/*'],
    ['xml://@*', '', 'xpath', '//@*'],
    ['REQUEST_HEADERS:X.File-Name', '', 'literal', 'X.File-Name'],
    ['ARGS:/path', '', 'literal', '/path'],
    ["ARGS:'a,b'", '', 'literal', 'a,b'],
  ];
  it.each(table)('%s', (text, mark, kind, selector) => {
    const { variables } = parseRule(`SecRule ${text} "@rx x" "id:1"`);
    expect(variables).toHaveLength(1);
    const variable = variables[0]!;
    expect((variable.count ? '&' : '') + (variable.exclusion ? '!' : '')).toBe(mark);
    expect(variable.selector.kind).toBe(kind);
    expect(variable.selector.kind === 'none' ? '' : variable.selector.text).toBe(selector);
  });

  it('splits a list at its bars, not at those of keys', () => {
    const rule = parseRule(
      `SecRule "REQUEST_COOKIES|!REQUEST_COOKIES:/__utm/|ARGS:'a|b' | XML:/*" "x" "id:1"`,
    );
    expect(rule.variables.map(formatVariable)).toEqual([
      'REQUEST_COOKIES',
      '!REQUEST_COOKIES:/__utm/',
      "ARGS:'a|b'",
      'XML:/*',
    ]);
  });

  it('takes a comma between targets, and in quotes or expressions as part of a key', () => {
    const rule = parseRule(`SecRule "ARGS:a,ARGS:/^b,c$/|ARGS:'d,e',!ARGS:f" "x" "id:1"`);
    const targets = ['ARGS:a', "ARGS:'/^b,c$/'", "ARGS:'d,e'", '!ARGS:f'];
    expect(rule.variables.map(formatVariable)).toEqual(targets);
  });

  it('takes a comma between the targets of an update', () => {
    const update = parseOne('SecRuleUpdateTargetById 942100 "!ARGS:a,!ARGS:b|REQUEST_URI"');
    if (update.kind !== 'SecRuleUpdateTargetById') throw new Error(update.kind);
    expect(update.variables.map(formatVariable)).toEqual(['!ARGS:a', '!ARGS:b', 'REQUEST_URI']);
  });
});

describe('operators', () => {
  const table: [string, string, boolean, boolean, string][] = [
    ['@rx ^a b$', 'rx', false, false, '^a b$'],
    ['!@eq 0', 'eq', true, false, '0'],
    ['! @eq 0', 'eq', true, false, '0'],
    ['@detectSQLi', 'detectSQLi', false, false, ''],
    ['^plain', 'rx', false, true, '^plain'],
    ['!plain', 'rx', true, true, 'plain'],
    ['a@b.c', 'rx', false, true, 'a@b.c'],
    ['@rx a\\"b', 'rx', false, false, 'a"b'],
    ['@rx a\\\\b\\.', 'rx', false, false, 'a\\b\\.'],
    ['', 'rx', false, true, ''],
  ];
  it.each(table)('%s', (text, name, negated, implicit, argument) => {
    const { operator } = parseRule(`SecRule ARGS "${text}" "id:1"`);
    expect(operator).toMatchObject({ negated, implicit, name: { text: name } });
    expect(operator.argument.text).toBe(argument);
  });

  it('prints as log lines show it', () => {
    const text = 'SecRule ARGS "!@within %{tx.a} b" "id:1"';
    expect(formatOperator(parseRule(text).operator)).toBe('!@within %{tx.a} b');
  });
});

describe('actions', () => {
  it('splits at commas outside quotes', () => {
    const rule = parseRule(
      `SecRule ARGS x "id:'1', phase:2,msg:'a, \\'b\\'', t:none,setvar:'tx.a=%{tx.b},c',\
       ctl:ruleRemoveTargetById=1;ARGS:'x,y',pass,"`,
    );
    expect(rule.actions.map(formatAction)).toEqual([
      "id:'1'",
      'phase:2',
      "msg:'a, \\'b\\''",
      't:none',
      "setvar:'tx.a=%{tx.b},c'",
      "ctl:ruleRemoveTargetById=1;ARGS:'x,y'",
      'pass',
    ]);
    expect(rule.actions[2]?.value?.text).toBe("a, 'b'");
  });

  it('keeps an apostrophe inside a bare value', () => {
    const { actions } = parseRule(`SecRule ARGS x "id:1,msg:it's fine,pass"`);
    expect(actions[1]?.value?.text).toBe("it's fine");
  });
});

describe('lines', () => {
  it('joins continued lines and finds the place of what stands on them', () => {
    const rule = parseRule(
      '\n# note\\\nSecRule ARGS \\\r\n  "@rx a\\"b" \\\n    "id:1,\\\n  pass"\n',
    );
    expect(rule.span).toEqual({ file: 'a.conf', line: 3, column: 1, endLine: 6, endColumn: 8 });
    expect(rule.operator.argument.span).toMatchObject({ line: 4, column: 8, endColumn: 12 });
    expect(rule.actions[1]?.span).toMatchObject({ line: 6, column: 3, endLine: 6, endColumn: 7 });
  });

  it('comments out the continuation lines of a commented-out rule, and warns', () => {
    const text =
      '# SecRule ARGS x \\\n#  "id:1"\nSecMarker A\n#SecAction \\\n  "id:2"\nSecMarker B';
    const { directives } = parseSecLang(text, 'a.conf');
    expect(directives.map((directive) => directive.kind)).toEqual(['SecMarker', 'SecMarker']);
    expect(problems(text)).toEqual([
      'a.conf:5:1: warning: this line continues the commented-out rule above it and is not read ' +
        '[comment-continues]',
    ]);
  });

  it('does not let another comment swallow a rule', () => {
    expect(parseSecLang('# see c:\\dir\\\nSecMarker A', 'a.conf').directives).toHaveLength(1);
  });

  it('reads directive names in any case and unknown ones as configuration', () => {
    const { directives } = parseSecLang("secruleengine On\nSecFoo 'a b' c", 'a.conf');
    expect(directives.map((directive) => directive.kind)).toEqual(['Config', 'Config']);
    const last = directives[1]!;
    if (last.kind !== 'Config') throw new Error(last.kind);
    expect(last.arguments.map((token) => token.text)).toEqual(['a b', 'c']);
  });
});

describe('mistakes', () => {
  it('reports each at its place and reads on', () => {
    const text = [
      'SecRule ARGS "@rx a',
      'SecRule ARGS "@rx a" ops "id:2"',
      'SecRule ARGS|:x "@rx a" "id:3"',
      'SecRule ARGS "@ a" "id:4"',
      `SecRule ARGS "@rx a" "id:'5,pass"`,
      `SecRule ARGS "@rx a" "id:6,msg:'x'y,pass"`,
      'SecRule ARGS: "@rx a" "id:7"',
      'SecMarker',
      'SecRule ARGS "@rx a"x "id:8"',
      'SecRule ARGS "@rx a" "id:9,=foo"',
      '<IfModule x>',
    ].join('\n');
    const { directives } = parseSecLang(`${text}\nSecMarker A`, 'a.conf');
    expect(directives).toHaveLength(12);
    expect(directives.filter((directive) => directive.kind === 'Invalid')).toHaveLength(11);
    expect(problems(text).map((line) => line.replace(/: error: .*\[/, ' ['))).toEqual([
      'a.conf:1:14 [unterminated-quote]',
      'a.conf:2:1 [argument-count]',
      'a.conf:3:14 [expected-variable]',
      'a.conf:4:15 [expected-operator]',
      'a.conf:5:23 [unterminated-quote]',
      'a.conf:6:35 [text-after-quote]',
      'a.conf:7:14 [empty-selector]',
      'a.conf:8:1 [argument-count]',
      'a.conf:9:21 [text-after-quote]',
      'a.conf:10:28 [expected-action]',
      'a.conf:11:1 [expected-directive]',
    ]);
  });

  it('takes an action list whose closing quote is missing, and warns', () => {
    const text = 'SecRule ARGS "@rx a" "id:1,msg:\'a\',pass\nSecAction "id:2';
    expect(problems(text)).toEqual([
      'a.conf:1:22: warning: missing closing " quote [unterminated-quote]',
      'a.conf:2:11: warning: missing closing " quote [unterminated-quote]',
    ]);
    const [rule] = parseSecLang(text, 'a.conf').directives;
    expect(rule?.kind === 'SecRule' && rule.actions.map(formatAction)).toEqual([
      'id:1',
      "msg:'a'",
      'pass',
    ]);
  });

  it('stops listing at the limit', () => {
    const { diagnostics } = parseSecLang('SecMarker\n'.repeat(3000), 'a.conf');
    expect(diagnostics).toHaveLength(1001);
    expect(diagnostics.at(-1)?.code).toBe('too-many-diagnostics');
  });
});

/** Text in which the grammar's own bytes are frequent. */
const seclangText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'SecRule ',
        'SecAction ',
        'SecMarker ',
        'Include ',
        'SecRuleUpdateTargetById 1 ',
        'ARGS',
        'XML',
        'id:1',
        '@rx ',
        '!',
        '&',
        ':',
        '|',
        ',',
        "'",
        '"',
        '\\',
        '/',
        '=',
        ';',
        ' ',
        '\n',
        '\\\n',
        '\r\n',
        '\t',
        '#',
        '%{',
        '}',
        'x',
        '.',
        '\\"',
        "\\'",
        '\\\\',
      ),
      fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));

describe('any text', () => {
  it('never throws, and what it prints parses to the same tree', () => {
    const property = fc.property(seclangText, (text) => {
      for (const directive of parseSecLang(text, 'a.conf').directives) {
        if (directive.kind === 'Invalid') continue;
        const printed = formatDirective(directive);
        const again = parseSecLang(printed, 'b.conf');
        expect([printed, again.diagnostics]).toEqual([printed, []]);
        expect(again.directives.map(withoutSpans)).toEqual([withoutSpans(directive)]);
      }
    });
    fc.assert(property, { numRuns: 5000 });
  });

  it('takes hostile repetition without growing out of proportion', () => {
    const pieces = ["ARGS:'", 'ARGS:/', 'a|', "x:'", '\\', '"', 'id:1,', "='"];
    for (const piece of pieces) {
      const text = `SecRule ${piece.repeat(20_000)} "${piece.repeat(20_000)}"`;
      expect(parseSecLang(text, 'a.conf').directives.length).toBeLessThanOrEqual(1);
    }
  });
});
