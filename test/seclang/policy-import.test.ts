/**
 * A Debian set-up of ModSecurity, imported: each directive has one fate, and the policy decides
 * requests as the original configuration does.
 */

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { describeRules } from '../../control/domain/policy/crs-rules.ts';
import { placeCustomRules } from '../../control/domain/policy/custom-rules.ts';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { renderOverrides } from '../../control/domain/policy/rule-overrides.ts';
import {
  importPolicy,
  type KnownRuleset,
  type PolicyImport,
} from '../../control/publish/manifests/policy-import.ts';
import {
  builtInCrsFolder,
  readRulesetFolder,
} from '../../control/publish/rulesets/ruleset-folder.ts';
import { toByteString } from '../../base/byte-string.ts';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import type { Program } from '../../engine/rules/transaction/types.ts';
import { createFileSet } from '../../engine/rules/language/file-set.ts';
import { loadSourceSet, type SourceFile } from '../../engine/rules/language/include.ts';
import { parseSecLang } from '../../engine/rules/language/parse.ts';
import { makeBody } from '../../engine/rules/oracle/conformance/exchange.ts';
import { evaluateTransaction } from '../../engine/rules/oracle/evaluate.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';
import { rulePorts } from '../support/rule-ports.ts';
import { readWire } from './wire.ts';

const setUp = path.join(import.meta.dirname, 'modsecurity');
const confs = [
  'modsecurity.conf',
  'owasp-crs.load',
  'crs/crs-setup.conf',
  'crs/REQUEST-900-EXCLUSION-RULES-BEFORE-CRS.conf',
  'crs/RESPONSE-999-EXCLUSION-RULES-AFTER-CRS.conf',
  'own/own-rules.conf',
];
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const noRuleset: KnownRuleset = { ref: '', version: '', rules: [] };
const text = (file: string): string => toByteString(readFileSync(path.join(setUp, file)));

test('each directive has exactly one fate, with a place and a note', () => {
  const { report } = importPolicy(setUp, 'imported', noRuleset);
  const wanted = confs.flatMap((file) =>
    parseSecLang(text(file), file).directives.map(({ span }) => `${file}:${span.line}`),
  );
  expect(report.map(({ file, line }) => `${file}:${line}`).sort()).toEqual(wanted.sort());
  for (const { note, directive } of report) expect([directive, note]).not.toContain('');
});

/** Lines of own-rules.conf that no policy can take. */
test('what is lost is refused with the reason, nothing else is', () => {
  const { report } = importPolicy(setUp, 'imported', noRuleset);
  const lost = report.filter(({ fate }) => fate === 'refused');
  expect(lost.map(({ directive, note }) => `${directive}: ${note}`)).toEqual([
    expect.stringContaining('SecRuleUpdateActionById 920170: set what a rule does with waf rule'),
    expect.stringContaining('SecRuleRemoveById 920300: holds inside <LocationMatch "^/legacy">'),
    'SecRule 1004: @inspectFile is not supported',
    'SecRuleScript /opt/rule.lua deny: the product runs no scripts',
    'SecRule: the rule has no id: give it one',
    expect.stringContaining('SecNoSuchDirective On: unknown to this product'),
    expect.stringContaining('SecRule: SecRule takes targets, an operator'),
  ]);
});

test('settings, versions and marks of crs-setup.conf become fields', () => {
  const { settings, setupVersion, customRules } = importPolicy(setUp, 'imported', noRuleset);
  expect(setupVersion).toBe('334');
  expect(settings).toEqual({
    engineState: 'on',
    blockingMode: 'anomaly',
    crsCore: {
      requestBodyLimit: '131072',
      requestBodyLimitAction: 'REQUEST_BODY_LIMIT_ACTION_BLOCK',
      responseBodyAccess: true,
      responseBodyMimeTypes: ['text/plain', 'text/html', 'text/xml'],
      responseBodyLimit: '524288',
      blockingParanoiaLevel: 2,
      inboundAnomalyScoreThreshold: 8,
      outboundAnomalyScoreThreshold: 6,
    },
    httpPolicy: {
      requestBodyParseFailureAction: 'HTTP_POLICY_VIOLATION_ACTION_BLOCK',
      allowedMethods: ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT'],
      allowedRequestContentTypes: [
        'application/x-www-form-urlencoded',
        'multipart/form-data',
        'application/json',
      ],
      allowedHttpVersions: ['HTTP/1.0', 'HTTP/1.1', 'HTTP/2'],
      restrictedExtensions: ['.bak', '.sql', '.conf'],
      restrictedHeadersBasic: ['proxy', 'lock-token', 'content-range'],
    },
    argLimits: { combinedFileSizes: '13107200', maxNumArgs: 1000 },
  });
  const seclang = customRules.map((rule) => rule.seclang ?? '').join('\n');
  expect(seclang).toContain('tx.crs_exclusions_wordpress=1');
  expect(seclang).toContain('tx.static_extensions=/.jpg/ /.png/ /.css/');
  expect(seclang).toContain('@pm evilbot scrapy');
});

