/** How the settings that choose something for each site are checked, and travel. Pure. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RuntimeSiteOptionsSchema } from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { readChosen } from '../../../engine/detect/applications/application.ts';
import { applicationNames } from '../../../engine/detect/applications/profiles.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { invalidField } from '../errors.ts';
import { oneOf } from '../setting-fields.ts';
import {
  choicesOf,
  detectionApplications,
  everySite,
  siteOptions,
  type SiteOption,
} from './site-choices.ts';

type Values = Readonly<Record<string, unknown>>;

/** What may be chosen, where that is no list. Errors: invalid_argument under `at`. */
const checks: Readonly<Record<string, (value: unknown, at: string) => void>> = {
  [detectionApplications.key]: checkApplications,
};

/** Checks the value of one. Errors: invalid_argument under `at`. */
export function checkSiteOption({
  key,
  choices,
}: SiteOption): (value: unknown, at: string) => void {
  const known = checks[key] ?? oneOf(...choices);
  return (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalidField(at, 'must be a JSON object of choices by site id, or * for all sites');
    }
    const entries = Object.entries(value);
    if (entries.length > resourceLimits.optionSitesMax) {
      throw invalidField(at, `names at most ${resourceLimits.optionSitesMax} sites`);
    }
    for (const [site, choice] of entries) known(choice, `${at}.${site}`);
  };
}

/** Sites that settings name, `*` left out, with the setting that does. */
export function* sitesNamed(values: Values): Generator<readonly [key: string, siteId: string]> {
  for (const { key } of siteOptions) {
    for (const siteId of Object.keys(choicesOf(values, key))) {
      if (siteId !== everySite) yield [key, siteId];
    }
  }
}

/** Settings with the sites that they name mapped, where they have the form of such settings. */
export function mapSitesNamed(
  values: Values,
  map: (site: string) => string,
): Record<string, unknown> {
  const mapped: Record<string, unknown> = { ...values };
  for (const { key } of siteOptions) {
    const value = mapped[key];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    mapped[key] = Object.fromEntries(
      Object.entries(value).map(([site, choice]) => [
        site === everySite ? site : map(site),
        choice,
      ]),
    );
  }
  return mapped;
}

/** The settings without a site that is no more; null where none names it. */
export function withoutSite(values: Values, siteId: string): Record<string, unknown> | null {
  if (![...sitesNamed(values)].some(([, named]) => named === siteId)) return null;
  const left: Record<string, unknown> = { ...values };
  for (const { key } of siteOptions) {
    if (left[key] === undefined) continue;
    const { [siteId]: _gone, ...others } = choicesOf(values, key);
    left[key] = others;
  }
  return left;
}

/** What nodes get of each site by field, '' for nothing; sorted by site, '' for all others. */
export function travelingOptions(
  values: Values,
): MessageInitShape<typeof RuntimeSiteOptionsSchema>[] {
  const sites = new Set(siteOptions.flatMap(({ key }) => Object.keys(choicesOf(values, key))));
  return [...sites].toSorted().map((site) => ({
    siteId: site === everySite ? '' : site,
    ...Object.fromEntries(
      siteOptions.map(({ key, field }) => [field, choicesOf(values, key)[site] ?? '']),
    ),
  }));
}

function checkApplications(value: unknown, at: string): void {
  const chosen = typeof value === 'string' ? readChosen(value) : null;
  const known = applicationNames();
  const unknown = chosen?.find(({ name }) => !known.includes(name));
  if (chosen !== null && unknown === undefined) return;
  const list = known.join(', ');
  throw invalidField(at, `must name applications, such as wordpress@/blog: ${list}`);
}
