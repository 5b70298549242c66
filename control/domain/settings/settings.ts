/** The settings of the deployment: which there are, what they may be, what they are without. */

import { acmeKey, checkAcmeSettings } from '../site/acme.ts';
import { aiKey, checkAiSettings, standardAiSettings } from './ai-settings.ts';
import { invalidField } from '../errors.ts';
import {
  checkMirror,
  checkReleaseSource,
  checkSigningKeys,
  crsSigningKey,
  mirrorKey,
  releaseSourceKey,
  signingKeysKey,
  standardReleaseSource,
} from '../policy/crs-releases.ts';
import {
  checkGeoDigest,
  checkGeoSource,
  geoDigestKey,
  geoSourceKey,
  standardGeoSource,
} from '../access/geo-sources.ts';
import { checkConsoleHost, consoleHostKey } from './console-settings.ts';
import { allowedNetworksKey, checkAllowedNetworks } from './outgoing-settings.ts';
import { checkReleaseKeys, releaseKeysKey } from '../release/releases.ts';
import {
  checkIndexAuthority,
  checkIndexUrl,
  indexAuthorityKey,
  releaseIndexKey,
} from '../release/release-index.ts';
import { identitySettings } from './identity-settings.ts';
import { checkResponses, responsesKey } from '../site/response-settings.ts';
import { checkVerifiers, verifiersKey } from '../site/bot-verifiers.ts';
import { siteOptions } from '../site/site-choices.ts';
import { checkSiteOption } from '../site/site-options.ts';
import { checkSiemTargets, siemTargetsKey } from './siem-settings.ts';

/** One setting. */
interface Setting {
  readonly key: string;
  readonly standard: unknown;
  /** True when nodes have to hear of it. */
  readonly published: boolean;
  /** Errors: invalid_argument under `at`. */
  check(value: unknown, at: string): void;
}

const accessKey = 'auth.access_token_seconds';
const refreshKey = 'auth.refresh_token_seconds';

/** All settings. */
export const settings: readonly Setting[] = [
  { key: responsesKey, standard: {}, published: true, check: checkResponses },
  { key: accessKey, standard: 28_800, published: false, check: seconds(60, 86_400) },
  { key: refreshKey, standard: 604_800, published: false, check: seconds(300, 7_776_000) },
  { key: allowedNetworksKey, standard: [], published: true, check: checkAllowedNetworks },
  {
    key: releaseSourceKey,
    standard: standardReleaseSource,
    published: false,
    check: checkReleaseSource,
  },
  { key: mirrorKey, standard: '', published: false, check: checkMirror },
  {
    key: signingKeysKey,
    standard: [crsSigningKey],
    published: false,
    check: checkSigningKeys,
  },
  { key: geoSourceKey, standard: standardGeoSource, published: false, check: checkGeoSource },
  { key: geoDigestKey, standard: '', published: false, check: checkGeoDigest },
  { key: releaseKeysKey, standard: [], published: false, check: checkReleaseKeys },
  { key: releaseIndexKey, standard: '', published: false, check: checkIndexUrl },
  { key: indexAuthorityKey, standard: '', published: false, check: checkIndexAuthority },
  { key: consoleHostKey, standard: '', published: false, check: checkConsoleHost },
  { key: acmeKey, standard: {}, published: false, check: checkAcmeSettings },
  { key: aiKey, standard: standardAiSettings, published: false, check: checkAiSettings },
  { key: siemTargetsKey, standard: [], published: true, check: checkSiemTargets },
  { key: verifiersKey, standard: [], published: true, check: checkVerifiers },
  ...siteOptions.map((option) => ({
    ...{ key: option.key, standard: {}, published: true, check: checkSiteOption(option) },
  })),
  ...identitySettings.map((one) => ({ ...one, published: false })),
];

/** Lifetimes of sessions, milliseconds, from stored values. */
export function sessionTimesOf(values: Readonly<Record<string, unknown>>): {
  readonly accessMs: number;
  readonly refreshMs: number;
} {
  const read = (key: string): number => {
    const standard = settings.find((one) => one.key === key)?.standard;
    return Number(values[key] ?? standard) * 1000;
  };
  return { accessMs: read(accessKey), refreshMs: read(refreshKey) };
}

/** Checks given values. Errors: invalid_argument naming the key. */
export function checkSettings(values: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(values)) {
    const setting = settings.find((one) => one.key === key);
    if (setting === undefined) {
      const known = settings.map((one) => one.key).join(', ');
      throw invalidField('values', `Unknown key. Allowed: ${known}.`);
    }
    if (value !== null) setting.check(value, `values.${key}`);
  }
}

function seconds(min: number, max: number): Setting['check'] {
  return (value, at) => {
    if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return;
    throw invalidField(at, `must be a whole number of seconds between ${min} and ${max}`);
  };
}
