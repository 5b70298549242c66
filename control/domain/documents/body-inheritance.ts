/** What body controls take from the policy of their site: capacities and readings. Pure. */

import type { PolicyReading } from '../../../base/body-family.ts';
import { schemaLimits } from '../../../base/schema-limits.ts';
import type { PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { BodyControl } from './operation-control.ts';
import { bodyLimitsOf } from '../policy/policy-seclang.ts';

/** What is inherited. Sizes are bytes. */
export interface InheritedBody {
  /** Whether rules look at requests at all. */
  readonly wafEnabled: boolean;
  /** Largest body without files that the rules inspect. */
  readonly requestBodyLimit: number;
  readonly fileBytes: number;
  readonly totalFileBytes: number;
  /** Largest body with files; what a node holds of one request while it looks at them. */
  readonly bodyBytes: number;
  /** Media types that the policy reads in a way of its own. */
  readonly readings: readonly PolicyReading[];
}

/** Reads a policy; null where no rules inspect the site: the usual limits stand then. */
export function inheritedBody(policy: PolicyJson | null): InheritedBody {
  const { crsCore = {}, argLimits = {}, httpPolicy = {} } = policy ?? {};
  const { limit, upload } = bodyLimitsOf(crsCore, argLimits);
  return {
    wafEnabled: policy !== null && policy.engineState !== 'ENGINE_STATE_OFF',
    requestBodyLimit: limit,
    fileBytes: Math.min(upload, Number(argLimits.maxFileSize ?? upload)),
    totalFileBytes: upload,
    bodyBytes: Math.min(upload + limit, schemaLimits.controlledBodyBytesMax),
    readings: (httpPolicy.bodyProcessorOverrides ?? []).flatMap(
      ({ contentTypePrefix = '', processor = '' }) => {
        const reads = processors[processor];
        return reads === undefined ? [] : [{ type: contentTypePrefix.toLowerCase(), reads }];
      },
    ),
  };
}

const processors: Readonly<Record<string, PolicyReading['reads']>> = {
  BODY_PROCESSOR_JSON: 'json',
  BODY_PROCESSOR_XML: 'xml',
  BODY_PROCESSOR_URLENCODED: 'form',
  BODY_PROCESSOR_RAW: 'none',
};

/** Bytes of one request's body that a node holds for the controls of an operation. */
export function reservationOf(body: BodyControl | null, inherited: InheritedBody): number {
  const slots = [body?.effective, body?.candidate];
  const holds = slots.some((slot) => slot !== undefined && slot.spec.upload !== null);
  return holds ? inherited.bodyBytes : 0;
}
