/**
 * Names every limit on the inspection of one request. Reaching one is an error that rules act on
 * (INSPECTION_LIMIT_ERROR); it never passes in silence. Knows no sizes: those stand in
 * engine/base/limits.ts and in the policy.
 */

/** The limits, by the names that INSPECTION_LIMIT_ERROR_MSG, events and counters show. */
export const inspectionLimitNames = [
  /** Cookies of one request. */
  'cookies',
  /** `SecArgumentsLimit`. */
  'arguments',
  /** Arguments that are inspected one by one, past `SecArgumentsLimit` too. */
  'argument-rows',
  /** `SecRequestBodyLimit` with what `SecRequestBodyExcessLimit` adds. */
  'body-bytes',
  /** Bytes that one transaction holds, decoded values included. */
  'transaction-bytes',
  /** `SecRequestBodyJsonDepthLimit`. */
  'json-depth',
  /** Nesting that the JSON reader follows. */
  'json-nesting',
  /** Path of a JSON argument. */
  'json-names',
  /** Paths of the JSON arguments together. */
  'json-name-bytes',
  'xml-elements',
  'xml-depth',
  'xml-attributes',
  /** Nesting of the messages of a gRPC request. */
  'grpc-depth',
  /** Fields of its messages. */
  'grpc-fields',
  /** What its compressed messages, texts that are messages too, and names of fields come to. */
  'grpc-bytes',
  /** Packets of a body or message framed by Engine.IO. */
  'packets',
  'multipart-parts',
  /** Multipart types, messages and HTTP requests inside each other. */
  'multipart-depth',
  'multipart-part-headers',
  'multipart-header-bytes',
  /** `SecUploadFileLimit`. */
  'multipart-files',
  /** Content of a file that a rule reads and that was left out of a long form. */
  'file-bytes',
  /** Texts of one value that a verify operator checks. */
  'verify-candidates',
  /** Nodes that one XPath selector visits. */
  'xpath-nodes',
  /** Text that one XPath selector yields. */
  'xpath-text',
  /** `SecResponseBodyLimit`, or the room that the request left. */
  'response-bytes',
] as const;

/** The name of one limit. */
export type InspectionLimitName = (typeof inspectionLimitNames)[number];

/** What keeps the limits that one request reached, in order. */
export interface ReachedLimits {
  readonly limitsReached: InspectionLimitName[];
}

/** Records that a limit was reached; once for each limit. */
export function reachLimit({ limitsReached }: ReachedLimits, name: InspectionLimitName): void {
  if (!limitsReached.includes(name)) limitsReached.push(name);
}
