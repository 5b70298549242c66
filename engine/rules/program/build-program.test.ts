/** Covers what a linked program holds. */

import { describe, expect, it } from 'vitest';
import { fullCatalog } from '../features/full-catalog.ts';
import type { Program, Rule } from '../transaction/types.ts';
import { formatDiagnostic } from '../language/diagnostic.ts';
import { loadText } from '../language/include.ts';
import { buildProgram, type BuildResult } from './build-program.ts';

function build(text: string): BuildResult {
  return buildProgram(loadText(text, 'a.conf'), fullCatalog, (name) =>
    name === 'map' ? '1 (x)\n0041:61\n\n20127 (y)\n00a0:20 00a1:21\n' : null,
  );
}

function problems(text: string): string[] {
  return build(text).diagnostics.map(formatDiagnostic);
}

function codes(text: string): string[] {
  return build(text).diagnostics.map(({ span, severity, code }) => {
    return `${span.line}:${span.column} ${severity} ${code}`;
  });
}

function link(text: string): Program {
  const { program, diagnostics } = build(text);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  if (program === null) throw new Error('no program');
  return program;
}

function ruleOf(text: string, id = 1): Rule {
  const rule = link(text).rules.find((entry) => entry.id === id);
  if (rule === undefined) throw new Error(`no rule ${id}`);
  return rule;
}

function transformationsOf(text: string): string[] {
  return ruleOf(text).transformations.map((entry) => entry.name);
}

describe('rules', () => {
  it('hold what their actions say', () => {
    const rule = ruleOf(
      `SecRule ARGS|!ARGS:Foo|&TX:/^a/ "!@contains x" "id:1,phase:1,deny,status:406,\
       msg:'M %{tx.a}',logdata:'%{MATCHED_VAR}',tag:'a',tag:'b',severity:'CRITICAL',\
       rev:'2',ver:'v',maturity:3,accuracy:'4',capture,multiMatch,t:lowercase,t:none,t:trim,\
       setvar:'tx.a=+1',skipAfter:END,xmlns:s='http://x/'"
       SecMarker END`,
    );
    expect(rule).toMatchObject({
      id: 1,
      phase: 1,
      negated: true,
      operatorText: '!@contains x',
      severity: 2,
      rev: '2',
      ver: 'v',
      maturity: 3,
      accuracy: 4,
      capture: true,
      multiMatch: true,
      skipAfter: 'END',
      log: true,
      auditLog: true,
      next: null,
      index: 0,
      disruption: { kind: 'deny', status: 406 },
      location: { file: 'a.conf', line: 1 },
    });
    expect(rule.targets.map((target) => target.variable.name)).toEqual(['ARGS', 'TX']);
    expect(rule.targets[1]).toMatchObject({ count: true, selector: { kind: 'regex', text: '^a' } });
    expect(rule.exclusions[0]?.selector).toEqual({ kind: 'key', key: 'foo' });
    expect(rule.transformations.map((entry) => entry.name)).toEqual(['trim']);
    expect(rule.actions).toHaveLength(1);
    expect(rule.tags.map((tag) => tag.source)).toEqual(['a', 'b']);
    expect(rule.message?.parts).toHaveLength(2);
    expect(rule.namespaces.get('s')).toBe('http://x/');
  });

  it.each([
    ["xmlns:s='http://x/'", 'http://x/'],
    ['xmlns:s=urn:org:x', 'urn:org:x'],
    ["xmlns:s='urn:uuid:f81d4fae-7dec'", 'urn:uuid:f81d4fae-7dec'],
    ['xmlns:s=\\"tag:example.org:x\\"', 'tag:example.org:x'],
    ["xmlns:s='DAV:x'", 'DAV:x'],
  ])('name a namespace by any URI: %s', (action, address) => {
    const text = `SecRule XML:/s:a "@streq x" "id:1,phase:2,deny,${action}"`;
    expect(ruleOf(text).namespaces.get('s')).toBe(address);
  });

  it('stand in their phase, between the markers', () => {
    const { phases, rules } = link(
      `SecMarker A
       SecRule ARGS x "id:1,phase:response,pass"
       SecAction "id:2,phase:1,pass"
       SecRule ARGS x "id:3,pass"
       SecMarker B`,
    );
    const shown = phases.map((items) =>
      items.map((item) => (item.kind === 'rule' ? item.id : item.name)),
    );
    expect(shown).toEqual([
      [],
      ['A', 2, 'B'],
      ['A', 3, 'B'],
      ['A', 'B'],
      ['A', 1, 'B'],
      ['A', 'B'],
    ]);
    expect(rules.map((rule) => rule.index)).toEqual([0, 1, 2]);
    expect(rules[1]).toMatchObject({ operator: null, targets: [] });
  });

  it('are chained in order, in the phase of the first', () => {
    const text = `SecRule ARGS a "id:1,phase:1,deny,chain"
      SecRule ARGS b "chain,t:lowercase"
      SecRule ARGS c
      SecRule ARGS d "id:2,phase:1,pass"`;
    const { rules, phases } = link(text);
    expect(rules.map((rule) => [rule.index, rule.id, rule.phase])).toEqual([
      [0, 1, 1],
      [1, 0, 1],
      [2, 0, 1],
      [3, 2, 1],
    ]);
    expect(rules[0]?.next).toBe(rules[1]);
    expect(rules[1]?.next).toBe(rules[2]);
    expect(rules[2]?.next).toBeNull();
    expect(phases[1]).toHaveLength(2);
  });

  it('can be the end of a skip', () => {
    const text = `SecRule ARGS x "id:1,phase:1,skipAfter:2"
      SecAction "id:2,phase:1"
      SecAction "id:3,phase:1"`;
    const items = link(text).phases[1] ?? [];
    expect(items.map((item) => (item.kind === 'rule' ? item.id : item.name))).toEqual([
      1,
      2,
      '2',
      3,
    ]);
    expect(problems(text)).toEqual([]);
  });

  it('log as the last of the four switches says', () => {
    const flags = (actions: string): [boolean, boolean] => {
      const { log, auditLog } = ruleOf(`SecAction "id:1,${actions}"`);
      return [log, auditLog];
    };
    expect(flags('pass')).toEqual([true, true]);
    expect(flags('nolog')).toEqual([false, false]);
    expect(flags('nolog,auditlog')).toEqual([false, true]);
    expect(flags('noauditlog')).toEqual([true, false]);
    expect(flags('nolog,log')).toEqual([true, true]);
  });
});