test('a link out of the folder is not followed, an Include out of it is refused', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waf-import-'));
  folders.push(folder);
  const inside = path.join(folder, 'modsecurity');
  mkdirSync(inside);
  writeFileSync(path.join(folder, 'secret.conf'), 'SecRuleEngine Off\n');
  symlinkSync(path.join(folder, 'secret.conf'), path.join(inside, 'link.conf'));
  symlinkSync(path.join(folder, 'nowhere.conf'), path.join(inside, 'dangling.conf'));
  symlinkSync(inside, path.join(inside, 'loop'));
  const include = 'SecRuleEngine On\nInclude ../secret.conf\nInclude /etc/passwd\nInclude a.conf\n';
  writeFileSync(path.join(inside, 'a.conf'), include);
  const { report, settings } = importPolicy(inside, 'imported', noRuleset);
  expect(settings.engineState).toBe('on');
  expect(report.map(({ fate }) => fate)).toEqual(['honored', 'refused', 'refused', 'refused']);
});

test('a tag means every rule that has it, and no rule beside them', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waf-import-'));
  folders.push(folder);
  writeFileSync(path.join(folder, 'a.conf'), 'SecRuleRemoveByTag "^attack-(?:sqli|rce)$"\n');
  const tagged = (id: number, tag: string) => ({ id, targets: ['ARGS'], tags: [tag], msg: '' });
  const rules = [
    tagged(942100, 'attack-sqli'),
    tagged(942110, 'attack-sqli'),
    tagged(942120, 'attack-xss'),
    tagged(942130, 'attack-rce'),
  ];
  const { customRules } = importPolicy(folder, 'imported', { ...noRuleset, rules });
  const [rule] = customRules;
  expect(rule?.seclang).toContain("ctl:'ruleRemoveById=942100-942110',ctl:'ruleRemoveById=942130'");
});

describe('rules of the rule set that somebody edited', () => {
  const file = 'rules/REQUEST-942-APPLICATION-ATTACK-SQLI.conf';
  const rule = (id: number, pattern: string, release = '9.1.0'): string =>
    `SecRule ARGS "@rx ${pattern}" \\\n` +
    `  "id:${id},phase:2,block,t:none,ver:'OWASP_CRS/${release}'"\n`;
  const shipped = rule(942100, 'select') + rule(942110, 'union');
  const ruleset = {
    ref: 'crs',
    version: '9.1.0',
    rules: describeRules([{ path: file, text: shipped }], 'crs').map((one) => ({
      id: one.ruleId,
      targets: ['ARGS'],
      tags: [],
      msg: '',
      textSha256: one.rawSha256 ?? '',
    })),
  };
  const fatesOf = (content: string): string[] => {
    const folder = mkdtempSync(path.join(tmpdir(), 'waf-import-'));
    folders.push(folder);
    mkdirSync(path.join(folder, 'rules'));
    writeFileSync(path.join(folder, file), content);
    return importPolicy(folder, 'imported', ruleset).report.map(
      ({ directive, fate, note }) => `${directive} ${fate}: ${note}`,
    );
  };
  const kept = (id: number): string => `SecRule ${id} honored: the rule set of the policy`;

  test.each([
    ['are taken as they are', shipped, [kept(942100), kept(942110)]],
    [
      'are refused where their text differs',
      rule(942100, 'selects') + rule(942110, 'union'),
      [expect.stringMatching(/^SecRule 942100 refused: .*release 9\.1\.0 has it/), kept(942110)],
    ],
    [
      'are refused where the release has no such rule',
      shipped + rule(942999, 'drop'),
      [kept(942100), kept(942110), expect.stringMatching(/^SecRule 942999 refused: .*9\.1\.0/)],
    ],
    [
      'cannot be told in another release',
      rule(942100, 'selects', '9.0.0') + rule(942999, 'drop', '9.0.0'),
      [kept(942100), expect.stringMatching(/^SecRule 942999 ignored: .*another version/)],
    ],
    [
      'may stand beside exclusions, which hold',
      `${shipped}SecRuleRemoveById 942100\n`,
      [kept(942100), kept(942110), expect.stringMatching(/^SecRuleRemoveById 942100 honored: /)],
    ],
    [
      'may stand beside settings, which hold',
      `${shipped}SecRuleEngine DetectionOnly\n`,
      [kept(942100), kept(942110), expect.stringMatching(/^SecRuleEngine .* honored: engineState/)],
    ],
  ])('%s', (_name, content, wanted) => expect(fatesOf(content)).toEqual(wanted));
});

