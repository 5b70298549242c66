/**
 * What a policy scores its requests with: the detectors, as rules that its text includes, and the
 * points that it names. Reads data files of the program once a thread.
 */

import { readFileSync } from 'node:fs';
import { AppError } from '../../base/errors.ts';
import type { Detection } from '../detect/detection.ts';
import { readWeights, type Weights, type WeightsFile } from '../detect/weights.ts';

/** The file of a policy's text that holds the detectors' rules. */
export const detectorFile = 'waf/detectors.conf';

/** Names that `SecScoreWeights` takes. */
export const weightNames = ['crs4', 'crs3', 'none'] as const;

const known = new Map<string, Weights>();

/** Points by name. Errors: AppError unknown_weights. */
export function weightsNamed(name: string): Weights {
  const kept = known.get(name);
  if (kept !== undefined) return kept;
  if (!weightNames.some((one) => one === name)) {
    throw new AppError('unknown_weights', `SecScoreWeights ${name}: expected crs4, crs3 or none`, {
      source: 'config',
    });
  }
  const place = new URL(`../detect/weights/${name}.weights.json`, import.meta.url);
  const weights = readWeights(JSON.parse(readFileSync(place, 'utf8')) as WeightsFile);
  known.set(name, weights);
  return weights;
}

/** The detectors' rules: what exclusions, overrides and events name. */
export const detectorRules = '';

/** What a policy with these weights scores with. Errors: as `weightsNamed`. */
export function detectionWith(name: string): Detection {
  const weights = weightsNamed(name);
  return {
    weights,
    facts: { isStrong: () => false, confirmedBy: () => [] },
    detect: () => [],
    proves: () => '',
  };
}
