/**
 * Events as log records of OTLP: the body is the event in the Elastic Common Schema. Source:
 * opentelemetry-proto 1.x, logs.proto. Pure.
 */

import { ecsJson } from '../ecs.ts';
import { spanOf, type ExportedFact } from '../fact.ts';
import {
  otlpAttributes,
  otlpTime,
  otlpValue,
  type OtlpAttribute,
  type OtlpRecord,
} from './otlp-values.ts';

/** Numbers of severity: INFO, WARN, ERROR. */
const severities = { INFO: 9, WARN: 13, ERROR: 17 } as const;

/** The record of an event. */
export function logRecordOf(exported: ExportedFact): OtlpRecord {
  const { event, fact, agentId, tenantId } = exported;
  const severityText = severityOf(exported);
  return {
    timeUnixNano: otlpTime(Number(event === 'error' ? fact.atMs : fact.receivedAtMs)),
    severityNumber: severities[severityText],
    severityText,
    eventName: `waf.${event}`,
    ...spanOf(exported),
    body: otlpValue(ecsJson(exported)),
    attributes: otlpAttributes({
      'waf.node.id': agentId,
      'waf.tenant.id': tenantId,
      'waf.site.id': fact.siteId,
      'waf.request.id': fact.requestId,
    }),
  };
}

/** The request that carries records. */
export function logsRequest(
  resource: readonly OtlpAttribute[],
  version: string,
  logRecords: readonly OtlpRecord[],
): object {
  const scopeLogs = [{ scope: { name: 'waf', version }, logRecords }];
  return { resourceLogs: [{ resource: { attributes: resource }, scopeLogs }] };
}

function severityOf({ event, fact }: ExportedFact): keyof typeof severities {
  if (event === 'error') return fact.level === 'error' ? 'ERROR' : 'WARN';
  if (event === 'access') return 'INFO';
  return fact.blocked || fact.outcome === 'refused' ? 'WARN' : 'INFO';
}
