/** An alert that never was, for tests of channels and previews of messages. */

import type { AlertCondition } from '../../domain/alert/alert-condition.ts';
import type { AlertRecord, AlertRuleRecord } from '../../domain/alert/alert-records.ts';
import type { AlertEvent } from '../../domain/alert/alert-states.ts';

const dayMs = 86_400_000;

/** The alert of a test message. */
export function sampleAlert(nowMs: number): AlertRecord {
  const now = new Date(nowMs).toISOString();
  return {
    ...{ id: 'test', tenantId: '', ruleId: '', ruleName: '', kind: 'test', key: '' },
    ...{ siteId: '', agentId: '', subject: '', severity: 'ALERT_SEVERITY_INFO' as const },
    ...{ state: 'firing' as const, payload: {}, openedAt: now, firingAt: now, ackedAt: '' },
    ...{ resolvedAt: '', lastMatchedAt: now, closedReason: '' as const, notifiedAt: '' },
    ...{ silencedBy: '', notes: 0 },
  };
}

/** An alert as a rule could open it. */
export function previewedAlert(
  rule: AlertRuleRecord,
  condition: AlertCondition,
  event: AlertEvent,
  nowMs: number,
): AlertRecord {
  const { kind, threshold, windowSeconds, filter } = condition;
  const now = new Date(nowMs).toISOString();
  const ends = event === 'resolved';
  return {
    ...sampleAlert(nowMs),
    id: 'alert-preview',
    tenantId: rule.tenantId,
    ruleId: rule.id,
    ruleName: rule.name,
    kind,
    severity: rule.severity,
    siteId: filter.siteId,
    agentId: filter.agentId,
    subject: filter.siteId || filter.agentId || 'example',
    payload: {
      count: threshold,
      threshold,
      windowSeconds,
      lastSeenAt: now,
      revision: '1',
      error: 'example',
      notAfter: new Date(nowMs + condition.withinDays * dayMs).toISOString(),
      daysLeft: condition.withinDays,
      availableBytes: '1073741824',
    },
    ...(ends ? { state: 'resolved', resolvedAt: now, closedReason: 'condition_cleared' } : {}),
  };
}
