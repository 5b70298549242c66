/** How far a policy inspects request bodies, in numbers and in one sentence. Pure. */

import type { BodyInspectionJson, PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { bodyExcessOf, bodyLimitsOf, longestBodyBytes } from './policy-seclang.ts';

/** What becomes of a body after the request body limit. */
export type BodyPast = 'refused' | 'blocks' | 'records' | 'forwarded';

/** The bounds of a policy, defaults filled in; null where it inspects nothing. */
export function bodyInspectionOf(policy: PolicyJson | undefined): BodyInspectionJson | null {
  const { crsCore = {}, argLimits = {}, engineState } = policy ?? {};
  if (policy === undefined || engineState === 'ENGINE_STATE_OFF') return null;
  if (crsCore.samplingPercentage === 0) return null;
  const { limit, upload } = bodyLimitsOf(crsCore, argLimits);
  const observed = crsCore.requestBodyLimitAction === 'REQUEST_BODY_LIMIT_ACTION_OBSERVE';
  const excess = bodyExcessOf(crsCore, argLimits);
  const past: BodyPast = !observed
    ? 'refused'
    : ({ block: 'blocks', record: 'records', off: 'forwarded' } as const)[excess.action];
  const inspected = observed ? excess.inspected : limit;
  return {
    limitBytes: String(limit),
    past,
    inspectedBytes: String(inspected),
    uploadBytes: String(upload),
    bodyBytesMax: String(longestBodyBytes),
    summary: summaryOf({ limit, upload, past, inspected }),
  };
}

interface Bounds {
  readonly limit: number;
  readonly upload: number;
  readonly past: BodyPast;
  readonly inspected: number;
}

function summaryOf({ limit, upload, past, inspected }: Bounds): string {
  const start = `Request bodies: the first ${limit} bytes are inspected`;
  if (past === 'refused') {
    return `${start}; longer ones get 413. Uploads of files may have ${upload} bytes.`;
  }
  if (past === 'forwarded') return `${start}; the rest is forwarded uninspected.`;
  const what = past === 'blocks' ? 'still blocks' : 'is recorded, not blocked';
  const found = `${start}; what is found after them ${what}`;
  if (inspected >= longestBodyBytes) return `${found}, to the end of the longest body.`;
  return `${found}, up to byte ${inspected}; the rest is forwarded uninspected.`;
}
