/** An event and a matched rule as requests leave them, for tests that care for a few fields. */

import type { RequestEvent } from '../../engine/contract/events.ts';
import type { MatchedRule } from '../../engine/contract/verdict.ts';

/** A match of a rule against SQL injection. */
export function sampleMatch(more: Partial<MatchedRule> = {}): MatchedRule {
  return {
    ruleId: 942100,
    phase: 2,
    message: 'SQL injection',
    data: 'found',
    severity: 2,
    tags: ['attack-sqli'],
    operator: '@detectSQLi',
    matched: [],
    disruptive: false,
    file: 'x.conf',
    line: 1,
    rev: '',
    ver: '',
    maturity: 0,
    accuracy: 0,
    score: 5,
    log: true,
    auditLog: true,
    ...more,
  };
}

/** A GET that was served and not inspected. */
export function sampleEvent(more: Partial<RequestEvent> = {}): RequestEvent {
  return {
    requestId: 'r',
    siteId: 's',
    receivedAtMs: 0,
    durationUs: 0,
    originUs: -1,
    clientIp: '192.0.2.1',
    clientPort: 1,
    method: 'GET',
    host: 'a.example',
    target: '/',
    httpVersion: 'HTTP/1.1',
    userAgent: 'curl',
    status: 200,
    outcome: 'served',
    blocked: false,
    refusal: null,
    bytesIn: 0,
    bytesOut: 0,
    endpoint: null,
    transaction: null,
    ...more,
  };
}
