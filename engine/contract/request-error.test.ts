/** Which requests are errors, and what is said of them. */

import { expect, test } from 'vitest';
import type { RequestEvent } from './events.ts';
import { errorOf } from './request-error.ts';
import { passVerdict, type TransactionRecord } from './verdict.ts';

const record: TransactionRecord = {
  verdict: passVerdict,
  matchedRules: [],
  inboundScore: 0,
  outboundScore: 0,
  detectionOnly: false,
  inspectionUs: 0,
};
const served = { outcome: 'served', refusal: null, transaction: record } as RequestEvent;

test.each<[Partial<RequestEvent>, object | null]>([
  [{}, null],
  [{ outcome: 'blocked' }, null],
  [{ outcome: 'client_abort' }, null],
  [{ outcome: 'unrouted' }, null],
  [
    { outcome: 'origin_error', refusal: 'origin_tls' },
    { level: 'error', logger: 'upstream', reason: 'origin_tls' },
  ],
  [
    { outcome: 'refused', refusal: 'bare_lf' },
    { level: 'warn', logger: 'http', reason: 'bare_lf' },
  ],
  [
    { outcome: 'inspection_failed', transaction: { ...record, failure: 'deadline' } },
    { level: 'error', logger: 'inspection', reason: 'deadline' },
  ],
  [
    { transaction: { ...record, failure: 'queue' } },
    {
      level: 'error',
      logger: 'inspection',
      reason: 'queue',
      message: 'Inspection failed (queue); the fail policy let the request through.',
    },
  ],
  [
    { outcome: 'blocked', transaction: { ...record, failure: 'internal' } },
    {
      level: 'error',
      logger: 'inspection',
      reason: 'internal',
      message: 'Inspection failed (internal) after the request was refused.',
    },
  ],
  [
    { transaction: { ...record, limitsReached: ['cookies'] } },
    { level: 'warn', logger: 'inspection', reason: 'cookies' },
  ],
  [
    { transaction: { ...record, pcreLimitedRules: [942_100] } },
    { level: 'warn', logger: 'inspection', reason: 'match_limit' },
  ],
])('%j', (change, expected) => {
  const found = errorOf({ ...served, ...change });
  if (expected === null) expect(found).toBeNull();
  else expect(found).toMatchObject(expected);
});
