/**
 * The engine's door to Hyperscan: databases, streams and the bulk scan program, with the
 * product's limits applied. Never decides what is compiled into which database.
 */
import { matchLimits } from '../../base/rule-limits.ts';
import { ScanProgram } from '../../native-bindings/index.ts';
import type { ScanProgramSpec } from '../../native-bindings/index.ts';

export {
  addonFile,
  HS_FLAG,
  HsCompileQueue,
  HsDatabase,
  platformKey,
} from '../../native-bindings/index.ts';
export type {
  HsCompiled,
  HsCompileError,
  HsExpression,
  ScanClass,
  ScanRowPart,
  ScanProgram,
  ScanProgramSpec,
  ScanQuestion,
  ScanTier,
} from '../../native-bindings/index.ts';

/**
 * The bulk scanner of one policy generation, for the calling thread.
 * Errors: code `bad_scan_program` when the specification contradicts itself.
 */
export function createScanProgram(spec: ScanProgramSpec): ScanProgram {
  const { arenaBytesMax, memoEntries, memoEntriesMax } = matchLimits;
  return new ScanProgram(spec, { arenaBytesMax, memoEntries, memoEntriesMax });
}
