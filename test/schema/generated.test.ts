/**
 * Proof on generated requests: of every operation of several documents no valid request is refused,
 * and none that breaks one thing passes. The generator reads the documents alone.
 */

import { expect, test } from 'vitest';
import { compileDocument } from '../../control/documents/compile-document.ts';
import { readModel, versionOf } from '../../control/documents/document-model.ts';
import { linearPattern } from '../../engine/match/linear-pattern.ts';
import { CheckCounts } from '../../engine/schema/check-counts.ts';
import { checksOf } from '../../engine/schema/fixture.ts';
import { SiteChecks } from '../../engine/schema/site-checks.ts';
import { simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { simulatedHead } from '../support/simulated-head.ts';
import { documents } from './documents.ts';
import { requestsOf, type MadeRequest, type Part } from './request-generator.ts';

function checksFor(document: Part): SiteChecks {
  const model = readModel(document, versionOf(document)!);
  const compiled = compileDocument(model);
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
  const bytes = body === null ? null : Buffer.from(body, 'utf8');
  const fields = Object.entries({ Host: 'api.test', ...headers });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = bytes === null ? '' : `Content-Length: ${bytes.length}\r\n`;
  const text = `${method} ${target} HTTP/1.1\r\n${lines}${length}\r\n`;
  const { head, snapshot } = simulatedHead(Buffer.from(text, 'latin1'), 'site-1');
  expect(head.refusal, target).toBeNull();
  const waf = { enabled: false, mode: 'blocking', failPolicy: 'closed' } as const;
  return simulateRequest(
    { site: { id: 'site-1', waf }, inspector: null, guards: null, schema },
    { snapshot, head, host: 'api.test', body: bytes },
  ).status;
}

/** Requests that are made of each document at least: a generator that makes none proves nothing. */
const leastValid = 16;
const leastBroken = 150;

for (const [name, document] of Object.entries(documents)) {
  const schema = checksFor(document);
  const requests = requestsOf(document);

  test(`${name}: the checks can be used`, () => {
    expect(schema.fault).toBe('');
  });

  test(`${name}: valid requests pass`, () => {
    const valid = requests.filter(({ fault }) => fault === '');
    const refused = valid.filter((request) => statusOf(schema, request) !== 0);
    expect(refused).toEqual([]);
    expect(valid.length).toBeGreaterThanOrEqual(leastValid);
  });

  test(`${name}: requests that break one thing are refused`, () => {
    const broken = requests.filter(({ fault }) => fault !== '');
    const passed = broken.filter((request) => statusOf(schema, request) !== 403);
    expect(passed.map(({ fault, method, target, body }) => [fault, method, target, body])).toEqual(
      [],
    );
    expect(broken.length).toBeGreaterThanOrEqual(leastBroken);
  });
}
