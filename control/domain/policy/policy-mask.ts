/** Which fields of a policy an update mask may name. */

import type { MaskFields } from '../update-mask.ts';

const fieldsOf = (names: string): MaskFields =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, true as const]));

/** Settings that change what is inspected; they are compiled before they are kept. */
export const inspectionFields: MaskFields = {
  crsCore: fieldsOf(
    'blockingParanoiaLevel detectionParanoiaLevel criticalAnomalyScore errorAnomalyScore ' +
      'warningAnomalyScore noticeAnomalyScore inboundAnomalyScoreThreshold ' +
      'outboundAnomalyScoreThreshold reportingLevel earlyBlocking enforceBodyprocUrlencoded ' +
      'crsValidateUtf8Encoding crsSkipResponseAnalysis enableDefaultCollections ' +
      'samplingPercentage responseBodyAccess responseBodyLimit responseBodyMimeTypes ' +
      'requestBodyLimit requestBodyLimitEnabled crsXmlAttributeInspection requestBodyLimitAction ' +
      'requestBodyInspectionLimit requestBodyExcessAction narrowedRules decision ' +
      'watchScore challengeScore blockScore',
  ),
  httpPolicy: fieldsOf(
    'allowedMethods allowedRequestContentTypes allowedRequestContentCharsets ' +
      'allowedHttpVersions restrictedExtensions restrictedHeadersBasic ' +
      'restrictedHeadersExtended bodyProcessorOverrides allowMethodOverrideParameter ' +
      'disallowedContentTypeAction requestBodyParseFailureAction allowUnusualRequests',
  ),
  argLimits: fieldsOf(
    'maxNumArgs argNameLength argLength totalArgLength maxFileSize combinedFileSizes ' +
      'argumentLimitAction',
  ),
};

/** Everything else that can be changed. */
export const metadataFields: MaskFields = {
  name: true,
  description: true,
  status: true,
  blockingMode: true,
  plugins: true,
};
