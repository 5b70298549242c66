/** Which run of a node keeps which other out. */

import { expect, test } from 'vitest';
import { callLimits } from '../../limits/call-limits.ts';
import { isKeptOut } from './admit-node.ts';

const { nodeSilenceMs } = callLimits;

test.each([
  ['another run while the first is heard', 'a', 'b', 0, true],
  ['another run at the end of the time-out', 'a', 'b', nodeSilenceMs, true],
  ['another run after the time-out of the first', 'a', 'b', nodeSilenceMs + 1, false],
  ['the same run', 'a', 'a', 0, false],
  ['any run when none is connected', '', 'b', 0, false],
  ['a node that names no run', 'a', '', 0, false],
] as const)('%s', (_name, open, runId, silentMs, keptOut) => {
  expect(isKeptOut(open, runId, silentMs)).toBe(keptOut);
});
