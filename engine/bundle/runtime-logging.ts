/** What a bundle says of the log policies, as plain data. */

import type { RuntimeBundle } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type {
  RuntimeEvidencePolicy,
  RuntimeLogPolicy,
} from '../../proto/gen/waf/runtime/v1/logging_pb.ts';
import {
  standardLogSettings,
  type DetailMode,
  type EvidenceSettings,
  type LoggingConfig,
  type LogSettings,
} from '../contract/logging.ts';
import { plain } from '../contract/plain.ts';

/** The log policies of a bundle; undefined where it brings none. */
export function loggingOf({
  logPolicies,
}: Pick<RuntimeBundle, 'logPolicies'>): LoggingConfig | undefined {
  if (logPolicies.length === 0) return undefined;
  const global = logPolicies.find(({ siteId }) => siteId === '');
  const own = logPolicies.filter(({ siteId }) => siteId !== '');
  return {
    revision: Number(global?.revision ?? 0n),
    standard: global === undefined ? standardLogSettings : settingsOf(global),
    sites: new Map(own.map((policy) => [policy.siteId, settingsOf(policy)])),
    exportAccess: global?.exportAccess ?? false,
    exportAnswerBodies: global?.exportAnswerBodies ?? false,
    tracing: global?.tracing === undefined ? null : plain(global.tracing),
  };
}

function settingsOf(policy: RuntimeLogPolicy): LogSettings {
  const { pairing, statusK, apiK, securityK, windowSeconds, evidence } = policy;
  return {
    accessMode: modeOf(policy.accessMode),
    securityMode: modeOf(policy.securityMode),
    ...{ pairing, statusK, apiK, securityK },
    windowMs: windowSeconds === 0 ? standardLogSettings.windowMs : windowSeconds * 1000,
    evidence: evidence === undefined ? null : evidenceOf(evidence),
  };
}

/** A mode of a later release keeps examples. */
function modeOf(mode: number): DetailMode {
  return mode === 1 ? 'none' : mode === 3 ? 'all' : 'exemplars';
}

function evidenceOf(policy: RuntimeEvidencePolicy): EvidenceSettings {
  const { mode, bodyMode, headerBytesMax, bodyBytesMax } = policy;
  return {
    mode: mode === 3 ? 'retained' : 'security',
    headerBytesMax,
    body: bodyMode === 2 ? 'prefix' : bodyMode === 3 ? 'whole' : 'none',
    bodyBytesMax,
    inflightBytesMax: Number(policy.inflightBytesMax),
    queueBytesMax: Number(policy.queueBytesMax),
  };
}
