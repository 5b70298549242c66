/** Why an event has no evidence, by the mode in force and the kind of event. */

import { expect, test } from 'vitest';
import type { RequestEvidenceModeJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { evidenceOfEvent, type EvidencedEvent, type EvidencedKind } from './evidence-summary.ts';

const occurredAt = new Date(1_000).toISOString();
const clean = { requestId: 'r', siteId: 's', tenantId: 't', occurredAt };
const attack = { ...clean, detailSelection: { captureReasons: ['status', 'security'] } };
const blocked = { ...clean, raw: { blocked: true } };
const refused = { ...clean, raw: { outcome: 'refused' } };

test.each<[string, EvidencedKind, EvidencedEvent, string, string, string]>([
  ['a clean access event', 'access', clean, 'not_kept', 'not_kept', 'not_received'],
  ['an access event of an attack', 'access', attack, 'not_kept', 'not_received', 'not_received'],
  ['one that was blocked', 'access', blocked, 'not_kept', 'not_received', 'not_received'],
  ['one that was refused', 'access', refused, 'not_kept', 'not_received', 'not_received'],
  ['a security event', 'security', clean, 'not_kept', 'not_received', 'not_received'],
])('the reason of %s is true in every mode', (_name, kind, event, off, secure, retained) => {
  const reasonIn = (mode: RequestEvidenceModeJson, nowMs = 2_000): string | undefined =>
    evidenceOfEvent(event, kind, {
      ...{ evidence: { ofRequest: () => [] }, nowMs, retentionDays: 3, modeOf: () => mode },
    }).unavailableReason;
  expect(reasonIn('REQUEST_EVIDENCE_MODE_OFF')).toBe(off);
  expect(reasonIn('REQUEST_EVIDENCE_MODE_SECURITY_ONLY')).toBe(secure);
  expect(reasonIn('REQUEST_EVIDENCE_MODE_RETAINED_LOGS')).toBe(retained);
  expect(reasonIn('REQUEST_EVIDENCE_MODE_RETAINED_LOGS', 4 * 86_400_000)).toBe('expired');
});
