/**
 * Proof that a live front keeps requests to the body controls of their operations: one reading of
 * the media type, files as they are asked for, and a candidate that never blocks.
 */

import { afterEach, expect, test } from 'vitest';
import type { PolicyReading } from '../../../base/body-family.ts';
import type { ApiBodyControl, ApiBodyRule, ApiUpload } from '../../contract/body-control.ts';
import { linearPattern } from '../../match/linear-pattern.ts';
import { checksOf, operation, segmentsOf } from '../../schema/fixture.ts';
import {
  Closing,
  httpOrigin,
  RawClient,
  siteFor,
  startFront,
  type Running,
} from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const rule = (change: Partial<ApiBodyRule> = {}): ApiBodyRule => ({
  specRevision: 'spec-1',
  families: ['json'],
  mismatch: 'block',
  ...change,
});
const upload = (change: Partial<ApiUpload> = {}): ApiUpload => ({
  minFiles: 1,
  maxFiles: 2,
  contentTypes: ['image/*'],
  fields: ['photo'],
  fileBytes: 100,
  totalFileBytes: 150,
  bodyBytes: 4_000,
  ...change,
});
const control = (path: string, slots: Partial<ApiBodyControl>): ApiBodyControl => ({
  ...{ assetId: path, key: `POST ${path}`, method: 'POST', host: 'api.test' },
  path: segmentsOf(path),
  ...slots,
});

const controls = [
  control('/json', { effective: rule() }),
  control('/seen', { effective: rule({ mismatch: 'observe' }) }),
  control('/next', { effective: rule({ families: ['form'] }), candidate: rule() }),
  control('/any', { effective: rule({ families: ['text', 'binary', 'xml', 'json'] }) }),
  control('/files', { effective: rule({ families: ['multipart'], upload: upload() }) }),
  control('/items/{id}', { effective: rule() }),
  control('/both', { effective: rule() }),
];
const operations = [
  operation('POST', '/items/new', { mode: 'off' }),
  operation('POST', '/both', {
    mode: 'enforce',
    body: {
      required: true,
      media: [{ range: 'application/json', kind: 'json', check: 0, pointer: '/json' }],
      pointer: '/body',
    },
  }),
];

interface Row {
  readonly says: string;
  readonly path: string;
  readonly type?: string;
  readonly headers?: string;
  readonly body?: string;
  readonly chunked?: boolean;
  readonly status: number;
  /** Reasons in the event, in order. */
  readonly notes?: readonly string[];
  readonly failPolicy?: 'open' | 'closed';
}

