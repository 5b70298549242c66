/**
 * The list of what the addon offers to `engine/match`, the only room that imports it.
 * Building it: `npx node-gyp rebuild`.
 */
export { addonFile } from './load-addon.ts';
export type { ByteString, Value } from './load-addon.ts';
export { BYTE_CLASS, byteClassOf, maskOfClasses, maskOfValue } from './byte-class.ts';
export type { ByteClassName } from './byte-class.ts';
export {
  setUnicodeMap,
  fillersRemovedId,
  transformationIds,
  transformationNames,
  transformationTriggers,
  transformBytes,
  transformChainText,
  transformText,
} from './transformations.ts';
export type { TransformationName } from './transformations.ts';
export {
  detectSqli,
  detectXss,
  hasBadUrlEncoding,
  hasBadUtf8,
  injectionVersion,
  isOutsideByteRange,
} from './injection.ts';
export {
  checkExpression,
  HS_FLAG,
  HsDatabase,
  HsStream,
  hyperscanVersion,
  platformKey,
} from './hyperscan.ts';
export { HsCompileQueue } from './hyperscan-queue.ts';
export type { HsCompiled } from './hyperscan-queue.ts';
export type { ExpressionCheck, HsCompileError, HsExpression, HsInfo } from './hyperscan.ts';
export { LIMIT_EXCEEDED, Pcre, pcreVersion } from './pcre.ts';
export type { PcreFlags, PcreLimits } from './pcre.ts';
export { ScanProgram } from './scan-program.ts';
export type {
  ScanClass,
  ScanRowPart,
  ScanProgramSpec,
  ScanQuestion,
  ScanStats,
  ScanTable,
  ScanTest,
  ScanTier,
} from './scan-program.ts';
export { mapFile } from './mapped-file.ts';
export { easeHeap, trimHeap } from './memory.ts';
export { threadCpuUs } from './thread-time.ts';
export { acceptClients } from './accept.ts';
export { HTTP2_CODE, HTTP2_EVENT, HTTP2_HEAD, Http2Session } from './http2-session.ts';
export type { Http2Settings } from './http2-session.ts';
export { decodeZstd } from './zstd.ts';
