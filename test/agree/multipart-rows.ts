/** Which multipart bodies are refused and observed, as rows of the table of what settings do. */

import type { EffectRow, RowRequest } from './effect-row.ts';

const observed = {
  rpc: 'PolicyService/UpdatePolicyLayer',
  body: {
    policyId: '$policy',
    revision: '$revision',
    layer: 'POLICY_LAYER_KIND_HTTP_POLICY',
    config: { requestBodyParseFailureAction: 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE' },
  },
};

const multipart = (body: string): RowRequest => ({
  url: '/',
  method: 'POST',
  headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
  body: body.replaceAll('\n', '\r\n'),
});

/** PHP, multer, Flask and Django differ on what filename* makes of a part. */
const eitherPart = (content: string): RowRequest =>
  multipart(
    `--x\nContent-Disposition: form-data; name="a"; filename*=utf-8''f\n\n${content}\n--x--\n`,
  );

/** Rows that hold under every ruleset. */
export const multipartRows: readonly EffectRow[] = [
  {
    name: 'multipart stays strict while parse failures are observed',
    changes: [observed],
    request: {
      url: '/',
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"a":',
    },
    before: { status: 400 },
    after: { status: 200 },
    other: {
      ...multipart('--x\nContent-Disposition: form-data; name="a"\n\nb'),
      expected: { status: 400 },
    },
  },
  {
    name: 'a part that is a field to some and a file to others',
    changes: [observed],
    request: eitherPart('b'),
    before: { status: 400, with: [199_402] },
    after: { status: 200, with: [199_402] },
    other: { ...eitherPart("1' OR '1'='1"), expected: { status: 403, with: [942_100] } },
  },
];
