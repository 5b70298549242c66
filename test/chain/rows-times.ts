/** Rows on times by path: what an origin that does not answer, or a body that pauses, comes to. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow } from './chain-row.ts';
import { domain, firstHttp, inspectedBy, policyCalls, siteCall } from './chain-row.ts';

const policyOf = 'times';
const late = (refusal: string): ChainExpected => ({
  ...{ status: 504, outcome: 'origin_error', refusal },
  fields: { 'x-origin': null },
});

const rows: readonly (readonly [says: string, ChainRequest, ChainExpected])[] = [
  ['the origin answers too late', { path: '/silent' }, late('origin_first_byte_timeout')],
  [
    'a longer prefix leaves that time as it is',
    { path: '/silent/body' },
    late('origin_first_byte_timeout'),
  ],
  [
    'a longer prefix waits longer, and bounds the whole',
    { path: '/silent/whole' },
    late('total_timeout'),
  ],
  [
    'a body for such an origin',
    { ...post('/silent'), body: 'a=1' },
    late('origin_first_byte_timeout'),
  ],
  ['an origin in time', { path: '/' }, { status: 200, origin: 'a' }],
  [
    'an attack waits for nobody',
    { path: "/silent?id=1'%20OR%20'1'='1" },
    { status: 403, with: [942_100] },
  ],
];

function post(path: string): ChainRequest {
  return { method: 'POST', path, headers: { 'content-type': 'application/x-www-form-urlencoded' } };
}

const pausing: ChainRow = {
  says: 'Times by path: a body that stops coming',
  ...{ site: 'times', ways: firstHttp },
  request: {
    raw:
      `POST /silent/body HTTP/1.1\r\nHost: times.${domain}\r\nX-Request-Id: $id\r\n` +
      'User-Agent: chain\r\nAccept: */*\r\n' +
      'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\na=1',
  },
  expected: { status: 408, outcome: 'refused', refusal: 'body_timeout' },
};

/** The group. */
export const timeGroup: ChainGroup = {
  setup: [
    ...policyCalls(policyOf, 'standard'),
    siteCall('times', {
      ...inspectedBy(policyOf),
      delivery: {
        timeouts: [
          { pathPrefix: '/', originAnswerMs: 300 },
          { pathPrefix: '/silent/body', bodyPauseMs: 300 },
          { pathPrefix: '/silent/whole', originAnswerMs: 60_000, totalMs: 300 },
        ],
      },
    }),
  ],
  rows: [
    ...rows.map(([says, request, expected]): ChainRow => {
      return { says: `Times by path: ${says}`, site: 'times', request, expected };
    }),
    pausing,
  ],
};
