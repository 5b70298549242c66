/**
 * What a policy scores its requests with: what is known of the detectors, and the points that it
 * names. Reads data files of the program once a thread.
 */

import { readFileSync } from 'node:fs';
import { AppError } from '../../base/errors.ts';
import { detect } from '../detect/detect.ts';
import type { Detection } from '../detect/detection.ts';
import { detectors } from '../detect/list.ts';
import type { SignFacts } from '../detect/score.ts';
import { readWeights, type Weights, type WeightsFile } from '../detect/weights.ts';

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

const byId = new Map(detectors.map((detector) => [detector.id, detector]));

/** What scoring knows of the detectors. */
export const detectorFacts: SignFacts = {
  isStrong: (id) => byId.get(id)?.strong ?? false,
  confirmedBy: (id) => byId.get(id)?.confirmedBy ?? noRules,
};

const noRules: readonly number[] = [];

/** What a policy with these weights scores with. Errors: as `weightsNamed`. */
export function detectionWith(name: string): Detection {
  const proves = (id: number): string => byId.get(id)?.proves ?? '';
  const openedWeights = weightsNamed('none');
  const findsAddresses = (id: number): boolean => byId.get(id)?.address === true;
  const weights = weightsNamed(name);
  return { weights, openedWeights, facts: detectorFacts, detect, proves, findsAddresses };
}
