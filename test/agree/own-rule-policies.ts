/** Policies that together bring every rule that the product puts beside a ruleset, as text. */

import { encodeUtf8, type ByteString } from '../../base/byte-string.ts';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import type { PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';

const limits = { maxNumArgs: 3, argNameLength: 30, argLength: 40, totalArgLength: 90 };
/** Settings that record. */
export const observed: PolicyJson = {
  argLimits: { ...limits, argumentLimitAction: 'ARGUMENT_LIMIT_ACTION_OBSERVE' },
  httpPolicy: {
    allowUnusualRequests: true,
    allowedMethods: ['GET', 'POST'],
    allowedRequestContentTypes: ['application/x-www-form-urlencoded', 'application/json'],
    disallowedContentTypeAction: 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE',
    requestBodyParseFailureAction: 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE',
    bodyProcessorOverrides: [{ contentTypePrefix: 'text/odd', processor: 'BODY_PROCESSOR_RAW' }],
  },
  crsCore: { narrowedRules: true, requestBodyLimitAction: 'REQUEST_BODY_LIMIT_ACTION_OBSERVE' },
};
/** Settings that refuse. */
export const refused: PolicyJson = {
  argLimits: { ...limits, maxFileSize: '100', combinedFileSizes: '100' },
  crsCore: {
    ...{ requestBodyLimitAction: 'REQUEST_BODY_LIMIT_ACTION_BLOCK', blockingParanoiaLevel: 2 },
    ...{ samplingPercentage: 50, earlyBlocking: true, reportingLevel: 3 },
    enableDefaultCollections: false,
  },
};

/** A policy with settings laid over those of a template. */
export const over = (policy: PolicyJson, change: PolicyJson): PolicyJson => ({
  ...policy,
  argLimits: { ...policy.argLimits, ...change.argLimits },
  httpPolicy: { ...policy.httpPolicy, ...change.httpPolicy },
  crsCore: { ...policy.crsCore, ...change.crsCore },
});

/** The text of each policy. */
export function ownRuleTexts(): ByteString[] {
  // Files at which rules of the product's own stand.
  const rules = ['a-901-b.conf', 'a-949-b.conf', 'a-980-b.conf'];
  const includes = { pluginConfigs: [], pluginsBefore: [], rules, pluginsAfter: [] };
  return builtInTemplates
    .flatMap((template) => [template, over(template, observed), over(template, refused)])
    .flatMap((policy) =>
      ['3.3.4', '4.28.0', ''].map((version) => {
        const ruleset = { version, includes: { ...includes, unicodeMap: '' } };
        return encodeUtf8(renderPolicy(policy, version === '' ? null : ruleset).seclang);
      }),
    );
}
