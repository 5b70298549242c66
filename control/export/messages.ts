/** The message of an event in the form that a target asks for. Pure. */

import type { SiemTarget } from '../domain/settings/siem-settings.ts';
import { accessJson } from './access-json.ts';
import { auditJson } from './audit-json.ts';
import { ecsJson } from './ecs.ts';
import type { RequestEvidence } from './evidence-wait.ts';
import type { ExportedFact } from './fact.ts';
import { ocsfJson } from './ocsf.ts';
import { syslogSeverity, type SyslogMessage, type SyslogSeverity } from './syslog.ts';

/**
 * The message; `evidence` is null where it goes without. Errors: an Error where the form has none
 * for this kind of event.
 */
export function messageOf(
  exported: ExportedFact,
  format: SiemTarget['format'],
  version: string,
  evidence: RequestEvidence | null = null,
): SyslogMessage {
  const content = contentOf(exported, format, version, evidence);
  const { event, fact } = exported;
  const atMs = Number(event === 'error' ? fact.atMs : fact.receivedAtMs);
  return { event, atMs, severity: severityOf(exported), content };
}

function contentOf(
  exported: ExportedFact,
  format: SiemTarget['format'],
  version: string,
  evidence: RequestEvidence | null,
): object {
  const { event, fact, agentId } = exported;
  if (format === 'ecs') return ecsJson(exported);
  if (format === 'ocsf') return ocsfJson(exported, version);
  if (format === 'audit' && event === 'security') {
    return auditJson(fact, { version, agentId }, evidence);
  }
  if (format === 'access' && event === 'access') return accessJson(fact, agentId);
  throw new Error(`the form ${format} has no ${event} events`);
}

/** Requests that were stopped are warnings, attacks that passed notices, the rest information. */
function severityOf(exported: ExportedFact): SyslogSeverity {
  const { event, fact } = exported;
  const { error, warning, notice, info } = syslogSeverity;
  if (event === 'error') return fact.level === 'error' ? error : warning;
  if (event === 'access') return info;
  return fact.blocked || fact.outcome === 'refused' ? warning : notice;
}
