/**
 * Proof that the console has a Chinese text for what the API says: the messages of rules, what
 * detectors prove, and the descriptions of what comes with the product. Pages know nothing of the
 * service but its API.
 */

import { Buffer } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { translate } from '../../control/console/text/catalog.ts';
import { chineseAuditWords } from '../../control/console/text/audit-words.table.ts';
import { chinese, chineseTexts } from '../../control/console/text/chinese.ts';
import { builtInRoles, permissionCodes } from '../../control/auth/permissions.ts';
import { alertKinds } from '../../control/domain/alert/alert-condition.ts';
import { renderMessage, standardStyle } from '../../control/domain/alert/alert-message.ts';
import type { AlertRecord } from '../../control/domain/alert/alert-records.ts';
import { bodyInspectionOf } from '../../control/domain/policy/body-inspection.ts';
import { describeRules } from '../../control/domain/policy/crs-rules.ts';
import { customRuleTemplates } from '../../control/domain/policy/custom-rule-templates.ts';
import { curatedPlugins } from '../../control/domain/policy/exclusion-plugins.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import { readRulesetFolder } from '../../control/publish/rulesets/ruleset-folder.ts';
import type { RequestEvent } from '../../engine/contract/events.ts';
import { errorOf } from '../../engine/contract/request-error.ts';
import { detectorRules } from '../../engine/detect/detector-rules.ts';
import { detectors } from '../../engine/detect/list.ts';
import { failureText } from '../../engine/upstream/connect-failure.ts';
import { ORIGIN_FAILURE } from '../../engine/upstream/origin-sink.ts';
import { readSources } from '../tidy/source-files.ts';
import { observed, over, ownRuleTexts, refused } from './own-rule-policies.ts';
import { rulesetFolders } from './policy-in-process.ts';

/** What the rules of a text say, with a value in place of each macro. */
function messagesOf(text: string): string[] {
  return describeRules([{ path: 'rules/a.conf', text }], 'r').map(({ msg = '' }) =>
    msg.replaceAll(/%\{[^}]*\}/g, '7'),
  );
}

/** Of these sentences those that have no Chinese text, each once. */
const missing = (sentences: readonly string[]): string[] =>
  [...new Set(sentences)].filter((one) => one !== '' && translate(chinese, one) === null);

test.each(rulesetFolders)('every message of $name has a Chinese text', ({ folder }) => {
  const messages = readRulesetFolder(folder)
    .files.filter(({ path }) => path.endsWith('.conf'))
    .flatMap(({ content }) => messagesOf(Buffer.from(content).toString('latin1')));
  expect(new Set(messages).size).toBeGreaterThan(190);
  expect(missing(messages)).toEqual([]);
});

test('every message of a rule of our own has a Chinese text', () => {
  const messages = [...ownRuleTexts(), detectorRules].flatMap(messagesOf);
  expect(new Set(messages).size).toBeGreaterThan(90);
  expect(missing(messages)).toEqual([]);
});

test('a message that is not in the table is found', () => {
  const planted = messagesOf(`SecRule ARGS "@rx a" "id:1,phase:2,pass,msg:'A planted message'"`);
  expect(missing(planted)).toEqual(['A planted message']);
});

test.each([...detectors.map(({ proves }) => proves), 'rules of the ruleset match'])(
  'the sentence of the score says in Chinese: %s',
  (proves) => {
    for (const level of ['block', 'challenge', 'watch', 'below watch']) {
      const sentence = `Score 87 of 100 (${level}): ${proves} in args.a in b`;
      const found = translate(chinese, sentence);
      expect(found).toContain('args.a in b 中');
      expect(found).not.toContain(level);
      expect(found).not.toContain(proves);
    }
  },
);

test('descriptions of what comes with the product have a Chinese text', () => {
  const described = [...builtInTemplates, ...customRuleTemplates, ...curatedPlugins];
  const sentences = [
    ...[...described, ...builtInRoles].map(({ description = '' }) => description),
    ...permissionCodes.map(([, description]) => description),
  ];
  expect(sentences.length).toBeGreaterThan(70);
  expect(missing(sentences)).toEqual([]);
});

