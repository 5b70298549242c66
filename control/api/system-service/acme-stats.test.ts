/** How orders over ACME stand, for the overview. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { acmeStats } from './dashboard.ts';

const nowMs = Date.parse('2026-11-26T12:00:00Z');
const issued = { certificateId: 'c', lastFailedAt: '', lastIssuedAt: '2026-11-01T00:00:00Z' };

test('orders over ACME are counted: pending, failed within a day, the last that succeeded', () => {
  expect(acmeStats([], nowMs)).toEqual({ acmeOrdersPending: 0, acmeRenewalsFailed24h: 0 });
  const found = acmeStats(
    [
      issued,
      { ...issued, lastFailedAt: '2026-11-26T01:00:00Z', lastIssuedAt: '2026-11-02T00:00:00Z' },
      { ...issued, lastFailedAt: '2026-11-20T01:00:00Z' },
      { certificateId: '', lastFailedAt: '2026-11-26T01:00:00Z', lastIssuedAt: '' },
    ],
    nowMs,
  );
  expect(found).toMatchObject({ acmeOrdersPending: 1, acmeRenewalsFailed24h: 1 });
  expect(timestampMs(found.acmeLastValidAt!)).toBe(Date.parse('2026-11-02T00:00:00Z'));
});
