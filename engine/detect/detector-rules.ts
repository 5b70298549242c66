/**
 * The detectors as rules, which policies include: exclusions, overrides and events name them as
 * they name rules of a ruleset.
 */

import { encodeUtf8, type ByteString } from '../../base/byte-string.ts';
import type { Detector } from './detector.ts';
import { detectors } from './list.ts';

/** The file of a policy's text that holds the detectors' rules. */
export const detectorFile = 'waf/detectors.conf';

/** Variables whose values detectors look at, unless they name their own. */
const targets =
  'ARGS|ARGS_NAMES|REQUEST_COOKIES|REQUEST_COOKIES_NAMES|REQUEST_HEADERS|REQUEST_FILENAME|FILES|' +
  'XML:/*|REQUEST_BODY';

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

/** The rules' text, as bytes of UTF-8. */
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