const broken = 'body_control_violation';
const unknown = 'body_control_not_evaluated';
const part = (name: string, file: string | null, type: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"` +
  `${file === null ? '' : `; filename="${file}"`}\r\n` +
  `${type === '' ? '' : `Content-Type: ${type}\r\n`}\r\n${content}\r\n`;
const form = (...parts: readonly string[]): string => `${parts.join('')}--b--\r\n`;
const photo = part('photo', 'a.png', 'image/png', 'bytes');
const multipart = 'multipart/form-data; boundary=b';
const files = { path: '/files', type: multipart };

const rows: readonly Row[] = [
  { says: 'the family that is allowed', path: '/json', type: 'application/json', status: 200 },
  { says: 'a structured suffix', path: '/json', type: 'application/hal+json', status: 200 },
  { says: 'case and parameters', path: '/json', type: 'Application/JSON; a=b', status: 200 },
  { says: 'another family', path: '/json', type: 'text/plain', status: 403, notes: [broken] },
  { says: 'a form', path: '/json', type: 'application/x-www-form-urlencoded', status: 403 },
  { says: 'no type', path: '/json', status: 403, notes: [broken] },
  { says: 'no type where all is allowed', path: '/any', status: 403, notes: [broken] },
  {
    says: 'a type twice',
    path: '/json',
    headers: 'Content-Type: application/json\r\nContent-Type: application/json\r\n',
    status: 403,
    notes: [broken],
  },
  { says: 'types in a list', path: '/json', type: 'application/json, text/plain', status: 403 },
  { says: 'a broken type', path: '/any', type: 'application/json;', status: 403 },
  // The rules read these by their prefix; the checks do not.
  { says: 'a longer name', path: '/any', type: 'application/jsonx', status: 403, notes: [broken] },
  { says: 'a longer form', path: '/any', type: 'multipart/form-datax', status: 403 },
  { says: 'JSON that the rules do not read', path: '/any', type: 'text/json', status: 403 },
  { says: 'XML that the rules do not read', path: '/any', type: 'image/svg+xml', status: 403 },
  { says: 'XML', path: '/any', type: 'text/xml', status: 200 },
  { says: 'a type that the policy reads as XML', path: '/any', type: 'a/atom+xml', status: 200 },
  { says: 'a type that the policy reads otherwise', path: '/any', type: 'text/csv', status: 403 },
  { says: 'chunks', path: '/json', type: 'text/plain', chunked: true, status: 403 },
  { says: 'valid chunks', path: '/json', type: 'application/json', chunked: true, status: 200 },
  { says: 'no body', path: '/json', body: '', status: 200, notes: [] },
  { says: 'no body, a type', path: '/json', type: 'text/plain', body: '', status: 200 },
  {
    says: 'a compressed body, closed',
    path: '/json',
    type: 'application/json',
    headers: 'Content-Encoding: gzip\r\n',
    status: 403,
    notes: [unknown],
  },
  {
    says: 'a compressed body, open',
    path: '/json',
    type: 'application/json',
    headers: 'Content-Encoding: gzip\r\n',
    status: 200,
    notes: [unknown],
    failPolicy: 'open',
  },
  {
    says: 'a mismatch never depends on the fail policy',
    path: '/json',
    type: 'text/plain',
    status: 403,
    failPolicy: 'open',
  },
  { says: 'observed', path: '/seen', type: 'text/plain', status: 200, notes: [broken] },
  {
    says: 'a candidate records only',
    path: '/next',
    type: 'application/x-www-form-urlencoded',
    status: 200,
    notes: ['body_candidate_violation'],
  },
  {
    says: 'what is in effect blocks, the candidate is content',
    path: '/next',
    type: 'application/json',
    status: 403,
    notes: [broken],
  },
  { says: 'a template', path: '/items/7', type: 'text/plain', status: 403 },
  { says: 'another reading of a path', path: '/x/../items/7', type: 'text/plain', status: 403 },
  { says: 'a literal of a document', path: '/items/new', type: 'text/plain', status: 200 },
  { says: 'another path', path: '/other', type: 'text/plain', status: 200, notes: [] },
  { says: 'a document as well', path: '/both', type: 'application/json', body: '{}', status: 200 },
  {
    says: 'a document and a control at once',
    path: '/both',
    type: 'text/plain',
    status: 403,
    notes: ['schema_violation', broken],
  },
  { ...files, says: 'a file as it is asked for', body: form(photo), status: 200, notes: [] },
  { ...files, says: 'two files', body: form(photo, photo), status: 200 },
  { ...files, says: 'chunked files', body: form(photo), chunked: true, status: 200 },
  { ...files, says: 'no file', body: form(part('a', null, '', 'x')), status: 403 },
  {
    ...files,
    says: 'a file that nobody chose',
    body: form(part('photo', '', '', '')),
    status: 403,
  },
  { ...files, says: 'three files', body: form(photo, photo, photo), status: 403 },
  {
    ...files,
    says: 'a file of another type',
    body: form(part('photo', 'a.exe', 'application/x-dosexec', 'x')),
    status: 403,
    notes: [broken],
  },
  { ...files, says: 'a file without a type', body: form(part('photo', 'a', '', 'x')), status: 403 },
  {
    ...files,
    says: 'a file in another field',
    body: form(part('other', 'a.png', 'image/png', 'x')),
    status: 403,
  },
  {
    ...files,
    says: 'a file that is too large',
    body: form(part('photo', 'a.png', 'image/png', 'x'.repeat(101))),
    status: 403,
  },
  {
    ...files,
    says: 'files that are too large together',
    body: form(...[0, 1].map(() => part('photo', 'a.png', 'image/png', 'x'.repeat(80)))),
    status: 403,
  },
  {
    ...files,
    says: 'a body over the capacity',
    body: form(photo, part('a', null, '', 'x'.repeat(4_000))),
    status: 403,
    notes: [broken],
  },
  {
    ...files,
    says: 'a body over the capacity, in chunks',
    body: form(photo, part('a', null, '', 'x'.repeat(4_000))),
    chunked: true,
    status: 403,
  },
  { ...files, says: 'what is no form', body: 'nothing', status: 403 },
  { ...files, says: 'no body at all', body: '', status: 403 },
  { ...files, says: 'another boundary', type: `${multipart}c`, body: form(photo), status: 403 },
];

const readings: readonly PolicyReading[] = [
  { type: 'a/atom+xml', reads: 'xml' },
  { type: 'text/csv', reads: 'json' },
];

async function start(failPolicy: 'open' | 'closed' = 'closed'): Promise<Running> {
  const port = await httpOrigin(closing, (request, response) => {
    request.resume().on('end', () => response.end('ok'));
  });
  const bodyControls = { operations: controls, readings, policySha256: 'p' };
  const api = checksOf(operations, '() => true', { bodyControls });
  const waf = { enabled: false, mode: 'blocking', failPolicy } as const;
  const services = { schemaServices: { pattern: linearPattern, onFault: () => undefined } };
  return startFront(closing, [siteFor(port, { api, waf })], null, {}, 'strict', services);
}

function wireOf({ path, type, headers = '', body = 'x', chunked = false }: Row): string {
  const framing = chunked
    ? 'Transfer-Encoding: chunked\r\n'
    : body === ''
      ? ''
      : `Content-Length: ${body.length}\r\n`;
  const content = chunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`;
  const head = `POST ${path} HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n`;
  return `${head}${typed}${headers}${framing}\r\n${content}`;
}

test.each(rows)('$says', async (row) => {
  const running = await start(row.failPolicy);
  const text = await new RawClient(running.port).send(wireOf(row)).all();
  expect(text.slice(0, 12)).toBe(`HTTP/1.1 ${row.status}`);
  const [event] = await running.eventsReach(1);
  expect(event!.outcome).toBe(row.status === 403 ? 'blocked' : 'served');
  // An answer names no detail.
  expect(text).not.toContain('spec-1');
  if (row.notes === undefined) return;
  expect((event!.guards ?? []).map(({ reason }) => reason)).toEqual(row.notes);
});

test('what controls find is counted by operation and slot, without a value', async () => {
  const running = await start();
  const sent: readonly (readonly [path: string, type: string])[] = [
    ['/json', 'application/json'],
    ['/json', 'text/canary'],
    ['/next', 'application/x-www-form-urlencoded'],
    ['/both', 'text/canary'],
  ];
  for (const [path, type] of sent) {
    const row = { says: '', path, type, status: 0 };
    await new RawClient(running.port).send(wireOf(row)).all();
  }
  await running.eventsReach(sent.length);
  const deltas = running.front.drainApiCounts();
  const sums = new Map<string, number>();
  for (const { entries } of deltas) {
    for (const [key, count] of entries) sums.set(key, (sums.get(key) ?? 0) + count);
  }
  expect(Object.fromEntries(sums)).toEqual({
    'operation undeclared ': 3,
    'operation requests POST /json': 2,
    'body_control valid POST /json': 1,
    'body_control violation POST /json': 1,
    'operation requests POST /next': 1,
    'body_control valid POST /next': 1,
    'body_candidate violation POST /next': 1,
    'operation requests POST /both': 1,
    'body violation POST /both': 1,
    'body_control violation POST /both': 1,
  });
  const violations = deltas.flatMap((delta) => delta.violations);
  expect(violations.reduce((sum, { count }) => sum + count, 0)).toBe(4);
  expect(JSON.stringify(violations)).not.toContain('canary');
});
