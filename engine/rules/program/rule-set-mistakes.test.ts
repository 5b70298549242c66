/** Covers the message for each mistake in a rule set, with its place. */

import { describe, expect, it } from 'vitest';
import { fullCatalog } from '../features/full-catalog.ts';
import { formatDiagnostic } from '../language/diagnostic.ts';
import { createFileSet } from '../language/file-set.ts';
import { loadSourceSet, loadText } from '../language/include.ts';
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

describe('mistakes', () => {
  it('are all reported, one diagnostic each, at their places', () => {
    const text = `SecRuleEngin On
SecRule ARGZ "@rx a" "id:1,pass"
SecRule ARGS "@contians a" "id:2,pass"
SecRule ARGS "@rx (a" "id:3,pass"
SecRule ARGS "@rx a" "id:4,t:lowercas,pass"
SecRule ARGS "@rx a" "id:5,dney"
SecRule ARGS "@rx a" "id:6,phase:9,pass"
SecRule ARGS "@rx a" "phase:1,pass"
SecRule ARGS "@rx a" "id:4,pass"
SecRule ARGS "@rx a" "id:10,pass,chain
    SecRule ARGS "@rx b" "t:none"
SecRule ARGS "@rx a" "id:11,pass"`;
    expect(problems(text)).toEqual([
      'a.conf:1:1: error: unknown directive "SecRuleEngin" (did you mean SecRuleEngine?) ' +
        '[unknown-directive]',
      'a.conf:2:9: error: unknown variable "ARGZ" (did you mean ARGS?) [unknown-variable]',
      'a.conf:3:16: error: unknown operator "contians" (did you mean contains?) ' +
        '[unknown-operator]',
      expect.stringMatching(/^a\.conf:4:19: error: @rx: .*\[bad-argument\]$/),
      'a.conf:5:30: error: unknown transformation "lowercas" (did you mean lowercase?) ' +
        '[unknown-transformation]',
      'a.conf:6:28: error: unknown action "dney" (did you mean deny?) [unknown-action]',
      'a.conf:7:34: error: phase: expected 1 to 5, request, response or logging, got "9" ' +
        '[bad-phase]',
      'a.conf:8:1: error: the rule has no id: exceptions and records cannot name it [missing-id]',
      'a.conf:9:1: error: Rule id 4 is already used by the rule at a.conf:5. [duplicate-id]',
      'a.conf:10:22: warning: missing closing " quote [unterminated-quote]',
    ]);
    expect(build(text).program).toBeNull();
  });

  it('of several files come in the order of loading', () => {
    const files = createFileSet([
      { path: 'r/b.conf', text: 'SecRule ARGS "@pmFromFile w.data" "id:1"\nSecRule AGRS x "id:2"' },
      { path: 'r/a.conf', text: '\nSecRule ARGS "@pmFromFile v.data" "id:1"' },
      { path: 'r/w.data', text: 'word' },
    ]);
    const root = { path: 'main', text: 'SecFoo\nInclude r/*.conf\nInclude no.conf' };
    const set = loadSourceSet([root], files.readFiles);
    const { diagnostics } = buildProgram(set, fullCatalog, files.readDataFile);
    expect(diagnostics.map(({ span, code }) => `${span.file}:${span.line} ${code}`)).toEqual([
      'main:1 unknown-directive',
      'main:3 include-missing',
      'r/a.conf:2 bad-argument',
      'r/b.conf:1 duplicate-id',
      'r/b.conf:2 unknown-variable',
    ]);
  });

  const table: [string, string][] = [
    ['SecRule ARGS x "id:0,pass"', '1:20 error bad-id'],
    [`SecRule ARGS x "id:1',pass"`, '1:20 error bad-id'],
    ['SecRule ARGS x "id:-1,pass"', '1:20 error bad-id'],
    ['SecRule ARGS x "id:1,skip:abc"', '1:27 error bad-action'],
    ['SecRule ARGS x "id:1,severity:loud"', '1:31 error bad-action'],
    ['SecRule ARGS x "id:1,status:99"', '1:29 error bad-action'],
    ['SecRule ARGS x "id:1,allow:all"', '1:28 error bad-action'],
    ['SecRule ARGS x "id:1,exec:/bin/echo"', '1:27 error bad-action'],
    ['SecRule ARGS x "id:1,deny:403"', '1:22 error unexpected-value'],
    ['SecRule ARGS x "id:1,msg"', '1:22 error missing-value'],
    [`SecRule ARGS x "id:1,xmlns:soap'http://a/'"`, '1:28 error bad-action'],
    [`SecRule ARGS x "id:1,xmlns:soap='a.org/'"`, '1:28 error bad-action'],
    [`SecRule ARGS x "id:1,xmlns:soap="`, '1:28 error bad-action'],
    [`SecRule ARGS x "id:1,xmlns:soap='urn:a b'"`, '1:28 error bad-action'],
    ['SecRule REQUEST_URI:a x "id:1,pass"', '1:21 error unexpected-selector'],
    ['SecRule ARGS:/(/ x "id:1,pass"', '1:14 error bad-selector'],
    ['SecRule ARGS "@detectSQLi x" "id:1,pass"', '1:27 error unexpected-argument'],
    ['SecRule !ARGS:a x "id:1,pass"', '1:1 warning no-target'],
    ['SecRule ARGS x "id:1,skipAfter:ND"', '1:32 warning unknown-marker'],
    [`SecRule ARGS x "id:1,msg:'%{REQUEST_URL}'"`, '1:27 warning unknown-macro'],
    ['SecAction "nolog,pass"', '1:1 warning missing-id'],
    ['SecRule ARGS x "id:1,chain,pass"', '1:1 warning open-chain'],
    ['SecRule ARGS x "id:1,chain,pass"\nSecMarker A', '2:1 error broken-chain'],
    ['SecRule ARGS x "id:1,chain,pass"\nSecRule ARGS x deny', '2:16 error disruptive-in-chain'],
    ['SecRule ARGS x "id:1,chain"\nSecRule ARGS x "phase:1"', '2:1 warning phase-in-chain'],
    ['SecRule ARGS x "id:1,chain"\nSecRule ARGS x "id:2"', '2:1 warning id-in-chain'],
  ];
  it.each(table)('%s', (text, expected) => {
    expect(codes(text)).toEqual([expected]);
  });

  it('of a chain lead to no second one', () => {
    const text = `SecRule ARGS x "id:1,chain,pass"
SecRule ARGS: x "chain"
SecRule ARGS x "t:trim"
SecRule ARGS: x "id:2,chain"
SecRule ARGS x "chain"
SecRule ARGS x "t:trim"
SecRule ARGS x "pass,id:3"
SecRule ARGS x "pass"`;
    expect(codes(text)).toEqual([
      '2:14 error empty-selector',
      '4:14 error empty-selector',
      '8:1 error missing-id',
    ]);
  });
});