describe('SecDefaultAction', () => {
  it('gives its transformations until t:none', () => {
    const defaults = 'SecDefaultAction "phase:2,pass,t:trim,t:lowercase"\n';
    expect(transformationsOf(`${defaults}SecRule ARGS x "id:1,t:urlDecode"`)).toEqual([
      'trim',
      'lowercase',
      'urlDecode',
    ]);
    expect(transformationsOf(`${defaults}SecRule ARGS x "id:1,t:none,t:length"`)).toEqual([
      'length',
    ]);
    expect(transformationsOf(`SecRule ARGS x "id:1"\n${defaults}`)).toEqual([]);
    expect(transformationsOf(`${defaults}SecRule ARGS x "id:1,phase:1"`)).toEqual([]);
  });

  const decisions: [string, string, string, number][] = [
    ['deny,status:404', 'block', 'deny', 404],
    ['deny,status:404', 'block,status:410', 'deny', 410],
    ['deny,status:404', 'pass', 'pass', 404],
    ['deny,status:404', 'nolog', 'pass', 404],
    ['deny,block', 'block', 'deny', 403],
    ['pass', 'block', 'pass', 403],
    ["redirect:'http://a/'", 'block', 'redirect', 302],
    ["redirect:'http://a/',status:303", 'block', 'redirect', 303],
    ["redirect:'http://a/',status:403", 'block', 'redirect', 302],
    ['drop', 'deny', 'deny', 403],
    ['allow:phase', 'block', 'allowPhase', 403],
    ['deny', 'allow', 'allow', 403],
    ['deny', 'allow:request', 'allowRequest', 403],
    ['deny', 'deny,pass', 'pass', 403],
  ];
  it.each(decisions)('%s and %s: %s %i', (defaults, own, kind, status) => {
    const text = `SecDefaultAction "phase:2,${defaults}"\nSecRule ARGS x "id:1,${own}"`;
    expect(ruleOf(text).disruption).toMatchObject({ kind, status });
  });

  it('lets block pass where there is none', () => {
    expect(ruleOf('SecRule ARGS x "id:1,block"').disruption.kind).toBe('pass');
  });

  it('is checked', () => {
    expect(
      codes(`SecDefaultAction "phase:1,log,block"
SecDefaultAction "phase:2,deny,t:none"
SecDefaultAction "phase:2,id:1,pass"
SecDefaultAction "phase:3,deny,chain,skip:1"`),
    ).toEqual([
      '1:1 error defaults-without-disruption',
      '2:32 error action-in-defaults',
      '3:1 error duplicate-defaults',
      '3:27 error action-in-defaults',
      '4:32 error action-in-defaults',
      '4:38 error action-in-defaults',
    ]);
  });
});

