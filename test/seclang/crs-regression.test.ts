/** Runs the regression tests of CRS through the oracle, in process: which rules fire. */

import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readCorpus } from './corpus.ts';
import { crsSuites, loadCrs, runStage, type CrsStage } from './crs-run.ts';

/** Tests whose expectation CRS itself gives anew for servers built like ours: title to reason. */
const overridden: ReadonlyMap<string, string> = new Map([
  ['920620-1', 'repeated Content-Type fields stay apart, as the override for nginx says'],
]);

for (const { name, corpus, place } of crsSuites) {
  const stages = existsSync(place.setup) ? readCorpus<CrsStage>(corpus) : null;
  describe.skipIf(stages === null)(name, () => {
    test('every test of the shared corpus passes', { timeout: 600_000 }, () => {
      const program = loadCrs(place);
      const failures: string[] = [];
      const refused: string[] = [];
      const families = new Map<string, { passed: number; other: number }>();
      let passed = 0;
      for (const stage of stages ?? []) {
        const override = overridden.has(stage.title) ? stage.overrides?.nginx?.expect : undefined;
        const outcome = runStage(program, override ? { ...stage, expect: override } : stage);
        const family = families.get(stage.family) ?? { passed: 0, other: 0 };
        families.set(stage.family, family);
        if (outcome.result === 'pass') family.passed++;
        else family.other++;
        if (outcome.result === 'pass') passed++;
        else if (outcome.result === 'refused') refused.push(`${stage.title}: ${outcome.detail}`);
        else failures.push(outcome.detail);
      }
      for (const [family, counts] of families) {
        console.log(`${family}: ${counts.passed} passed, ${counts.other} other`);
      }
      console.log(refused.map((line) => `refused ${line}`).join('\n'));
      console.log(failures.map((line) => `FAILED ${line}`).join('\n'));
      console.log(
        `${name}: ${passed} passed, ${failures.length} failed, ${refused.length} refused`,
      );
      expect(passed + failures.length + refused.length).toBe(stages?.length);
      expect(failures).toEqual([]);
    });
  });
}
