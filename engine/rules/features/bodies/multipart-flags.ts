/** The MULTIPART_* flags of one body: none set at first, and which of them make a strict error. */

import type { MultipartFlags } from '../../transaction/transaction.ts';

/** Flags of a body without a fault. */
export function newFlags(): MultipartFlags {
  return {
    strictError: 0,
    unmatchedBoundary: 0,
    boundaryQuoted: 0,
    boundaryWhitespace: 0,
    dataBefore: 0,
    dataAfter: 0,
    headerFolding: 0,
    lfLine: 0,
    crlfLfLines: 0,
    missingSemicolon: 0,
    invalidQuoting: 0,
    invalidPart: 0,
    invalidHeaderFolding: 0,
    fileLimitExceeded: 0,
    ambiguousPart: 0,
    ambiguousBoundary: 0,
    twoReadings: 0,
    readingsReason: '',
    names: [],
    fileNames: [],
  };
}

/** MULTIPART_STRICT_ERROR less what concerns the whole body. Source: ModSecurity v3. */
export function hasStrictFault(flags: MultipartFlags): boolean {
  return (
    flags.boundaryQuoted + flags.boundaryWhitespace + flags.missingSemicolon > 0 ||
    flags.dataBefore + flags.dataAfter + flags.lfLine + flags.invalidPart > 0 ||
    flags.headerFolding + flags.invalidHeaderFolding + flags.invalidQuoting > 0 ||
    flags.fileLimitExceeded + flags.ambiguousBoundary > 0
  );
}
