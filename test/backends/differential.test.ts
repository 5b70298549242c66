/**
 * Whatever a real backend reads as a field, name, value or file name was inspected as an argument,
 * or the request is refused: under Light and Standard, with both versions of CRS. A Content-Type
 * line that two of them read differently is refused; one that all read alike is not.
 * WAF_BACKENDS_BODIES says how many bodies of each kind (300), WAF_SEED where they begin.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingBuild } from '../support/product.ts';
import { type Backends, startBackends } from './backends.ts';
import {
  compareAll,
  describeResult,
  type GrammarName,
  grammars,
  runBed,
  startInspectors,
} from './bed.ts';
import type { InspectedUnder } from './inspected.ts';
import { namedCases } from './named-cases.ts';
import { draws } from '../support/soak.ts';

const bodies = draws(300, 5_000, 'WAF_BACKENDS_BODIES');
const seed = Number(process.env['WAF_SEED'] ?? Date.now() % 1_000_000_000);
const timeoutMs = 15 * 60_000 + bodies * 100;
if (missingBuild !== null) console.log(missingBuild);

describe.skipIf(missingBuild !== null)('real backends', { timeout: timeoutMs }, () => {
  let backends: Backends;
  let inspectors: Map<string, InspectedUnder>;

  beforeAll(async () => {
    inspectors = await startInspectors();
    backends = await startBackends();
    const { missing } = backends;
    if (missing.length > 0)
      console.log(`skipped: ${missing.length} backends: ${missing.join(', ')}`);
  }, timeoutMs);
  afterAll(async () => {
    await backends?.close();
    for (const inspector of inspectors?.values() ?? []) inspector.close();
  });

  test.each(Object.keys(grammars) as GrammarName[])('%s', async (kind) => {
    const result = await runBed(kind, seed, bodies, backends.list, inspectors, backends.missing);
    console.log(describeResult(kind, seed, result));
    expect(result.differences.slice(0, 20)).toEqual([]);
    expect(result.unanswered.length).toBeLessThanOrEqual(1 + bodies / 1000);
    expect(Math.max(...result.readings.values())).toBe(bodies);
  });

  test('spellings that backends read differently', async () => {
    const result = await compareAll(namedCases, backends.list, inspectors);
    expect(result.differences).toEqual([]);
  });

  test.each(namedCases)('Standard refuses: %s', (_, request) => {
    const standard = [...inspectors].filter(([name]) => name.startsWith('standard'));
    const passed = standard.filter(([, inspector]) => !inspector.inspect(request).refused);
    expect(standard.length).toBeGreaterThan(0);
    expect(passed.map(([name]) => name)).toEqual([]);
  });
});