/** Fates and the mode of a set-up of one file. */
function imported(text: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'waf-import-'));
  folders.push(folder);
  writeFileSync(path.join(folder, 'a.conf'), text);
  const { report, settings, customRules } = importPolicy(folder, 'imported', noRuleset);
  const fates = report.map(({ fate, note }) => `${fate}: ${note}`);
  return { fates, mode: settings.blockingMode, customRules };
}

const releaseOf = (version: string): string =>
  `SecAction "id:900990,phase:1,nolog,pass,t:none,setvar:tx.crs_setup_version=${version}"\n`;

test.each([
  ['334', ['phase:1,log,pass', 'phase:2,log,pass'], 'anomaly', [/^honored/, /^honored/]],
  ['334', ['phase:1,deny,status:406'], 'self-contained', [/with status 403 in place of 406/]],
  ['334', ['phase:2,pass', 'phase:3,deny'], 'anomaly', [/^honored/, /^refused: .* phase 3: wri/]],
  ['334', ['phase:2,deny', 'phase:4,deny'], 'self-contained', [/^honored/, /^refused: .*phase 4/]],
  ['428', ['phase:2,deny', 'phase:4,deny'], 'self-contained', [/^honored/, /^honored: .*deny/]],
  ['428', ['phase:2,deny', 'phase:4,pass'], 'self-contained', [/^honored/, /^refused: .*phase 4/]],
  ['334', ['phase:1,pass', 'phase:2,deny'], 'self-contained', [/^refused: phases 1 and 2/, /^hon/]],
  ['334', ['phase:5,deny'], 'anomaly', [/^ignored: rules of phase 5 cannot stop/]],
  ['334', ['phase:2,pass,t:lowercase'], 'anomaly', [/^refused: t of a default action/]],
  ['334', ['phase:2,pass,setvar:tx.a=1'], 'anomaly', [/^refused: setvar of a default action/]],
])('CRS %s, default actions %j: %s', (version, defaults, mode, fates) => {
  const lines = defaults.map((one) => `SecDefaultAction "${one}"\n`).join('');
  const found = imported(`${lines}${releaseOf(version)}`);
  expect(found.mode).toBe(mode);
  fates.forEach((fate, at) => expect(found.fates[at]).toMatch(fate));
});

test('rules of phases 3 to 5 are kept in their phases', () => {
  const rule = (id: number, phase: string): string =>
    `SecRule RESPONSE_HEADERS:X-A "@streq ${id}" "id:${id},${phase},pass,log"\n`;
  const text = `${rule(1, 'phase:3')}${rule(2, 'phase:response')}${rule(3, 'phase:logging')}`;
  const { fates, customRules } = imported(`${text}${releaseOf('334')}`);
  expect(fates.slice(0, 3)).toEqual([
    expect.stringMatching(/^honored: custom rule/),
    expect.stringMatching(/^honored: custom rule/),
    expect.stringMatching(/^honored: custom rule/),
  ]);
  expect(customRules.map(({ phase }) => phase)).toEqual([3, 4, 5]);
});

function program(entry: SourceFile, files: readonly SourceFile[]): Program {
  const { readFiles, readDataFile } = createFileSet(files);
  const built = buildProgram(loadSourceSet([entry], readFiles), fullCatalog, readDataFile);
  if (built.program !== null) return built.program;
  throw new Error(
    built.diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ message, span }) => `${span.file}:${span.line} ${message}`)
      .join('\n'),
  );
}