describe('exceptions', () => {
  const rules = `SecRule ARGS x "id:1,msg:'first one',tag:'a/b',deny"
    SecRule ARGS|ARGS_NAMES x "id:2,msg:'second',tag:'a/c',chain,deny"
    SecRule TX y "t:trim"
    SecRule ARGS z "id:3,pass"\n`;
  const left: [string, number[]][] = [
    ['SecRuleRemoveById 2', [1, 3]],
    ['SecRuleRemoveById 1-2', [3]],
    ['SecRuleRemoveById "1,3" 7-9', [2]],
    ['SecRuleRemoveByTag a/c', [1, 3]],
    ['SecRuleRemoveByTag "^a/"', [3]],
    ['SecRuleRemoveByMsg second', [1, 3]],
  ];
  it.each(left)('%s', (exception, ids) => {
    const idsOf = (text: string): number[] =>
      (link(text).phases[2] ?? []).map((item) => (item.kind === 'rule' ? item.id : -1));
    expect(idsOf(rules + exception)).toEqual(ids);
    expect(idsOf(`${exception}\n${rules}`)).toEqual(ids);
    expect(problems(rules + exception)).toEqual([]);
  });

  it('add and exclude targets', () => {
    const text = `${rules}SecRuleUpdateTargetById 1-2 "!ARGS:/p/,REQUEST_URI"
      SecRuleUpdateTargetByTag a/c !ARGS:q
      SecRuleUpdateTargetByMsg first !ARGS:r
      SecRuleUpdateTargetById 3 REQUEST_LINE ARGS
      SecRuleUpdateTargetById 2:1 !TX:a`;
    const exclusions = (rule: Rule | null): string[] =>
      (rule?.exclusions ?? []).map(({ variable, selector }) => {
        const shown = selector?.kind === 'key' ? selector.key : (selector?.text ?? '');
        return `${variable.name}:${shown}`;
      });
    expect(exclusions(ruleOf(text, 1))).toEqual(['ARGS:p', 'ARGS_NAMES:p', 'ARGS:r']);
    expect(exclusions(ruleOf(text, 2))).toEqual(['ARGS:p', 'ARGS_NAMES:p', 'ARGS:q']);
    expect(exclusions(ruleOf(text, 2).next)).toEqual(['TX:a']);
    const targets = (id: number): string[] =>
      ruleOf(text, id).targets.map((target) => target.variable.name);
    expect(targets(1)).toEqual(['ARGS', 'REQUEST_URI']);
    expect(targets(3)).toEqual(['REQUEST_LINE']);
  });

  it('change operators', () => {
    const text = `${rules}SecRuleUpdateOperatorById 1 "!@contains new"
      SecRuleUpdateOperatorById 2:1 "@eq 7"`;
    expect(ruleOf(text, 1)).toMatchObject({ operatorText: '!@contains new', negated: true });
    expect(ruleOf(text, 2)).toMatchObject({ negated: ruleOf(rules, 2).negated });
    expect(ruleOf(text, 2).next?.operatorText).toBe('@eq 7');
    expect(codes(`${rules}SecRuleUpdateOperatorById 77 "@eq 7"`)).toEqual([
      '5:27 warning exception-without-rule',
    ]);
  });

  it('change actions', () => {
    const text = `${rules}SecRuleUpdateActionById 1 "pass,t:lowercase,msg:'new',nolog"
      SecRuleUpdateActionById 2:1 "t:none,t:length"`;
    expect(ruleOf(text, 1)).toMatchObject({
      disruption: { kind: 'pass' },
      message: { source: 'new' },
      log: false,
    });
    expect(ruleOf(text, 2).next?.transformations.map((entry) => entry.name)).toEqual(['length']);
    expect(codes(`${rules}SecRuleUpdateActionById 1 "id:5,phase:1,pass"`)).toEqual([
      '5:28 error action-in-update',
      '5:33 error action-in-update',
    ]);
  });

  it('tell when they mean no rule', () => {
    const text = `${rules}SecRuleRemoveById 77
SecRuleUpdateTargetByTag zzz !ARGS
SecRuleRemoveById x
SecRuleUpdateActionById 78 pass`;
    expect(codes(text)).toEqual([
      '5:19 warning exception-without-rule',
      '6:26 warning exception-without-rule',
      '7:19 error bad-id',
      '8:25 warning exception-without-rule',
    ]);
  });
});