/** The words for actions and kinds of records in a source that writes the audit trail. */
function auditWordsIn(text: string): string[] {
  if (!/\.audit\(|\bnoteAction\(|\baudit(?::| =) '/.test(text)) return [];
  const stated = text.matchAll(
    /(?:\b(?:action|resourceType|audit)(?::| =) |\bnoteAction\()([^\n;]*)/g,
  );
  return [...stated].flatMap(([, value = '']) =>
    [...value.matchAll(/(?<!=== )'([a-z_]{2,})'/g)].map(([, word]) => word!),
  );
}

test('every word of the audit trail has a Chinese text', () => {
  const rooms = /^control\/(?!console|cli)/;
  const sources = readSources('.ts').filter(
    ({ path }) => rooms.test(path) && !path.endsWith('.test.ts'),
  );
  const words = new Set(sources.flatMap(({ text }) => auditWordsIn(text)));
  expect(words.size).toBeGreaterThan(90);
  expect([...words].filter((word) => !Object.hasOwn(chineseAuditWords, word))).toEqual([]);
  const planted = "const action = grows ? 'planted' : 'update';\ntx.audit({ ...note, action });";
  expect(auditWordsIn(planted)).toContain('planted');
  expect(auditWordsIn("noteAction(tx, caller, kind, user, 'planted');")).toEqual(['planted']);
});

test.each(alertKinds)('an alert of the kind %s is said in Chinese', (kind) => {
  const payload = { count: 7, windowSeconds: 60, threshold: 5, revision: '7', daysLeft: 3 };
  const at = '2026-01-02T03:04:05Z';
  const times = { openedAt: at, firingAt: at, resolvedAt: at, lastSeenAt: at, notAfter: at };
  const subject = kind === 'log_storage' ? 'warning' : 'shop';
  for (const closedReason of ['', 'condition_cleared', 'operator', 'rule_changed']) {
    const alert = {
      ...{ ...times, kind, subject, closedReason, id: 'a', ruleId: 'r', ruleName: 'Duty' },
      ...{ severity: 'ALERT_SEVERITY_INFO', siteId: '', agentId: '', state: 'firing' },
      payload: { ...payload, ...times, availableBytes: 7, error: 'no answer in time' },
    } as unknown as AlertRecord;
    const event = closedReason === '' ? 'firing' : 'resolved';
    const { message } = renderMessage(alert, {}, event, standardStyle, 0);
    expect(missing([message])).toEqual([]);
  }
});

test('why an origin does not answer is said in Chinese, also of several origins', () => {
  const why = Object.values(ORIGIN_FAILURE).map(({ code }) => failureText(code));
  const origins = why.map((text) => `http://a.test:80 of site shop: ${text} (7 failures)`);
  expect(missing(origins)).toEqual([]);
  const list = [...origins.slice(0, 3), 'and 4 more'].join('; ');
  const said = translate(chinese, list)!;
  expect(said.match(/站点 shop 的/g)).toHaveLength(3);
  expect(said).not.toMatch(/failures|more/);
});

test.each([
  { outcome: 'origin_error', refusal: 'origin_connect' },
  { outcome: 'refused', refusal: 'head_too_large' },
  ...['overload', 'policy', 'queue'].flatMap((failure) => [
    { outcome: 'inspection_failed', transaction: { failure } },
    { outcome: 'forwarded', transaction: { failure } },
    { outcome: 'blocked', transaction: { failure } },
  ]),
  { outcome: 'forwarded', transaction: { limitsReached: ['json_depth'] } },
  { outcome: 'forwarded', transaction: { pcreLimitedRules: [942100] } },
])('the log of errors says in Chinese: $outcome $refusal $transaction', (event) => {
  const { message } = errorOf(event as unknown as RequestEvent)!;
  expect(missing([message])).toEqual([]);
});

test.each(['SQL', 'paths of files', 'HTML or scripts'])(
  'what was learned of values that hold %s is said in Chinese',
  (content) => {
    const names = [
      'Parameter "q"',
      'Cookie "q"',
      'Header field "q"',
      'File name of "q"',
      'Value "q"',
    ];
    const sentences = [...names, 'The body', 'The XML body'].flatMap((name) =>
      ['', ' since 2026-01-02T03:04Z'].map(
        (since) =>
          `${name} of POST /a regularly holds ${content}: at least 7 clients in 3 hours${since}`,
      ),
    );
    expect(missing(sentences)).toEqual([]);
  },
);

/** What the refusals in a file of the API say, with a value in place of each expression. */
function refusalsIn(path: string): string[] {
  const literal = /(?:'(?:[^'\\]|\\.)*'|"[^"]*"|`[^`]*`)/.source;
  const call = `(?:refusal|invalidField)\\([^,]+,\\s*(${literal}(?:\\s*\\+\\s*${literal})*)`;
  return [...readFileSync(path, 'utf8').matchAll(new RegExp(call, 'g'))].map(([, sentence = '']) =>
    [...sentence.matchAll(new RegExp(literal, 'g'))]
      .map(([text]) => text.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, '7'))
      .join(''),
  );
}

test('every refusal about passkeys and API tokens has a Chinese text', () => {
  const services = ['passkey-service', 'token-service'].map((name) => join('control/api', name));
  const files = services.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const sentences = [
    ...files.filter((path) => !path.endsWith('.test.ts')),
    ...['control/api/token-scope.ts', 'control/auth/passkeys.ts', 'control/auth/api-tokens.ts'],
  ].flatMap(refusalsIn);
  expect(new Set(sentences).size).toBeGreaterThan(30);
  expect(missing(sentences)).toEqual([]);
});

test('how far a policy inspects bodies is said in Chinese', () => {
  const excess = ['BLOCK', 'RECORD', 'OFF'].map((action) => ({
    crsCore: {
      requestBodyLimitAction: 'REQUEST_BODY_LIMIT_ACTION_OBSERVE',
      requestBodyExcessAction: `REQUEST_BODY_EXCESS_ACTION_${action}`,
    },
  })) as (typeof observed)[];
  const bounded = excess.map((one) =>
    over(one, { crsCore: { requestBodyInspectionLimit: '70000' } }),
  );
  const sentences = [observed, refused, ...excess, ...bounded].map(
    (change) => bodyInspectionOf(over(builtInTemplates[0]!, change))?.summary ?? '',
  );
  expect(new Set(sentences).size).toBeGreaterThan(3);
  expect(missing(sentences)).toEqual([]);
});

test('a translation keeps every value of its sentence', () => {
  const names = (text: string): string[] =>
    [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).toSorted();
  const lost = Object.entries(chineseTexts).filter(
    ([sentence, translation]) => names(sentence).join() !== names(translation).join(),
  );
  expect(lost).toEqual([]);
  const english = Object.values(chineseTexts).filter(
    (text) => !/\p{Script=Han}|^\{field\}/u.test(text),
  );
  expect(english).toEqual([]);
});
