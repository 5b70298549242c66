/** Rows on the limits of arguments, files and bodies: at a limit, past it, and by each action. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow } from './chain-row.ts';
import {
  formType,
  inspectedBy,
  jsonType,
  layerCall,
  policyCalls,
  policyChange,
  siteCall,
} from './chain-row.ts';

/** Arguments as a query, a form and JSON. */
const carriers: readonly (readonly [name: string, of: (args: Args) => ChainRequest])[] = [
  ['query', (args) => ({ path: `/?${encode(args)}` })],
  ['form', (args) => ({ method: 'POST', headers: formType, body: encode(args) })],
  [
    'JSON',
    (args) => ({
      ...{ method: 'POST', headers: jsonType },
      body: JSON.stringify(Object.fromEntries(args)),
    }),
  ],
];

type Args = readonly (readonly [name: string, value: string])[];
const encode = (args: Args): string => args.map(([name, value]) => `${name}=${value}`).join('&');
const x = (length: number): string => 'x'.repeat(length);
const many = (count: number): Args => Array.from({ length: count }, (_, at) => [`a${at}`, '1']);

/** Limit, its rule, arguments at it and past it. JSON names begin with `json.`. */
const limits: readonly (readonly [
  string,
  number,
  (prefix: number) => Args,
  (prefix: number) => Args,
])[] = [
  ['maxNumArgs 4', 920_380, () => many(4), () => many(5)],
  ['argNameLength 12', 920_360, (p) => [[x(12 - p), '1']], () => [[x(13), '1']]],
  ['argLength 20', 920_370, () => [['a', x(20)]], () => [['a', x(21)]]],
  [
    'totalArgLength 64',
    920_390,
    () => [
      ['a', x(12)],
      ['b', x(12)],
    ],
    () => [
      ['a', x(19)],
      ['b', x(19)],
      ['c', x(19)],
      ['d', x(19)],
    ],
  ],
];
const argLimits = { maxNumArgs: 4, argNameLength: 12, argLength: 20, totalArgLength: 64 };
const actions = ['BLOCK', 'OBSERVE', 'UNSPECIFIED'] as const;
type Action = (typeof actions)[number];
const key = (action: Action): string => action.toLowerCase();

const argumentRows = actions.flatMap((action) =>
  limits.flatMap(([limit, rule, at, past]) =>
    carriers.flatMap(([carrier, request]) => {
      const prefix = carrier === 'JSON' ? 5 : 0;
      const site = `args-${key(action)}`;
      const over: ChainExpected =
        action === 'OBSERVE' ? { status: 200, without: [rule] } : { status: 413, with: [rule] };
      return [
        {
          says: `ArgLimits ${action}: at ${limit}, ${carrier}`,
          site,
          request: request(at(prefix)),
          expected: { status: 200, without: [rule] },
        },
        {
          says: `ArgLimits ${action}: past ${limit}, ${carrier}`,
          site,
          request: request(past(prefix)),
          expected: over,
        },
      ] satisfies ChainRow[];
    }),
  ),
);

const part = (name: string, bytes: number): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.txt"\r\n` +
  `Content-Type: text/plain\r\n\r\n${x(bytes)}\r\n`;
const upload = (sizes: readonly number[], chunked = false): ChainRequest => ({
  method: 'POST',
  chunked,
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
  body: `${sizes.map((bytes, at) => part(`f${at}`, bytes)).join('')}--b--\r\n`,
});

/** Limits of files always reject, whatever the action and however the body is framed. */
const fileRows = actions.flatMap((action) =>
  [false, true].flatMap((chunked) =>
    (
      [
        ['a small file', [10], 0],
        ['files at combinedFileSizes', [400, 400], 0],
        ['files past combinedFileSizes', [410, 410], 199_105],
        ['a file at maxFileSize', [600], 0],
        ['a file past maxFileSize', [601], 199_104],
        ['a file far past both', [9_000], 199_104],
      ] as const
    ).map(([says, sizes, rule]): ChainRow => {
      const served: ChainExpected = { status: 200, without: [199_104, 199_105] };
      return {
        says: `ArgLimits ${action}: ${says}, ${chunked ? 'without a length' : 'with its length'}`,
        site: `args-${key(action)}`,
        request: upload(sizes, chunked),
        expected: rule === 0 ? served : { status: 413, with: [rule] },
      };
    }),
  ),
);

