/** Why evidence is not there, or not whole, as it is described. */

import { expect, test } from 'vitest';
import { describeEvidence, evidenceFields, type DescribedEvidence } from './evidence-fields.ts';

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const whole: DescribedEvidence = {
  ...{ id: 'ev-1', requestId: 'r', siteId: 's', receivedAtMs: 1, completedAtMs: 2 },
  ...{ clientIp: '192.0.2.1', httpVersion: 'HTTP/1.1', reason: 'security', method: 'GET' },
  ...{ host: 'a', target: '/', headerBytes: 9, headers: bytes('Host: a\r\n') },
  ...{ bodyBytes: 4, body: bytes('body'), lack: '' },
};

test.each<[string, Partial<DescribedEvidence>, string, boolean]>([
  ['all of it', {}, '', true],
  ['no body, as the policy says', { body: bytes(''), lack: 'body_off' }, 'body_off', true],
  ['less, for want of room', { body: bytes(''), lack: 'inflight_limit' }, 'inflight_limit', true],
  [
    'nothing, while others waited',
    { headers: bytes(''), body: bytes(''), lack: 'queue_full' },
    'queue_full',
    false,
  ],
  [
    'nothing, for there was no head',
    { headers: bytes(''), headerBytes: 0, body: bytes(''), bodyBytes: 0 },
    'nothing_read',
    false,
  ],
  [
    'nothing, for the first field is too long',
    { headers: bytes(''), body: bytes('') },
    'too_large',
    false,
  ],
])('evidence that holds %s', (_name, change, unavailableReason, available) => {
  const record = { ...whole, ...change };
  const described = describeEvidence(record, evidenceFields(record.headers));
  expect(described).toMatchObject({ unavailableReason, available });
});
