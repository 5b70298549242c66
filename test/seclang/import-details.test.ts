/**
 * Details of ModSecurity set-ups as operators write them: directives at their default, exclusions
 * by message and tag, data files, ends of lines, sections and Includes. Each has its fate.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import { loadText } from '../../engine/rules/language/include.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';
import { importPolicy } from '../../control/publish/manifests/policy-import.ts';

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const traversal = {
  id: 930100,
  targets: ['ARGS'],
  tags: ['attack-lfi', 'OWASP_CRS/LFI'],
  msg: 'Path Traversal Attack (/../) or (/.../)',
};
const second = {
  id: 930110,
  targets: ['ARGS'],
  tags: ['attack-lfi'],
  msg: 'Path Traversal Attack (/../)',
};
const odd = { id: 930120, targets: ['ARGS'], tags: ['a(b'], msg: 'Odd [text' };
const sum = {
  id: 980130,
  targets: ['TX:INBOUND_ANOMALY_SCORE'],
  tags: ['event-correlation'],
  msg: 'Anomaly Score (Traversal=%{tx.lfi_score})',
};
const ruleset = { ref: '', version: '', rules: [traversal, second, odd, sum] };

/** Imports a folder of these files; keys are paths. */
function imported(files: Readonly<Record<string, string | Buffer>>) {
  const folder = mkdtempSync(path.join(tmpdir(), 'waf-import-'));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
  const made = importPolicy(folder, 'imported', ruleset);
  return { ...made, fates: made.report.map(({ fate, note }) => `${fate}: ${note}`) };
}

const one = (text: string): string => imported({ 'a.conf': `${text}\n` }).fates.join('\n');

describe('directives at the value that the product has anyway', () => {
  test.each([
    ['SecHashEngine Off', /^honored: off/],
    ['SecHashEngine On', /^refused/],
    ['SecHashKey "x" KeyOnly', /^ignored: of SecHashEngine/],
    ['SecContentInjection Off', /^honored: off/],
    ['SecContentInjection On', /^refused/],
    ['SecPdfProtect Off', /^honored: off/],
    ['SecParseXmlIntoArgs Off', /^honored: off/],
    ['SecParseXmlIntoArgs On', /^refused: .*ctl:parseXmlIntoArgs/],
    ['SecIgnoreRuleCompilationErrors Off', /^honored: off/],
    ['SecAuditEngine RelevantOnly', /^ignored: security events/],
    ['SecCollectionTimeout 600', /^honored/],
    ['SecUnicodeMapFile unicode.mapping 20127', /^honored/],
    ['SecUnicodeCodePage 20127', /^ignored/],
    ['SecStatusEngine Off', /^ignored/],
    ['SecConnEngine Off', /^ignored/],
    ['SecRemoteRulesFailAction Warn', /^ignored/],
    ['SecRemoteRules key https://rules.example/a', /^refused: .*copy them here/],
    ['SecXmlExternalEntity Off', /^honored/],
    ['SecResponseBodyMimeTypesClear', /^honored/],
    ['SecRequestBodyJsonDepthLimit 512', /^honored/],
    ['SecUploadKeepFiles Off', /^ignored/],
    ['SecStreamInBodyInspection Off', /^ignored/],
  ])('%s', (text, fate) => expect(one(text)).toMatch(fate));
});

describe('exclusions by message and tag', () => {
  test.each([
    [
      'SecRuleUpdateTargetByMsg "Path Traversal Attack (/../)" "!ARGS:q"',
      /^honored: override of rule 930110: without ARGS:q/,
    ],
    [
      "SecRuleUpdateTargetByMsg 'Path Traversal Attack (/../)' !ARGS:q",
      /^honored: override of rule 930110/,
    ],
    [
      'SecRuleUpdateTargetByMsg "Path Traversal Attack \\(/\\.\\./\\)" "!ARGS:q"',
      /^honored: custom rule .* for 2 rules/,
    ],
    [
      'SecRuleUpdateTargetByMsg "Odd [text" "!ARGS:/^q_/"',
      /^honored: override of rule 930120: without ARGS:\/\^q_\//,
    ],
    ['SecRuleRemoveByMsg "Path Traversal Attack (/../)"', /^honored: custom rule .* for 1 rule$/],
    ['SecRuleRemoveByTag "a(b"', /^honored: custom rule .* for 1 rule$/],
    [
      'SecRuleUpdateTargetByTag "attack-lfi" "!ARGS:/^q$/,!ARGS:b"',
      /^honored: custom rule .* for 2 rules/,
    ],
    ['SecRuleUpdateTargetByTag "^OWASP_CRS/" "!ARGS:q"', /^honored: override of rule 930100/],
    ['SecRuleUpdateTargetById "930100" "!ARGS:q"', /^honored: override of rule 930100/],
    ['SecRuleUpdateTargetByMsg "Traversal" "!ARGS:/q/"', /^honored: custom rule .* for 2 rules$/],
    [
      'SecRuleUpdateTargetByMsg "Traversal" "!TX:/score/"',
      /^refused: rule 980130 sets up, compares or reports/,
    ],
    ['SecRuleRemoveByMsg "Traversal"', /^refused: rule 980130 sets up, compares or reports/],
    ['SecRuleRemoveById 930100-999999', /^refused: a rule of 949000 to 949999/],
    ['SecRuleUpdateTargetByMsg "Nothing of the kind (/../)" "!ARGS:q"', /^ignored: neither/],
  ])('%s', (text, fate) => expect(one(text)).toMatch(fate));
});

