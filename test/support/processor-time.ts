/**
 * Notes what each test file costs: CPU time of the process that runs it, with what was loaded for
 * it, and of the processes that it started and that ended. `npm test` sums it up by folder; a run
 * that does not name a file for it (WAF_TEST_CPU) pays nothing.
 */

import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect } from 'vitest';

interface CpuMs {
  readonly own: number;
  readonly children: number;
}

const note = process.env['WAF_TEST_CPU'];
/** Linux counts in hundredths of a second towards programs, whatever the kernel's own ticks are. */
const msPerTick = 10;
const root = path.join(import.meta.dirname, '..', '..');
/** What the files before in this process cost: modules are loaded anew for each, this is not. */
const shared = process as NodeJS.Process & { testCpu?: CpuMs };

if (note !== undefined) {
  const file = path.relative(root, expect.getState().testPath ?? '');
  // Registered before all hooks of the file, it runs after them: its products have ended.
  afterAll(() => {
    const before = shared.testCpu ?? { own: 0, children: 0 };
    const now = spent();
    shared.testCpu = now;
    const own = Math.round(now.own - before.own);
    const children = now.children - before.children;
    appendFileSync(note, `${JSON.stringify({ file, own, children })}\n`);
  });
}

/** CPU time of this process and of its ended descendants since it began. */
function spent(): CpuMs {
  const { user, system } = process.cpuUsage();
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // proc(5): after the name in parentheses, the fields 16 and 17 are 13 and 14 from there.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[13]) + Number(fields[14]);
  return { own: (user + system) / 1_000, children: ticks * msPerTick };
}
