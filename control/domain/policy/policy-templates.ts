/** The built-in templates Light, Standard and Strict, and what every policy falls back to. */

import type { PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';

/** Identifiers of the built-in templates. */
export const templateIds = {
  light: 'template-light',
  standard: 'template-standard',
  strict: 'template-strict',
} as const;

const inspectedTypes = ['text/plain', 'text/html', 'text/xml', 'application/json'];

/** Charsets in which a byte below 0x80 is always the ASCII character: no rule misreads one. */
const asciiCharsets = [
  ...['utf-8', 'utf8', 'us-ascii', 'ascii', 'koi8-r', 'koi8-u', 'euc-jp', 'euc-kr'],
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16].map((part) => `iso-8859-${part}`),
  ...[1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258].map((page) => `windows-${page}`),
];

/** Files that a site never means to serve: copies, sources, databases, keys. */
const revealingExtensions = [
  ...['.asa', '.asax', '.ascx', '.back', '.backup', '.bak', '.bck', '.bk', '.bkp', '.cdx'],
  ...['.config', '.csproj', '.dbf', '.dist', '.dpkg-dist', '.htr', '.htw', '.ida', '.idc', '.idq'],
  ...['.inc', '.ini', '.jks', '.licx', '.mdb', '.old', '.pass', '.pdb', '.pfx', '.printer'],
  ...['.pwd', '.rdb', '.sql', '.sqlite', '.sqlite3', '.swap', '.swo', '.swp', '.tfstate'],
  ...['.vbproj', '.vsdisco', '.webinfo'],
];

/** The templates in the order in which lists show them. */
export const builtInTemplates: readonly (PolicyJson & { id: string; name: string })[] = [
  {
    id: templateIds.light,
    name: 'Light',
    description:
      'Blocks what the score of detection finds to be an attack; long arguments, large bodies and ' +
      'unusual media types are only recorded, unusual requests pass',
    isDefault: true,
    engineState: 'ENGINE_STATE_ON',
    blockingMode: 'BLOCKING_MODE_ANOMALY',
    crsCore: {
      blockingParanoiaLevel: 1,
      detectionParanoiaLevel: 1,
      inboundAnomalyScoreThreshold: 5,
      outboundAnomalyScoreThreshold: 4,
      requestBodyLimitAction: 'REQUEST_BODY_LIMIT_ACTION_OBSERVE',
      requestBodyExcessAction: 'REQUEST_BODY_EXCESS_ACTION_BLOCK',
      crsSkipResponseAnalysis: true,
      responseBodyAccess: false,
      narrowedRules: true,
      decision: 'DECISION_SCORE',
    },
    httpPolicy: {
      allowedMethods: ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'QUERY'],
      allowedHttpVersions: ['HTTP/1.0', 'HTTP/1.1', 'HTTP/2', 'HTTP/3'],
      allowedRequestContentCharsets: asciiCharsets,
      restrictedExtensions: revealingExtensions,
      restrictedHeadersBasic: ['Proxy', 'X-Middleware-Subrequest'],
      allowUnusualRequests: true,
      disallowedContentTypeAction: 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE',
      requestBodyParseFailureAction: 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE',
    },
    argLimits: {
      maxNumArgs: 1000,
      argNameLength: 400,
      argLength: 32_000,
      totalArgLength: 64_000,
      argumentLimitAction: 'ARGUMENT_LIMIT_ACTION_OBSERVE',
    },
  },
  {
    id: templateIds.standard,
    name: 'Standard',
    description: 'Blocks attacks and requests outside usual limits; inspects text responses',
    engineState: 'ENGINE_STATE_ON',
    blockingMode: 'BLOCKING_MODE_ANOMALY',
    crsCore: {
      blockingParanoiaLevel: 1,
      detectionParanoiaLevel: 1,
      inboundAnomalyScoreThreshold: 5,
      outboundAnomalyScoreThreshold: 4,
      requestBodyLimitAction: 'REQUEST_BODY_LIMIT_ACTION_BLOCK',
      responseBodyAccess: true,
      responseBodyLimit: '524288',
      responseBodyMimeTypes: inspectedTypes,
    },
    httpPolicy: {
      disallowedContentTypeAction: 'HTTP_POLICY_VIOLATION_ACTION_BLOCK',
      requestBodyParseFailureAction: 'HTTP_POLICY_VIOLATION_ACTION_BLOCK',
    },
    argLimits: {
      maxNumArgs: 1000,
      argNameLength: 256,
      argLength: 32_000,
      totalArgLength: 64_000,
      argumentLimitAction: 'ARGUMENT_LIMIT_ACTION_BLOCK',
    },
  },
  {
    id: templateIds.strict,
    name: 'Strict',
    description: 'Paranoia level 2, early blocking and the limits that the CRS suggests',
    engineState: 'ENGINE_STATE_ON',
    blockingMode: 'BLOCKING_MODE_ANOMALY',
    crsCore: {
      blockingParanoiaLevel: 2,
      detectionParanoiaLevel: 2,
      inboundAnomalyScoreThreshold: 5,
      outboundAnomalyScoreThreshold: 4,
      earlyBlocking: true,
      enforceBodyprocUrlencoded: true,
      crsValidateUtf8Encoding: true,
      requestBodyLimitAction: 'REQUEST_BODY_LIMIT_ACTION_BLOCK',
      responseBodyAccess: true,
      responseBodyLimit: '524288',
      responseBodyMimeTypes: inspectedTypes,
    },
    httpPolicy: {
      disallowedContentTypeAction: 'HTTP_POLICY_VIOLATION_ACTION_BLOCK',
      requestBodyParseFailureAction: 'HTTP_POLICY_VIOLATION_ACTION_BLOCK',
    },
    argLimits: {
      maxNumArgs: 255,
      argNameLength: 100,
      argLength: 4_000,
      totalArgLength: 64_000,
      maxFileSize: '10485760',
      combinedFileSizes: '10485760',
      argumentLimitAction: 'ARGUMENT_LIMIT_ACTION_BLOCK',
    },
  },
];
