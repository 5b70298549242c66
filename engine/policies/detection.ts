/**
 * What a policy scores its requests with: the detectors, as rules that its text includes, and the
 * points that it names. Reads data files of the program once a thread.
 */

import { readFileSync } from 'node:fs';
import { encodeUtf8, type ByteString } from '../../base/byte-string.ts';
import { AppError } from '../../base/errors.ts';
import { detect } from '../detect/detect.ts';
import type { Detection } from '../detect/detection.ts';
import type { Detector } from '../detect/detector.ts';
import { detectors } from '../detect/list.ts';
import type { SignFacts } from '../detect/score.ts';
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

/** Variables whose values detectors look at, unless they name their own. */
const targets =
  'ARGS|ARGS_NAMES|REQUEST_COOKIES|REQUEST_HEADERS|REQUEST_FILENAME|FILES|XML:/*|REQUEST_BODY';

/** Tags of CRS by the rules that confirm a detector. */
const attackTags: Readonly<Record<number, string>> = {
  921: 'attack-protocol',
  930: 'attack-lfi',
  931: 'attack-rfi',
  932: 'attack-rce',
  933: 'attack-injection-php',
  934: 'attack-injection-generic',
  941: 'attack-xss',
  942: 'attack-sqli',
  944: 'attack-injection-java',
};

/** The detectors' rules, as bytes of UTF-8: what exclusions, overrides and events name. */
export const detectorRules: ByteString = encodeUtf8(detectors.map(ruleOf).join(''));

function ruleOf({ id, name, family, proves, confirmedBy, variables }: Detector): string {
  const tags = confirmedBy.flatMap((thousands) => attackTags[thousands] ?? []);
  const actions = [
    ...[`id:${id}`, 'phase:2', 'pass', 't:none', 'log', 'severity:5'],
    `msg:'${proves.replaceAll(/['"\\%]/g, '')}'`,
    ...[...new Set(tags), `detector/${family}/${name}`].map((tag) => `tag:'${tag}'`),
  ];
  return `SecRule ${variables ?? targets} "@detected" "${actions.join(',')}"\n`;
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
  return { weights: weightsNamed(name), facts: detectorFacts, detect, proves };
}