/** The original without what was refused, which would not link; Includes of Debian's paths. */
function original(imported: PolicyImport, crs: readonly SourceFile[]): Program {
  const lost = new Set(
    imported.report
      .filter(({ fate, directive }) => fate === 'refused' || /^<|^ServerTokens/.test(directive))
      .map(({ file, line }) => `${file}:${line}`),
  );
  const map = crs.filter((file) => file.path === 'crs/unicode.mapping');
  // A machine without the package has no map, and then neither has the imported policy.
  const mapped = /^SecUnicodeMapFile/;
  for (const { file, line, directive } of imported.report) {
    if (map.length === 0 && mapped.test(directive)) lost.add(`${file}:${line}`);
  }
  const own = confs.map((file) => {
    const lines = text(file).split('\n');
    for (const { span } of parseSecLang(text(file), file).directives) {
      if (!lost.has(`${file}:${span.line}`)) continue;
      for (let line = span.line; line <= span.endLine; line++) lines[line - 1] = '';
    }
    return { path: file, text: lines.join('\n') };
  });
  const entry = [
    'Include modsecurity.conf',
    'Include crs/crs-setup.conf',
    'Include crs/REQUEST-900-EXCLUSION-RULES-BEFORE-CRS.conf',
    'Include rules/*.conf',
    'Include crs/RESPONSE-999-EXCLUSION-RULES-AFTER-CRS.conf',
  ].join('\n');
  const data = { path: 'own/bad-agents.data', text: text('own/bad-agents.data') };
  const rules = crs.map((file) => ({ ...file, path: file.path.replace('crs/rules/', 'rules/') }));
  const maps = map.map((file) => ({ ...file, path: 'unicode.mapping' }));
  return program({ path: 'main.conf', text: entry }, [...own, data, ...rules, ...maps]);
}

const requests: readonly (readonly [name: string, wire: string])[] = [
  ['plain', 'GET / HTTP/1.1'],
  ['numeric host', 'GET / HTTP/1.1\r\nHost: 10.0.0.1'],
  ['unwanted agent', 'GET / HTTP/1.1\r\nUser-Agent: Mozilla EvilBot/1'],
  ['SQL', "GET /?id=1'%20OR%20'1'='1 HTTP/1.1"],
  ['SQL in the report', "GET /report?query=1'%20OR%20'1'='1 HTTP/1.1"],
  ['SQL beside the report', "GET /report?other=1'%20UNION%20SELECT%20a,b%20FROM%20c-- HTTP/1.1"],
  ['SQL in health', "GET /health?id=1'%20UNION%20SELECT%20a%20FROM%20b-- HTTP/1.1"],
  ['script', 'GET /?q=%3Cscript%3Ealert(1)%3C/script%3E HTTP/1.1'],
  ['script where allowed', 'GET /?html=%3Cscript%3Ealert(1)%3C/script%3E HTTP/1.1'],
  ['comment', "GET /?comment=a'%20having%201=1 HTTP/1.1"],
  ['remote file', 'GET /?file=http://10.1.2.3/shell.txt? HTTP/1.1'],
  ['refused method', 'DELETE / HTTP/1.1'],
  ['allowed method', 'PUT / HTTP/1.1\r\nContent-Length: 0'],
  ['refused ending', 'GET /dump.sql HTTP/1.1'],
  ['refused header', 'GET / HTTP/1.1\r\nLock-Token: a'],
  ['removed own rule', 'GET /?a=forbidden HTTP/1.1'],
  ['own rule', 'GET /?mode=strict HTTP/1.1'],
  ['own rule skipped', 'GET /?mode=strict HTTP/1.1\r\nX-Skip: 1'],
  ['inside a condition', 'GET /?inside=1 HTTP/1.1'],
  ['chain', 'POST /admin?token=nothex HTTP/1.1\r\nContent-Length: 0'],
  ['chain that does not match', 'POST /admin?token=0123abcd HTTP/1.1\r\nContent-Length: 0'],
  ['traversal', 'GET /?f=../../../../etc/passwd HTTP/1.1'],
  ['shell', 'GET /?c=;cat%20/etc/passwd HTTP/1.1'],
  ['control characters', 'GET /?a=%01%02 HTTP/1.1'],
  ['bad JSON', 'POST / HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{"'],
  ['refused type', 'POST / HTTP/1.1\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n<a/>'],
];

