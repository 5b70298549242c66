/**
 * Proof that a body which the rules of a policy read in a way of their own is not checked in
 * another way: checks of documents and body controls take the reading that was inspected. Runs
 * real rules and the real order of the phases.
 */

import { afterAll, expect, test } from 'vitest';
import { createLogger } from '../../base/log.ts';
import type { BodyFamily } from '../../base/body-family.ts';
import type { ApiBodyControl } from '../../engine/contract/body-control.ts';
import { linearPattern } from '../../engine/match/linear-pattern.ts';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import { loadText } from '../../engine/rules/language/include.ts';
import { buildPlan } from '../../engine/rules/plan/build-plan.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';
import { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { CheckCounts } from '../../engine/schema/check-counts.ts';
import { checksOf, operation, segmentsOf } from '../../engine/schema/fixture.ts';
import { SiteChecks } from '../../engine/schema/site-checks.ts';
import { simulateRequest } from '../../engine/simulate/simulated-request.ts';
import { rulePorts } from '../support/rule-ports.ts';
import { simulatedHead } from '../support/simulated-head.ts';

/** A rule of an operator reads what carries the header X-Read in the way that it names. */
const rules = [
  'SecRuleEngine On',
  'SecRequestBodyAccess On',
  `SecRule REQUEST_HEADERS:Content-Type "json" ` +
    `"id:1,phase:1,pass,nolog,ctl:requestBodyProcessor=JSON"`,
  ...['JSON', 'XML', 'URLENCODED', 'MULTIPART'].map(
    (name, at) =>
      `SecRule REQUEST_HEADERS:X-Read "@streq ${name}" ` +
      `"id:${at + 2},phase:1,pass,nolog,ctl:requestBodyProcessor=${name}"`,
  ),
].join('\n');

const { program } = buildProgram(loadText(rules, 'test.conf'), fullCatalog, () => null);
const cache = { get: () => null, put: () => undefined };
const log = createLogger('test', 'error');
const inspector = new PolicyEngine(
  buildPlan(program!, { cache, log, ports: rulePorts }),
  rulePorts,
);
afterAll(() => inspector.retire());

const control = (
  path: string,
  families: readonly BodyFamily[],
  mismatch: 'block' | 'observe' = 'block',
): ApiBodyControl => ({
  ...{ assetId: path, key: `POST ${path}`, method: 'POST', host: 'api.test' },
  path: segmentsOf(path),
  effective: { specRevision: 'spec-1', families, mismatch },
});
const media = { range: 'application/json', kind: 'json', check: 0, pointer: '/json' } as const;
const body = { required: true, media: [media], pointer: '/body' };
const bodyControls = {
  operations: [
    control('/json', ['json']),
    control('/text', ['text', 'binary']),
    control('/seen', ['json'], 'observe'),
  ],
  readings: [],
  policySha256: 'p',
};
const operations = [
  operation('POST', '/checked', { body }),
  operation('POST', '/observed', { body, mode: 'observe' }),
];
const checks = checksOf(operations, '() => true', { bodyControls });
const schema = new SiteChecks(checks, linearPattern, new CheckCounts());

type Row = readonly [path: string, type: string, read: string, status: number];
const rows: readonly Row[] = [
  ['/json', 'application/json', '', 0],
  ['/json', 'application/json', 'JSON', 0],
  ['/json', 'application/json', 'XML', 403],
  ['/json', 'application/json', 'URLENCODED', 403],
  ['/json', 'application/json', 'MULTIPART', 403],
  ['/text', 'text/csv', '', 0],
  ['/text', 'text/csv', 'JSON', 403],
  ['/text', 'application/x-unknown', 'URLENCODED', 403],
  ['/seen', 'application/json', 'XML', 0],
  ['/checked', 'application/json', '', 0],
  ['/checked', 'application/json', 'JSON', 0],
  ['/checked', 'application/json', 'URLENCODED', 403],
  ['/observed', 'application/json', 'URLENCODED', 0],
  ['/free', 'application/json', 'URLENCODED', 0],
];

test.each(rows)('%s sent as %s, read as %s', (path, type, read, status) => {
  const own = read === '' ? '' : `X-Read: ${read}\r\n`;
  const text =
    `POST ${path} HTTP/1.1\r\nHost: api.test\r\nContent-Type: ${type}\r\n${own}` +
    'Content-Length: 2\r\n\r\n';
  const { head, snapshot } = simulatedHead(Buffer.from(text, 'latin1'), 'site-1');
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
  const answer = simulateRequest(
    { site: { id: 'site-1', waf }, inspector, guards: null, schema },
    { snapshot, head, host: 'api.test', body: Buffer.from('{}') },
  );
  expect(answer.status).toBe(status);
});
