/**
 * The rows on limits of arguments, uploads, media types and fields, as the tables of ArgLimits and
 * HttpPolicy say: each blocks, and only records where it is to be observed.
 */

import type { EffectRow, RowCall, RowRequest } from './effect-row.ts';

function layer(kind: string, config: object): RowCall {
  const body = { policyId: '$policy', revision: '$revision', layer: kind, config };
  return { rpc: 'PolicyService/UpdatePolicyLayer', body };
}

const http = (config: object): RowCall => layer('POLICY_LAYER_KIND_HTTP_POLICY', config);
const limits = (config: object): RowCall => layer('POLICY_LAYER_KIND_ARG_LIMITS', config);
const observe = { argumentLimitAction: 'ARGUMENT_LIMIT_ACTION_OBSERVE' };
const passes = { status: 200 };

const typed = (type: string, body: string): RowRequest => ({
  url: '/',
  method: 'POST',
  headers: { 'Content-Type': type },
  body,
});

const file = (name: string, bytes: number): string =>
  `--x\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.txt"\r\n` +
  `Content-Type: text/plain\r\n\r\n${'b'.repeat(bytes)}\r\n`;
const upload = (...sizes: number[]): RowRequest =>
  typed(
    'multipart/form-data; boundary=x',
    `${sizes.map((bytes, at) => file(`f${at}`, bytes)).join('')}--x--\r\n`,
  );

/** A limit: blocks with 413 by a rule, and with the action OBSERVE passes without a score. */
function limitRows(name: string, config: object, rule: number, request: RowRequest): EffectRow[] {
  const row = (suffix: string, change: object, after: EffectRow['after']): EffectRow => ({
    name: `${name} ${suffix}`,
    changes: [limits({ ...config, ...change })],
    request,
    before: passes,
    after,
  });
  return [
    row('blocks', {}, { status: 413, with: [rule] }),
    row('observes', observe, { status: 200, without: [rule], score: 0 }),
  ];
}

/** Rows that hold under every ruleset. */
export const resourceRows: readonly EffectRow[] = [
  ...limitRows('the length of an argument', { argLength: 8 }, 920_370, { url: '/?a=123456789' }),
  ...limitRows('the length of a name', { argNameLength: 4 }, 920_360, { url: '/?abcdef=1' }),
  ...limitRows('the length of all arguments', { totalArgLength: 8 }, 920_390, {
    url: '/?a=12345&b=67890',
  }),
  {
    name: 'the size of a file blocks',
    // Each file counts alone, without its framing.
    changes: [limits({ maxFileSize: '512' })],
    request: upload(513),
    before: passes,
    after: { status: 413 },
    other: { ...upload(512, 512), expected: passes },
  },
  {
    name: 'the size of a file blocks whatever the action',
    changes: [limits({ maxFileSize: '512', ...observe })],
    request: upload(600),
    before: passes,
    after: { status: 413 },
  },
  {
    name: 'the size of all files blocks',
    changes: [limits({ combinedFileSizes: '128' })],
    request: upload(100, 100),
    before: passes,
    after: { status: 413 },
    other: { ...upload(50, 50), expected: passes },
  },
  {
    name: 'the size of all files blocks whatever the action',
    changes: [limits({ combinedFileSizes: '128', ...observe })],
    request: upload(100, 100),
    before: passes,
    after: { status: 413 },
  },
  {
    name: 'a charset outside the list',
    changes: [http({ allowedRequestContentCharsets: ['utf-8'] })],
    request: typed('application/x-www-form-urlencoded; charset=iso-8859-1', 'a=b'),
    before: passes,
    after: { status: 403, with: [920_480] },
    other: {
      ...typed('application/x-www-form-urlencoded; charset=utf-8', 'a=b'),
      expected: passes,
    },
  },
  {
    name: 'a field that is restricted',
    changes: [http({ restrictedHeadersBasic: ['x-own'] })],
    request: { url: '/', headers: { 'X-Own': '1' } },
    before: passes,
    after: { status: 403, with: [920_450] },
  },
  {
    name: 'a media type that is read as a form',
    changes: [
      http({
        allowedRequestContentTypes: ['text/own'],
        bodyProcessorOverrides: [
          { contentTypePrefix: 'text/own', processor: 'BODY_PROCESSOR_URLENCODED' },
        ],
      }),
    ],
    request: typed('text/own', 'id=1%27%20OR%20%271%27=%271'),
    before: { status: 403, with: [920_420] },
    after: { status: 403, with: [942_100], without: [920_420] },
  },
  {
    name: 'a media type that is read as XML',
    changes: [
      http({
        allowedRequestContentTypes: ['text/own'],
        bodyProcessorOverrides: [
          { contentTypePrefix: 'text/own', processor: 'BODY_PROCESSOR_XML' },
        ],
      }),
    ],
    request: typed('text/own', '<a><b></a>'),
    before: { status: 403, with: [920_420] },
    after: { status: 400, with: [200_002] },
    other: {
      ...typed('text/own', "<a>1' OR '1'='1</a>"),
      expected: { status: 403, with: [942_100] },
    },
  },
];
