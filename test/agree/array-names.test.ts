/**
 * Proof that checks read names as the origin of a site does: each way of the setting with each
 * place and spelling, live and simulated.
 */

import { afterEach, expect, test } from 'vitest';
import type { ApiField, ApiMedia } from '../../engine/contract/api-checks.ts';
import { arrayNames, type ArrayNames } from '../../engine/contract/array-names.ts';
import { Closing } from '../../engine/front/fixtures/fixture.ts';
import { checksOf, operation, parameter, segmentsOf } from '../../engine/schema/fixture.ts';
import { live, simulated, type BothCase } from './both-ways.ts';

const closing = new Closing();
afterEach(() => closing.run());

const integer = { kind: 'scalar', types: ['integer'] } as const;
const integers = { kind: 'array', items: 'integer' } as const;
const strings = {
  kind: 'object',
  properties: { s: 'integer' },
  additional: 'string',
} as const;
const field = (change: Partial<ApiField>): ApiField => ({
  ...{ style: 'form', explode: true, allowReserved: false, shape: integer },
  ...{ contentTypes: [], repeats: false, file: false },
  ...change,
});
const fields = {
  id: field({}),
  ids: field({ shape: integers, repeats: true }),
  'more[]': field({ shape: integers, repeats: true }),
  f: field({ style: 'deepObject', shape: strings }),
};
const pointer = '/body';
const media: ApiMedia[] = [
  { range: 'application/x-www-form-urlencoded', kind: 'form', check: 3, fields, pointer },
  { range: 'multipart/form-data', kind: 'multipart', check: 3, fields, pointer },
];

/** What every value of the names above has to be. */
const small = `(v) => typeof v === 'number' && v < 10`;
const smalls = `(v) => Array.isArray(v) && v.every((one) => typeof one === 'number' && one < 10)`;
const object = `(v) => v !== null && v.s < 10 && Object.keys(v).length === 1`;
const form = `(v) => (v.id === undefined || (${small})(v.id)) &&
  [v.ids, v['more[]']].every((one) => one === undefined || (${smalls})(one)) &&
  (v.f === undefined || (${object})(v.f))`;

const operations = [
  operation('GET', '/q', {
    unknownQuery: 'violation',
    parameters: [
      parameter('query', 'id', { shape: integer, check: 0 }),
      parameter('query', 'ids', { shape: integers, check: 1 }),
      parameter('query', 'more[]', { shape: integers, check: 1 }),
      parameter('query', 'f', { style: 'deepObject', shape: strings, check: 2 }),
    ],
  }),
  operation('POST', '/b', { body: { required: true, media, pointer } }),
];
const api = checksOf(operations, [small, smalls, object, form].join(', '));

const ofCookies = checksOf(
  [
    operation('GET', '/c', {
      parameters: ['id', 'a_b'].map((name) =>
        parameter('cookie', name, { shape: integer, check: 0 }),
      ),
    }),
  ],
  small,
);

const upload = {
  ...{ minFiles: 1, maxFiles: 2, contentTypes: [], fields: ['photo', 'docs[]'] },
  ...{ fileBytes: 100, totalFileBytes: 100, bodyBytes: 4_000 },
};
const families = ['multipart'] as const;
const effective = { specRevision: 's', families, mismatch: 'block', upload } as const;
const control = { assetId: 'f', key: 'POST /f', method: 'POST', host: 'api.test', effective };
const ofFiles = checksOf([operation('POST', '/f', { mode: 'off' })], '', {
  bodyControls: {
    operations: [{ ...control, path: segmentsOf('/f') }],
    ...{ readings: [], policySha256: 'p' },
  },
});

type Place = 'query' | 'form' | 'multipart';
const places: readonly Place[] = ['query', 'form', 'multipart'];

/** A spelling, and the ways that take it; names that a form does not declare may stand in it. */
interface Row {
  readonly sent: string;
  readonly query: readonly ArrayNames[];
  readonly form: readonly ArrayNames[];
  /** Default as in a form. */
  readonly multipart?: readonly ArrayNames[];
}
const all = arrayNames;
const origins = ['php', 'qs'] as const;
const rows: readonly Row[] = [
  { sent: 'id=1', query: all, form: all },
  { sent: 'id=99', query: [], form: [] },
  { sent: 'id[]=1', query: [], form: ['none'] },
  { sent: 'id[]=99', query: [], form: ['none'] },
  { sent: 'id[x]=1', query: [], form: ['none'] },
  { sent: 'id=1&id[]=1', query: [], form: ['none'] },
  { sent: 'id[]x=99', query: [], form: ['none'] },
  { sent: '[id]=99', query: [], form: ['none', 'php'] },
  { sent: ' id=99', query: [], form: ['none', 'qs'] },
  { sent: 'ids=1&ids=2', query: all, form: all },
  { sent: 'ids[]=1&ids[]=2', query: origins, form: origins },
  { sent: 'ids[]=1&ids[]=99', query: [], form: [] },
  { sent: 'ids[]=99', query: [], form: ['none'] },
  { sent: 'ids[1]=2&ids[0]=1', query: origins, form: all },
  { sent: 'ids[0]=1&ids[0]=2', query: [], form: [] },
  { sent: 'ids[x]=1', query: [], form: ['none'] },
  { sent: 'ids=1&ids[]=2', query: ['qs'], form: ['none', 'qs'] },
  { sent: 'more[]=1&more[]=2', query: all, form: all },
  { sent: 'more=1&more=2', query: origins, form: origins },
  { sent: 'more=99', query: [], form: ['none'] },
  { sent: 'f[s]=1', query: all, form: all },
  { sent: 'f[s]=99', query: [], form: [], multipart: all },
  { sent: 'f[]=1', query: [], form: [], multipart: ['none'] },
  { sent: 'x[]=1&x[]=2', query: [], form: origins },
];

