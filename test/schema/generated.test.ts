/**
 * Proof on generated requests: of every operation of many documents no valid request is refused,
 * and none that breaks one thing passes. The generator reads the documents alone. What a document
 * says that is not checked is listed here, and has to be what the report says.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  compileDocument,
  type CompiledDocument,
} from '../../control/documents/compile-document.ts';
import { readModel, versionOf } from '../../control/documents/document-model.ts';
import { readYamlObject } from '../../control/documents/yaml-text.ts';
import { linearPattern } from '../../engine/match/linear-pattern.ts';
import { CheckCounts } from '../../engine/schema/check-counts.ts';
import { checksOf } from '../../engine/schema/fixture.ts';
import { SiteChecks } from '../../engine/schema/site-checks.ts';
import { simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { simulatedHead } from '../support/simulated-head.ts';
import { documents } from './documents.ts';
import { largeDocument } from './large-document.ts';
import type { Part } from './made-values.ts';
import { requestsOf, type MadeRequest } from './request-generator.ts';

const folder = new URL('documents/', import.meta.url);

/** A document, which parts are not checked, and how many requests are made of it at least. */
interface Row {
  readonly document: Part;
  readonly unchecked: readonly string[];
  readonly valid: number;
  readonly broken: number;
}

/** Documents of the folder with how many requests are made of each at least. */
const floors: readonly (readonly [name: string, valid: number, broken: number])[] = [
  ['pet-store-swagger', 35, 300],
  ['pet-store', 20, 130],
  ['styles', 10, 300],
  ['payments', 15, 150],
  ['uploads', 10, 90],
  ['events', 15, 300],
  ['repositories', 20, 180],
  ['devices', 12, 180],
  ['calendar', 10, 500],
  ['cluster', 15, 250],
  ['messages', 12, 70],
  ['invoices', 10, 150],
];

/** The content of XML is not checked. */
const xml: Readonly<Record<string, string>> = {
  'pet-store-swagger': '/paths/~1pet/post/parameters/0/schema',
  messages: '/paths/~1reminders/post/parameters/0/schema',
  invoices: '/paths/~1invoices/post/requestBody/content/application~1xml/schema',
};

const small = { unchecked: [], valid: 20, broken: 400 };
const rows: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(
    Object.entries(documents).map(([name, document]) => [name, { document, ...small }]),
  ),
  ...Object.fromEntries(floors.map(([name, valid, broken]) => [name, rowOf(name, valid, broken)])),
  '1,000 operations': { document: largeDocument(), unchecked: [], valid: 3000, broken: 35_000 },
};

function rowOf(name: string, valid: number, broken: number): Row {
  const text = readFileSync(new URL(`${name}.yaml`, folder), 'utf8');
  const unchecked = name in xml ? [xml[name]!] : [];
  return { document: readYamlObject(text, name), unchecked, valid, broken };
}

function compiledOf(document: Part): CompiledDocument {
  return compileDocument(readModel(document, versionOf(document)!));
}

function checksFor(compiled: CompiledDocument): SiteChecks {
  const operations = compiled.operations.map((one) => ({
    ...one,
    key: `${one.method} ${one.template}`,
    assetId: 'asset',
    host: 'api.test',
    mode: 'enforce' as const,
  }));
  const checks = { ...checksOf(operations), code: compiled.code };
  return new SiteChecks(checks, linearPattern, new CheckCounts());
}

function statusOf(schema: SiteChecks, { method, target, headers, body }: MadeRequest): number {
  const sent = Object.entries({ Host: 'api.test', ...headers });
  const lines = sent.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = body === null ? '' : `Content-Length: ${body.length}\r\n`;
  const text = `${method} ${target} HTTP/1.1\r\n${lines}${length}\r\n`;
  const { head, snapshot } = simulatedHead(Buffer.from(text, 'latin1'), 'site-1');
  expect(head.refusal, target).toBeNull();
  const waf = { enabled: false, mode: 'blocking', failPolicy: 'closed' } as const;
  return simulateRequest(
    { site: { id: 'site-1', waf }, inspector: null, guards: null, schema },
    { snapshot, head, host: 'api.test', body },
  ).status;
}

/** Few of many, as people read them. */
function shown(requests: readonly MadeRequest[]): unknown[] {
  return requests
    .slice(0, 40)
    .map(({ fault, method, target, headers, body }) =>
      [fault, method, target, JSON.stringify(headers), String(body)].join(' '),
    );
}

for (const [name, row] of Object.entries(rows)) {
  const compiled = compiledOf(row.document);
  const schema = checksFor(compiled);
  const requests = requestsOf(row.document);

  test(`${name}: the checks can be used, and the report says what is not checked`, () => {
    expect(schema.fault).toBe('');
    const unchecked = compiled.diagnostics.filter(({ code }) => code !== 'note');
    expect(unchecked.map(({ pointer }) => pointer)).toEqual(row.unchecked);
  });

  test(`${name}: valid requests pass`, () => {
    const valid = requests.filter(({ fault }) => fault === '');
    expect(shown(valid.filter((request) => statusOf(schema, request) !== 0))).toEqual([]);
    expect(valid.length).toBeGreaterThanOrEqual(row.valid);
  });

  test(`${name}: requests that break one thing are refused`, () => {
    const broken = requests.filter(({ fault }) => fault !== '');
    expect(shown(broken.filter((request) => statusOf(schema, request) !== 403))).toEqual([]);
    expect(broken.length).toBeGreaterThanOrEqual(row.broken);
  });
}

test('every document of the folder is read', () => {
  const names = readdirSync(folder).map((file) => file.replace(/\.yaml$/, ''));
  expect(names.filter((name) => !(name in rows))).toEqual([]);
  expect(Object.keys(rows).length).toBeGreaterThanOrEqual(16);
});
