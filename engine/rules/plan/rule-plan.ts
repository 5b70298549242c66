/**
 * The RulePlan: what one thread needs to run a policy. A plan is made once (`make-plan.ts`),
 * attached in each thread (`attach-plan.ts`), immutable, and closed when its generation ends.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { ScanProgram } from '../../match/scan.ts';
import type { ProgramItem, ProgramSettings } from '../transaction/types.ts';
import type { StaticAnalysis } from './static-analysis.ts';

/** Stands for a rule that never runs: it counts where a skip counts rules. */
export interface FoldedRule {
  readonly kind: 'folded';
}

/** One item of a phase. */
export type PlanItem = ProgramItem | FoldedRule;

/** One phase in running order. */
export interface PhasePlan {
  /** The index is the item's bit. */
  readonly items: readonly PlanItem[];
  /** Bit set of the rules that run whatever was scanned. */
  readonly always: Uint32Array;
  /** Items after the markers of each name, ascending. */
  readonly markers: ReadonlyMap<string, readonly number[]>;
}

/** Which scan classes look at one part of a row. */
export interface RowPartPlan {
  /** Classes for any key. */
  readonly anyKey: readonly number[];
  /** Classes by lower-case key; null when no rule selects by key. */
  readonly byKey: ReadonlyMap<ByteString, readonly number[]> | null;
}

/** What a plan looks up, by rule and by scan target; the same in threads that share it. */
export interface PlanTables {
  readonly settings: ProgramSettings;
  readonly txBase: ReadonlyMap<string, ByteString>;
  /** Per scan target: phase and item index of its rule. */
  readonly targetPhase: Uint8Array;
  readonly targetItem: Int32Array;
  /** Per rule index: its scan target id, -1 for rules that are not scanned for. */
  readonly targetIdOfRule: Int32Array;
  /** Per scan target: 1 when a hit says that its rule cannot match. */
  readonly negative: Uint8Array;
  /** Per scan target: 1 when the rule matches at most on the rows that were hit. */
  readonly onRows: Uint8Array;
  /** Per scan target: 1 when a hit is a match: an exact scan, and captures wait for the last. */
  readonly hitIsMatch: Uint8Array;
  /** Per scan target: 1 when only what the last match captured is ever read. */
  readonly lastCaptures: Uint8Array;
  /** Per scan target: 1 when only the last matches that a report shows are ever read. */
  readonly lastMatches: Uint8Array;
  /** Per rule index, of first links: 1 when no rule reads what its links matched. */
  readonly unobservedMatch: Uint8Array;
  readonly analysis: StaticAnalysis;
}

/** A policy in the form that runs; immutable. */
export interface RulePlan extends PlanTables {
  /** Index 1..5; 0 is empty. */
  readonly phases: readonly PhasePlan[];
  /** Indexed by row part id. */
  readonly rowParts: readonly RowPartPlan[];
  readonly scan: ScanProgram | null;
  readonly facts: PlanFacts;
  /** Frees databases and operators; the plan must not be used again. */
  close(): void;
}

/** Figures about a plan, for logs and reports. */
export interface PlanFacts {
  readonly rules: number;
  readonly foldedRules: number;
  readonly scannedRules: number;
  readonly alwaysRules: number;
  readonly databases: number;
  readonly databaseBytes: number;
}