describe('settings', () => {
  it('have units, and the last one counts', () => {
    const { settings } = link(
      `SecRuleEngine On
       SecRuleEngine detectiononly
       SecRequestBodyAccess on
       SecRequestBodyLimit 1000
       SecRequestBodyLimitAction ProcessPartial
       SecResponseBodyMimeType text/Plain application/json
       SecResponseBodyMimeType text/xml
       SecComponentSignature "CRS/1"
       SecComponentSignature plugin
       SecUnicodeMapFile map 20127
       SecAuditLogParts ABZ
       SecArgumentsLimit 7
       SecParseXmlIntoArgs OnlyArgs
       SecXmlExternalEntity Off`,
    );
    expect(settings).toMatchObject({
      engine: 'detectionOnly',
      requestBodyAccess: true,
      requestBodyLimitBytes: 1000,
      requestBodyLimitAction: 'processPartial',
      responseBodyMimeTypes: ['text/plain', 'application/json', 'text/xml'],
      componentSignatures: ['CRS/1', 'plugin'],
      auditLogParts: 'ABZ',
      argumentsMax: 7,
      parseXmlIntoArgs: 'onlyArgs',
    });
    expect([settings.unicodeMap?.[0xa1], settings.unicodeMap?.[0x41]]).toEqual([0x21, 0]);
    expect(link('SecResponseBodyMimeTypesClear').settings.responseBodyMimeTypes).toEqual([]);
  });

  it('are checked against the grammar of their directive', () => {
    const text = `SecRuleEngine Onn
SecRequestBodyLimit -1
SecRequestBodyAccess
SecUnicodeMapFile map eita
SecUnicodeMapFile nowhere 20127
SecRuleScript a.lua
SecAuditLog /a
SecStatusEngine On
SecXmlExternalEntity On
SecHashEngine Off
SecHashEngine On
SecAuditEngine RelevantOnly
SecAuditLogParts AB
SecSensorId a`;
    expect(codes(text)).toEqual([
      '1:15 error bad-argument',
      '2:21 error bad-argument',
      '3:1 error argument-count',
      '4:23 error bad-argument',
      '5:1 error bad-unicode-map',
      '6:1 error refused-directive',
      '7:1 warning mapped-directive',
      '8:1 warning ignored-directive',
      '9:1 warning ignored-directive',
      '10:1 warning ignored-directive',
      '11:1 error refused-directive',
      ...[12, 13, 14].map((line) => `${line}:1 warning mapped-directive`),
    ]);
  });
});

describe('operators', () => {
  it('that ask outside say what that needs', () => {
    const text = `SecRule REMOTE_ADDR "@rbl bl.example" "id:1,pass"`;
    expect(codes(text)).toEqual(['1:27 warning mapped-operator']);
  });
});

describe('actions', () => {
  it('that are accepted without an effect are reported once for a program', () => {
    const text = [
      'SecAction "id:1,pass,nolog,ctl:auditLogParts=+E"',
      'SecAction "id:2,pass,nolog,ctl:auditLogParts=+E,ctl:auditEngine=Off"',
      'SecAction "id:3,pass,nolog,ctl:debugLogLevel=3,ctl:auditEngine=On,ctl:ruleEngine=Off"',
    ].join('\n');
    expect(codes(text)).toEqual([
      expect.stringMatching(/^1:\d+ warning mapped-action$/),
      expect.stringMatching(/^2:\d+ warning mapped-action$/),
      expect.stringMatching(/^3:\d+ warning mapped-action$/),
    ]);
  });
});
