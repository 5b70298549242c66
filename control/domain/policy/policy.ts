/** What a policy's settings may be: ranges, tokens, and which layer is which field. */

import {
  PolicySchema,
  type CrsCoreSettingsJson,
  type HttpPolicyJson,
  type PolicyJson,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { invalidField } from '../errors.ts';
import { checkName } from '../names.ts';
import { checkBounds } from '../proto-bounds.ts';
import { bodyLimitsOf } from './policy-seclang.ts';

const token = /^[!#$%&*+.^_`|~0-9A-Za-z-]{1,128}$/;
const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i;
const extension = /^\.[a-z0-9_~-]{1,32}$/i;
const statuses = ['draft', 'active', 'archived'];
const httpVersions = ['HTTP/1.0', 'HTTP/1.1', 'HTTP/2', 'HTTP/3'];

/** Field of the policy that each writable layer is. */
export const layerFields: Readonly<
  Record<string, 'crsCore' | 'httpPolicy' | 'argLimits' | 'plugins'>
> = {
  POLICY_LAYER_KIND_CRS_CORE: 'crsCore',
  POLICY_LAYER_KIND_HTTP_POLICY: 'httpPolicy',
  POLICY_LAYER_KIND_ARG_LIMITS: 'argLimits',
  POLICY_LAYER_KIND_PLUGINS: 'plugins',
};

/** Checks every setting. Errors: invalid_argument with the field's path under `at`. */
export function checkPolicy(policy: PolicyJson, at = 'policy'): void {
  checkName(policy.name, `${at}.name`);
  checkBounds(PolicySchema, policy, at);
  const status = policy.status ?? '';
  if (status !== '' && !statuses.includes(status)) {
    throw invalidField(`${at}.status`, `must be one of ${statuses.join(', ')}`);
  }
  checkCore(policy.crsCore ?? {}, `${at}.crsCore`);
  checkHttpPolicy(policy.httpPolicy ?? {}, `${at}.httpPolicy`);
}

function checkCore(core: CrsCoreSettingsJson, at: string): void {
  const { limit } = bodyLimitsOf(core, {});
  if (Number(core.requestBodyInspectionLimit ?? limit) < limit) {
    const what = `must not be below the request body limit, which is ${limit}`;
    throw invalidField(`${at}.requestBodyInspectionLimit`, what);
  }
  const blocking = core.blockingParanoiaLevel || 1;
  if (core.detectionParanoiaLevel && core.detectionParanoiaLevel < blocking) {
    throw invalidField(`${at}.detectionParanoiaLevel`, 'must not be below blockingParanoiaLevel');
  }
  eachMatches(core.responseBodyMimeTypes, `${at}.responseBodyMimeTypes`, mediaType, 'a media type');
}

function checkHttpPolicy(policy: HttpPolicyJson, at: string): void {
  const { allowedHttpVersions: versions = [] } = policy;
  eachMatches(policy.allowedMethods, `${at}.allowedMethods`, token, 'a method');
  const types = `${at}.allowedRequestContentTypes`;
  eachMatches(policy.allowedRequestContentTypes, types, mediaType, 'a media type');
  const charsets = `${at}.allowedRequestContentCharsets`;
  eachMatches(policy.allowedRequestContentCharsets, charsets, /^[\w.:+-]{1,64}$/, 'a charset');
  versions.forEach((version, index) => {
    if (httpVersions.includes(version)) return;
    throw invalidField(
      `${at}.allowedHttpVersions[${index}]`,
      `must be one of ${httpVersions.join(', ')}`,
    );
  });
  const extensions = `${at}.restrictedExtensions`;
  eachMatches(policy.restrictedExtensions, extensions, extension, 'an ending such as .bak');
  eachMatches(policy.restrictedHeadersBasic, `${at}.restrictedHeadersBasic`, token, 'a field name');
  const extended = `${at}.restrictedHeadersExtended`;
  eachMatches(policy.restrictedHeadersExtended, extended, token, 'a field name');
  (policy.bodyProcessorOverrides ?? []).forEach((override, index) => {
    const field = `${at}.bodyProcessorOverrides[${index}]`;
    if (!mediaType.test(override.contentTypePrefix ?? '')) {
      throw invalidField(`${field}.contentTypePrefix`, 'must be a media type');
    }
    const processor = override.processor ?? 'BODY_PROCESSOR_UNSPECIFIED';
    if (processor === 'BODY_PROCESSOR_UNSPECIFIED') {
      throw invalidField(`${field}.processor`, 'is required');
    }
  });
}

function eachMatches(
  list: readonly string[] | undefined,
  at: string,
  pattern: RegExp,
  what: string,
): void {
  list?.forEach((one, index) => {
    if (!pattern.test(one)) throw invalidField(`${at}[${index}]`, `must be ${what}`);
  });
}
