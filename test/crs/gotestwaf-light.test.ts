/**
 * Judges GoTestWAF's payloads by the score of Light, without rules of CRS and without a socket.
 * What is left of the attacks: parameters that a bare `&` cuts, a query for a GraphQL schema, the
 * name of a scanner's script, an option of git.
 */

import { describe, expect, test } from 'vitest';
import { scoreOf } from '../../bench/detect/figures.ts';
import { observe } from '../../bench/detect/observe.ts';
import { buildJudgedPolicy } from '../../bench/detect/policy.ts';
import { readCorpus } from '../seclang/corpus.ts';
import type { Payload } from './gotestwaf-rates.ts';

const payloads = readCorpus<Payload>('gotestwaf.jsonl');
/** Percent. */
const stoppedMin = 94;

describe.skipIf(payloads === null)('GoTestWAF under Light', () => {
  test('its attacks are stopped, and nothing harmless is', () => {
    const choice = { template: 'Light', ruleset: 'none', crs4: '', cacheFolder: '.cache' } as const;
    const { engine } = buildJudgedPolicy(choice);
    const { detection } = engine.scoring!;
    const refused: string[] = [];
    const passed: string[] = [];
    const harmed: string[] = [];
    for (const { title, malicious, requests } of payloads ?? []) {
      for (const { placeholder, encoder, wire_b64 } of requests) {
        if (wire_b64 === undefined) continue;
        const labels = { kind: '', source: '', group: '', attack: malicious };
        const wire = Buffer.from(wire_b64, 'base64');
        const seen = observe(engine, { id: title, ...labels, wire });
        const stops =
          seen.otherwise || scoreOf(seen, detection) >= detection.weights.thresholds.block;
        const name = `${title} ${placeholder} ${encoder}`;
        if (!malicious && stops) harmed.push(name);
        if (malicious) (stops ? refused : passed).push(name);
      }
    }
    engine.retire();
    expect(harmed).toEqual([]);
    expect(refused.length).toBeGreaterThan(300);
    const stopped = (100 * refused.length) / (refused.length + passed.length);
    expect(stopped, passed.join('\n')).toBeGreaterThanOrEqual(stoppedMin);
  });
});