describe('data files', () => {
  const rule = 'SecRule ARGS "@pmFromFile words.data" "id:20001,phase:2,deny"\n';
  const wordsOf = (data: string | Buffer): readonly string[] => {
    const { customRules, fates } = imported({ 'a.conf': rule, 'words.data': data });
    expect(fates).toEqual(['honored: custom rule 20001']);
    const source = loadText(
      Buffer.from(customRules[0]?.seclang ?? '').toString('latin1'),
      'a.conf',
    );
    const { program, diagnostics } = buildProgram(source, fullCatalog, () => null);
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const filter = program?.rules.find(({ id }) => id === 20_001)?.operator?.prefilter;
    return filter?.kind === 'words' ? filter.words : [];
  };

  test.each<[string, string | Buffer, string[]]>([
    ['phrases with blanks', 'union select\ndrop  table\n', ['union select', 'drop  table']],
    ['comments and blank lines', '# words\n\n  # more\nalpha\n\nbeta\n', ['alpha', 'beta']],
    ['ends of lines of other systems', 'alpha one\r\n\r\nbeta\r\n', ['alpha one', 'beta']],
    ['a byte order mark', '\uFEFFalpha\nbeta\n', ['alpha', 'beta']],
    ['no end of the last line', 'alpha\nbeta gamma', ['alpha', 'beta gamma']],
    ['signs that @pm reads otherwise', 'a|b\n"c"\n\\d\n%{e}\n', ['a|b', '"c"', '\\d', '%{e}']],
    ['quotes of SecLang', "it's\na;b:c\n", ["it's", 'a;b:c']],
  ])('hold %s', (_name, data, words) => expect(wordsOf(data)).toEqual(words));

  test.each([
    ['without lines', '# nothing\n', /^refused: the data file words.data has no lines/],
    ['with too many', 'word\n'.repeat(1001), /^refused: .* more than 1000 lines .*several rules/],
  ])('%s are refused', (_name, data, fate) => {
    expect(imported({ 'a.conf': rule, 'words.data': data }).fates.join()).toMatch(fate);
  });
});

describe('files of a set-up', () => {
  const rule = (id: number): string => `SecRule ARGS "@rx x${id}" "id:${id},phase:2,deny"\n`;
  const ids = (files: Readonly<Record<string, string>>): (string | undefined)[] =>
    imported(files).customRules.map(({ ruleId }) => ruleId);

  test('may end lines as other systems do, and begin with a byte order mark', () => {
    const continued = 'SecRule ARGS "@rx y" \\\n  "id:20002,phase:2,\\\n  deny"\n';
    const text = `\uFEFF# first\n${rule(20_001)}${continued}`;
    expect(ids({ 'a.conf': text.replaceAll('\n', '\r\n') })).toEqual(['20001', '20002']);
  });

  test('include others by pattern and relative path', () => {
    const main =
      'Include conf.d/*.conf\nIncludeOptional none/*.conf\nInclude ./more/../conf.d/a.inc\n';
    const files = {
      'main.conf': main,
      'conf.d/b.conf': rule(20_002),
      'conf.d/c.conf': rule(20_003),
      'conf.d/a.inc': rule(20_001),
    };
    expect(ids(files)).toEqual(['20002', '20003', '20001']);
  });

  test('hold sections, whose condition is kept or refused', () => {
    const text =
      `<IfModule security2_module>\n${rule(20_001)}</IfModule>\n` +
      `<IfDefine X>\n${rule(20_002)}</IfDefine>\n` +
      `<Location "/a">\n${rule(20_003)}</Location>\n${rule(20_004)}`;
    const { customRules, fates } = imported({ 'a.conf': text });
    expect(customRules.map(({ ruleId }) => ruleId)).toEqual(['20001', '20004']);
    expect(fates.filter((fate) => fate.startsWith('refused'))).toEqual([
      expect.stringContaining('holds inside <IfDefine X> only'),
      expect.stringContaining('holds inside <Location "/a"> only'),
    ]);
  });

  test('have chains that end', () => {
    const text = `SecRule ARGS "@rx a" "id:20001,phase:2,deny,chain"\n`;
    expect(imported({ 'a.conf': text }).report).toMatchObject([
      { fate: 'refused', note: 'no rule follows that ends its chain', line: 1, column: 1 },
    ]);
  });

  test('have numbers of their own', () => {
    const rule = (id: number): string => `SecRule ARGS "@rx a" "id:${id},phase:2,deny"\n`;
    const { report, customRules } = imported({
      'a.conf': rule(20_001) + rule(20_002),
      'b.conf': rule(20_003) + rule(20_001),
    });
    expect(customRules.map(({ ruleId }) => ruleId)).toEqual(['20001', '20002', '20003']);
    expect(report.filter(({ fate }) => fate === 'refused')).toEqual([
      {
        ...{ file: 'b.conf', line: 2, column: 23, directive: 'SecRule 20001', fate: 'refused' },
        note: 'the rule at a.conf:1 has this id: give it another',
      },
    ]);
  });

  test('stand in a folder, which is what an import takes', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'waf-import-'));
    folders.push(folder);
    const file = path.join(folder, 'modsecurity.conf');
    writeFileSync(file, 'SecRuleEngine On\n');
    expect(() => importPolicy(file, 'imported', ruleset)).toThrow('it is a file: name the folder');
  });
});
