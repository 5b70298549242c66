/**
 * Light lets ordinary people and programs pass, with every ruleset: texts in 25 languages, each as
 * query argument, form field and JSON value, and calls of APIs. Attacks that the same changes of
 * rules could let through stay blocked. Standard refuses what the table of texts says.
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { codedAttacks, codedCalls } from './coded-bodies-table.ts';
import { attackRows } from './ordinary-attacks-table.ts';
import {
  rulesetFolders,
  sendInProcess,
  templateEngine,
  type TableRequest,
} from './policy-in-process.ts';

const timeoutMs = 10 * 60_000;

interface TextRow {
  readonly language: string;
  readonly text: string;
  /** Rules by which Standard refuses it, by ruleset; left out where there is none. */
  readonly standard?: Readonly<Record<string, readonly number[]>>;
}

type CallRow = TableRequest & { readonly title: string; readonly webdav?: boolean };

function readRows<Row>(file: string): Row[] {
  const text = readFileSync(path.join(import.meta.dirname, file), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

const texts = readRows<TextRow>('ordinary-texts.jsonl');
const calls: readonly CallRow[] = [...readRows<CallRow>('rest-calls.jsonl'), ...codedCalls];
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const json = { 'Content-Type': 'application/json' };
const quoted = (text: string): string => encodeURIComponent(text).replaceAll("'", '%27');

/** The ways of a text into a request. */
const ways: Readonly<Record<string, (text: string) => TableRequest>> = {
  query: (text) => ({ url: `/comments?comment=${quoted(text)}` }),
  form: (text) => ({
    ...{ url: '/comments', method: 'POST', headers: form },
    body: `comment=${quoted(text)}&send=1`,
  }),
  json: (text) => ({
    ...{ url: '/comments', method: 'POST', headers: json },
    body: JSON.stringify({ comment: text }),
  }),
};

/** Rules of CRS that compare and report scores. */
const isSum = (rule: number): boolean => rule >= 949_000 && rule < 990_000;

/** What was refused, and by which rules, one line each. */
function refusedTexts(engine: PolicyEngine): string[] {
  return texts.flatMap(({ language, text }) =>
    Object.entries(ways).flatMap(([way, place]) => {
      const { status, rules } = sendInProcess(engine, place(text));
      return status === 0 ? [] : [`${language} ${way} ${rules.join(' ')}: ${text}`];
    }),
  );
}

test('the tables have 200 texts in 25 languages and 60 calls', () => {
  expect(new Set(texts.map(({ text }) => text)).size).toBe(200);
  const languages = [...new Set(texts.map(({ language }) => language))];
  const counts = languages.map((one) => texts.filter(({ language }) => language === one).length);
  expect(counts).toEqual(Array.from({ length: 25 }, () => 8));
  expect(calls.filter(({ webdav }) => webdav !== true).length).toBeGreaterThanOrEqual(60);
});

describe.each(rulesetFolders)('$name', ({ name, folder }) => {
  test('Light refuses no text and no call', { timeout: timeoutMs }, async () => {
    const engine = await templateEngine('Light', folder);
    expect(refusedTexts(engine)).toEqual([]);
    const refused = calls.flatMap((call) => {
      if (call.webdav === true) return [];
      const { status, rules } = sendInProcess(engine, call);
      return status === 0 ? [] : [`${call.title}: ${rules.join(' ')}`];
    });
    expect(refused).toEqual([]);
    engine.retire();
  });

  test('WebDAV passes under Light with its methods allowed', { timeout: timeoutMs }, async () => {
    const webdav = calls.filter((call) => call.webdav === true);
    const without = await templateEngine('Light', folder);
    const lock = webdav.find(({ method }) => method === 'LOCK')!;
    expect(sendInProcess(without, lock).rules).toContain(911_100);
    without.retire();
    const methods = webdav.map(({ method = 'GET' }) => method);
    const engine = await templateEngine('Light', folder, (policy) => {
      const { allowedMethods = [] } = policy.httpPolicy ?? {};
      const httpPolicy = { ...policy.httpPolicy, allowedMethods: [...allowedMethods, ...methods] };
      return { ...policy, httpPolicy };
    });
    expect(webdav.map((call) => sendInProcess(engine, call).status)).toEqual(webdav.map(() => 0));
    engine.retire();
  });

  test('Light stops the attacks beside them', { timeout: timeoutMs }, async () => {
    const engine = await templateEngine('Light', folder);
    const passed = attackRows.flatMap(({ what, request, only }) => {
      if (only !== undefined && only !== name) return [];
      return sendInProcess(engine, request).status === 0 ? [what] : [];
    });
    expect(passed).toEqual([]);
    const coded = codedAttacks.filter(({ request }) => sendInProcess(engine, request).status === 0);
    expect(coded.map(({ what }) => what)).toEqual([]);
    engine.retire();
  });

  test('Standard takes GraphQL where its rules are narrowed', { timeout: timeoutMs }, async () => {
    const query =
      'query Orders($first: Int!) {\n  orders(first: $first) {\n    edges { node { id total } }\n  }\n}';
    const mistaken = name === 'CRS 3.3.4' ? [932_100] : [932_235, 942_290];
    // The second is a message of graphql-ws, as the messages of a WebSocket are read.
    const send = (engine: PolicyEngine, text: string) =>
      [{ query: text }, { id: '1', type: 'subscribe', payload: { query: text } }].map((body) => {
        const call = { url: '/graphql', method: 'POST', headers: json };
        const { rules } = sendInProcess(engine, { ...call, body: JSON.stringify(body) });
        return rules.filter((rule) => !isSum(rule));
      });
    const standard = await templateEngine('Standard', folder);
    expect(send(standard, query)).toEqual([mistaken, mistaken]);
    standard.retire();
    const narrowed = await templateEngine('Standard', folder, (policy) => ({
      ...policy,
      crsCore: { ...policy.crsCore, narrowedRules: true },
    }));
    expect(send(narrowed, query)).toEqual([[], []]);
    const hostile = query.replace(' id ', ' id(a: "\';cat /etc/passwd") ');
    for (const rules of send(narrowed, hostile)) expect(rules).toContain(932_160);
    narrowed.retire();
  });

  test('Standard refuses texts by the rules of the table', { timeout: timeoutMs }, async () => {
    const engine = await templateEngine('Standard', folder);
    const differ = texts.flatMap(({ text, standard }) => {
      const wanted = (standard?.[name] ?? []).join(' ');
      return Object.entries(ways).flatMap(([way, place]) => {
        const { status, rules } = sendInProcess(engine, place(text));
        const found = status === 0 ? '' : rules.filter((rule) => !isSum(rule)).join(' ');
        return found === wanted ? [] : [`${way}: ${found}, not ${wanted}: ${text}`];
      });
    });
    expect(differ).toEqual([]);
    engine.retire();
  });
});