function decide(
  one: Program,
  wire: string,
): { status: number; score: string; loggedCrs: number[] } {
  const [head = '', body = ''] = wire.split('\r\n\r\n');
  const lines = /\r\nHost:/.test(head) ? head : `${head}\r\nHost: shop.example`;
  const agent = /\r\nUser-Agent:/.test(head) ? lines : `${lines}\r\nUser-Agent: Mozilla/5.0`;
  const read = readWire(Buffer.from(`${agent}\r\nAccept: */*\r\n\r\n${body}`, 'latin1'));
  if ('refusal' in read) throw new Error(read.refusal);
  const { verdict, matchedRules, variables } = evaluateTransaction(
    one,
    { request: read.request, requestBody: makeBody(read.body), response: null, responseBody: null },
    rulePorts,
  );
  const crs = matchedRules.filter(({ log, ruleId }) => log && ruleId >= 900_000 && ruleId < 1e6);
  return {
    status: verdict.action === 'block' ? verdict.status : 200,
    score: variables.get('anomaly_score') ?? '',
    loggedCrs: [...new Set(crs.map(({ ruleId }) => ruleId))].sort((left, right) => left - right),
  };
}

const missing = existsSync(path.join(builtInCrsFolder, 'rules')) ? null : 'skipped: no Debian CRS';
if (missing !== null) console.log(missing);

describe.skipIf(missing !== null)('the imported policy', () => {
  test('decides as the original configuration does', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'waf-import-'));
    folders.push(folder);
    cpSync(setUp, path.join(folder, 'modsecurity'), { recursive: true });
    const ruleset = readRulesetFolder(builtInCrsFolder);
    const crs = ruleset.files.map(({ path: name, content }) => ({
      path: name,
      text: toByteString(content),
    }));
    const described = describeRules(
      crs.filter((file) => file.path.endsWith('.conf')),
      'crs',
    );
    const known = described.map(({ ruleId, targets = [], tags, msg = '' }) => ({
      id: ruleId,
      targets,
      tags,
      msg,
    }));
    const imported = importPolicy(path.join(folder, 'modsecurity'), 'imported', {
      ...noRuleset,
      rules: known,
    });
    const { settings, overrides, customRules } = imported;
    expect(overrides.map(({ crsRuleId }) => crsRuleId)).toEqual(['920350', '942260']);
    const { engineState: _state, blockingMode: _mode, ...layers } = settings;
    const raws = new Map(described.map(({ ruleId, raw }) => [ruleId, raw]));
    const rules = placeCustomRules(customRules);
    const changes = renderOverrides(overrides, (id) => raws.get(id));
    const { seclang } = renderPolicy(
      { name: 'imported', engineState: 'ENGINE_STATE_ON', ...layers },
      ruleset,
      {
        beforeCrs: [rules.beforeCrs ?? '', changes.beforeCrs].join('\n'),
        afterCrs: [rules.afterCrs ?? '', changes.afterCrs].join('\n'),
      },
    );
    const before = original(imported, crs);
    const after = program({ path: 'policy.conf', text: toByteString(Buffer.from(seclang)) }, crs);
    const decided = requests.map(([name, wire]) => ({ name, ...decide(after, wire) }));
    expect(decided).toEqual(requests.map(([name, wire]) => ({ name, ...decide(before, wire) })));
    // Requests that would show a lost rule or exclusion are among them.
    const bare = renderPolicy({ name: 'imported', engineState: 'ENGINE_STATE_ON' }, ruleset);
    const without = program({ path: 'policy.conf', text: bare.seclang }, crs);
    const lost = decided.filter(({ name: _name, ...one }, at) => {
      return JSON.stringify(decide(without, requests[at]![1])) !== JSON.stringify(one);
    });
    console.log(`${lost.length} of ${requests.length} requests need what was imported`);
    expect(lost.length).toBeGreaterThan(15);
    // The requests tell things apart: some of each kind.
    const statuses = new Set(decided.map(({ status }) => status));
    expect([...statuses].sort((left, right) => left - right)).toEqual([
      200, 400, 403, 406, 410, 411,
    ]);
  });
});
