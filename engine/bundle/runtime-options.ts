/** What settings of the deployment choose for sites of a bundle. Pure. */

import type {
  RuntimeBundle,
  RuntimeSiteOptions,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError } from '../../base/errors.ts';
import { arrayNames } from '../contract/array-names.ts';
import { learningModes } from '../contract/detection-content.ts';
import type { Plain } from '../contract/plain.ts';
import type { SiteConfig } from '../contract/site.ts';

/** The part of a site's configuration that such settings make. */
type SiteOptions = Pick<
  SiteConfig,
  | 'websocketMessages'
  | 'rateLimitFields'
  | 'grpcFields'
  | 'arrayNames'
  | 'detectionLearning'
  | 'applications'
>;

type Field = Exclude<keyof Plain<RuntimeSiteOptions>, 'siteId'>;

/** What may be chosen, the standard first. */
const messageModes = ['off', 'observe', 'block'] as const;
const switches = ['off', 'on'] as const;

/**
 * Finds what is chosen for a site: its own value, else that for all sites. Errors: AppError
 * bundle_invalid for a choice that is not known.
 */
export function siteOptionsOf({
  siteOptions,
}: Pick<RuntimeBundle, 'siteOptions'>): (siteId: string) => SiteOptions {
  const bySite = new Map(siteOptions.map((one) => [one.siteId, one]));
  const stated = (siteId: string, field: Field): string =>
    bySite.get(siteId)?.[field] || bySite.get('')?.[field] || '';
  return (siteId) => {
    const chosen = <T extends string>(field: Field, known: readonly T[]): T =>
      knownChoice(field, stated(siteId, field), known);
    const messages = chosen('websocketMessages', messageModes);
    const names = chosen('arrayNames', arrayNames);
    const learning = chosen('detectionLearning', learningModes);
    const applications = stated(siteId, 'detectionApplications');
    return {
      ...(messages !== 'off' && { websocketMessages: messages }),
      ...(chosen('rateLimitFields', switches) === 'on' && { rateLimitFields: true }),
      ...(chosen('grpcFields', switches) === 'on' && { grpcFields: true }),
      ...(names !== 'none' && { arrayNames: names }),
      ...(learning !== 'off' && { detectionLearning: learning }),
      ...(applications !== '' && { applications }),
    };
  };
}

/** A choice, or for '' the standard one. */
function knownChoice<T extends string>(field: Field, choice: string, known: readonly T[]): T {
  const found = choice === '' ? known[0] : known.find((one) => one === choice);
  if (found !== undefined) return found;
  const words = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const problem = `site options: ${words} "${choice}" is not known`;
  throw new AppError('bundle_invalid', problem, { source: 'config' });
}