function wireOf(place: Place, sent: string): string {
  const pairs = sent.split('&').map((pair) => pair.split('=') as [string, string]);
  const escaped = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${value}`).join('&');
  const end = 'Host: api.test\r\nConnection: close\r\n';
  if (place === 'query') return `GET /q?${escaped} HTTP/1.1\r\n${end}\r\n`;
  const parts = pairs.map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const [type, body] =
    place === 'form'
      ? ['application/x-www-form-urlencoded', escaped]
      : ['multipart/form-data; boundary=b', `${parts.join('')}--b--\r\n`];
  const about = `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`;
  return `POST /b HTTP/1.1\r\n${end}${about}\r\n${body}`;
}

/** Express takes names of cookies as they are. */
const cookieRows: readonly (readonly [sent: string, taken: readonly ArrayNames[]])[] = [
  ['id=1', all],
  ['id=99', []],
  ['id=1; id[]=1', ['none', 'qs']],
  ['id[]=1', ['none', 'qs']],
  ['id[]=99', ['none', 'qs']],
  ['a_b=99', []],
  ['a.b=99', ['none', 'qs']],
  ['a b=99', ['none', 'qs']],
  ['a.b=1', all],
];

/** Names of the fields of files, with `&` between them. */
const fileRows: readonly (readonly [sent: string, taken: readonly ArrayNames[]])[] = [
  ['photo', all],
  ['photo&docs[]', all],
  ['photo[]', origins],
  ['photo[]&photo[]', origins],
  ['photo[0]&photo[1]', origins],
  ['photo[x]', []],
  ['photo&photo[x]', []],
  ['docs', origins],
  ['docs[0]', origins],
  ['docs[5]', []],
  ['other', []],
  ['photo&other[]', []],
];

function fileWire(sent: string): string {
  const parts = sent.split('&').map((name) => {
    const disposition = `Content-Disposition: form-data; name="${name}"; filename="f"`;
    return `--b\r\n${disposition}\r\n\r\nx\r\n`;
  });
  const body = `${parts.join('')}--b--\r\n`;
  const about = `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}`;
  return `POST /f HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n${about}\r\n\r\n${body}`;
}

/** Where a request is not answered as its row has it. */
async function wrongOnes(
  checks: NonNullable<BothCase['api']>,
  sent: string,
  wire: string,
  taken: readonly ArrayNames[],
): Promise<string[]> {
  const wrong: string[] = [];
  for (const by of arrayNames) {
    const one: BothCase = { api: checks, arrayNames: by, wire };
    const status = taken.includes(by) ? 0 : 403;
    const { seen } = await live(closing, one);
    const other = simulated(one).seen;
    if (seen.status !== status || other.status !== status) {
      wrong.push(`${sent} ${by}: ${seen.status} and ${other.status}, not ${status}`);
    }
  }
  await closing.run();
  return wrong;
}

test('names of cookies are read as the setting says', async () => {
  const end = 'Host: api.test\r\nConnection: close\r\n\r\n';
  const wrong: string[] = [];
  for (const [sent, taken] of cookieRows) {
    const wire = `GET /c HTTP/1.1\r\nCookie: ${sent}\r\n${end}`;
    wrong.push(...(await wrongOnes(ofCookies, sent, wire, taken)));
  }
  expect(wrong).toEqual([]);
});

test('fields of files that a body control names are read as the setting says', async () => {
  const wrong: string[] = [];
  for (const [sent, taken] of fileRows) {
    wrong.push(...(await wrongOnes(ofFiles, sent, fileWire(sent), taken)));
  }
  expect(wrong).toEqual([]);
});

for (const place of places) {
  test(`names in a ${place} are read as the setting says`, async () => {
    const wrong: string[] = [];
    for (const { sent, ...taken } of rows) {
      const expected = taken[place] ?? taken.form;
      wrong.push(...(await wrongOnes(api, sent, wireOf(place, sent), expected)));
    }
    expect(wrong).toEqual([]);
  });
}