const form = (bytes: number, chunked = false): ChainRequest => ({
  ...{ method: 'POST', headers: formType, body: `a=${x(bytes - 2)}`, chunked },
});

/** The inspection budget of bodies. */
const bodyRows = actions.flatMap((action) =>
  [false, true].flatMap((chunked) =>
    (
      [
        ['within', 128, true],
        ['at', 256, true],
        ['a byte past', 257, false],
        ['far past', 3_000, false],
      ] as const
    ).map(([says, bytes, fits]): ChainRow => {
      const site = `body-${key(action)}`;
      const observed: ChainExpected = { status: 200, with: [199_400], fields: seen(bytes) };
      const refused: ChainExpected = {
        ...{ status: 413, outcome: 'refused', refusal: 'body_over_inspection_limit' },
      };
      const past = action === 'OBSERVE' ? observed : refused;
      const within: ChainExpected = { status: 200, without: [199_400], fields: seen(bytes) };
      const framed = chunked ? 'without a length' : 'with its length';
      return {
        says: `requestBodyLimit ${action}: ${says} the limit, ${framed}`,
        site,
        request: form(bytes, chunked),
        expected: fits ? within : past,
      };
    }),
  ),
);

function seen(bytes: number): Readonly<Record<string, string>> {
  return { 'x-bytes': String(bytes) };
}

const noLimitRows = [300, 70_000].map((bytes): ChainRow => ({
  says: `requestBodyLimitEnabled false: ${bytes} bytes`,
  site: 'body-free',
  request: form(bytes),
  expected: { status: 200, fields: seen(bytes) },
}));

/** Templates at their own limits. */
const templateRows: readonly ChainRow[] = (
  [
    ['light', 60_000, 200],
    ['light', 70_000, 200],
    ['standard', 60_000, 200],
    ['standard', 70_000, 413],
    ['strict', 70_000, 413],
  ] as const
).map(([template, bytes, status]) => {
  const refused: ChainExpected = {
    ...{ status, outcome: 'refused', refusal: 'body_over_inspection_limit' },
  };
  return {
    says: `Template ${template}: a body of ${bytes} bytes`,
    site: `tpl-${template}`,
    request: form(bytes),
    expected: status === 200 ? { status } : refused,
  };
});

const freeArguments = { argLength: 1_000_000, totalArgLength: 1_000_000 };

/** The group. */
export const limitGroup: ChainGroup = {
  setup: [
    ...actions.flatMap((action) => [
      ...policyCalls(
        `args-${key(action)}`,
        'standard',
        layerCall('ARG_LIMITS', {
          ...argLimits,
          maxFileSize: '600',
          combinedFileSizes: '800',
          argumentLimitAction: `ARGUMENT_LIMIT_ACTION_${action}`,
        }),
      ),
      siteCall(`args-${key(action)}`, inspectedBy(`args-${key(action)}`)),
      ...policyCalls(
        `body-${key(action)}`,
        'standard',
        layerCall('ARG_LIMITS', freeArguments),
        policyChange(
          {
            crsCore: {
              requestBodyLimit: '256',
              requestBodyLimitAction: `REQUEST_BODY_LIMIT_ACTION_${action}`,
            },
          },
          'crsCore.requestBodyLimit,crsCore.requestBodyLimitAction',
        ),
      ),
      siteCall(`body-${key(action)}`, inspectedBy(`body-${key(action)}`)),
    ]),
    ...policyCalls(
      'body-free',
      'standard',
      layerCall('ARG_LIMITS', freeArguments),
      policyChange(
        { crsCore: { requestBodyLimitEnabled: false } },
        'crsCore.requestBodyLimitEnabled',
      ),
    ),
    siteCall('body-free', inspectedBy('body-free')),
    ...['light', 'standard', 'strict'].flatMap((template) => [
      ...policyCalls(`tpl-${template}`, template, layerCall('ARG_LIMITS', freeArguments)),
      siteCall(`tpl-${template}`, inspectedBy(`tpl-${template}`)),
    ]),
  ],
  rows: [...argumentRows, ...fileRows, ...bodyRows, ...noLimitRows, ...templateRows],
};
