/** The timing of native scans: one call over one or many argument values. */

import { SOURCE } from '../../engine/rules/transaction/values.ts';
import type { RulePlan } from '../../engine/rules/plan/rule-plan.ts';
import type { MicroGroup, MicroTask } from './group.ts';

const callsPerRun = 64;
const plain = 'The quick brown fox jumps over 13 lazy dogs near the river. ';
const marked = 'Marie\'s note: costs < 5 & more (see "terms"); a=b, c/d? yes! ';

/** Scans with the plan's own program: what a GET argument is scanned for. */
export function scanGroup(plan: RulePlan): MicroGroup {
  const tasks: MicroTask[] = [];
  const classes = plan.rowParts[SOURCE.argGet * 2]!.anyKey;
  for (const [kind, piece] of [
    ['words', plain],
    ['punctuation', marked],
  ] as const) {
    for (const size of [10, 100, 1000, 10_000]) {
      tasks.push(scanTask(plan, `1 value, ${size} bytes, ${kind}`, piece, size, 1, classes));
    }
    tasks.push(scanTask(plan, `50 values, 20 bytes each, ${kind}`, piece, 20, 50, classes));
  }
  return { name: 'scans', title: 'One native scan call (argument values, CRS 4 PL1)', tasks };
}

function scanTask(
  plan: RulePlan,
  name: string,
  piece: string,
  size: number,
  values: number,
  classes: readonly number[],
): MicroTask {
  const { scan } = plan;
  if (scan === null || classes.length === 0) throw new Error('the policy scans no arguments');
  // Values differ in their first bytes, so that none is taken for another.
  const slab = Buffer.alloc(size * values);
  const rows: number[] = [];
  const text = piece.repeat(Math.ceil(size / piece.length));
  for (let i = 0; i < values; i++) {
    slab.write(
      `${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}${text}`,
      i * size,
      size,
    );
    for (const id of classes) rows.push(i * size, (i + 1) * size, id);
  }
  const packed = Int32Array.from(rows);
  const hits = new Int32Array(2048);
  const run = (): void => {
    for (let i = 0; i < callsPerRun; i++) scan.scan(slab, packed, packed.length / 3, hits);
  };
  return { name, run, calls: callsPerRun };
}
