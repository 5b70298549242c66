/** What settings of the deployment choose for sites of a bundle. Pure. */

import type { RuntimeBundle } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError } from '../../base/errors.ts';
import { arrayNames } from '../contract/array-names.ts';
import { learningModes } from '../contract/detection-content.ts';
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

/**
 * Finds what is chosen for a site: its own value, else that for all sites. Errors: AppError
 * bundle_invalid for a choice that is not known.
 */
export function siteOptionsOf({
  siteOptions,
}: Pick<RuntimeBundle, 'siteOptions'>): (siteId: string) => SiteOptions {
  const bySite = new Map(siteOptions.map((one) => [one.siteId, one]));
  const all = bySite.get('');
  return (siteId) => {
    const own = bySite.get(siteId);
    const messages = own?.websocketMessages || all?.websocketMessages || 'off';
    const fields = own?.rateLimitFields || all?.rateLimitFields || 'off';
    const grpc = own?.grpcFields || all?.grpcFields || 'off';
    const names = own?.arrayNames || all?.arrayNames || 'none';
    const learning = own?.detectionLearning || all?.detectionLearning || 'suggest';
    const applications = own?.detectionApplications || all?.detectionApplications || '';
    return {
      ...messagesOf(messages),
      ...(isOn('rate limit fields', fields) && { rateLimitFields: true }),
      ...(isOn('gRPC fields', grpc) && { grpcFields: true }),
      ...namesOf(names),
      ...learningOf(learning),
      ...(applications !== '' && { applications }),
    };
  };
}

function messagesOf(choice: string): Pick<SiteOptions, 'websocketMessages'> {
  if (choice === 'off') return {};
  if (choice === 'observe' || choice === 'block') return { websocketMessages: choice };
  throw invalid(`websocket messages "${choice}"`);
}

function namesOf(choice: string): Pick<SiteOptions, 'arrayNames'> {
  const known = arrayNames.find((one) => one === choice);
  if (known === undefined) throw invalid(`array names "${choice}"`);
  return known === 'none' ? {} : { arrayNames: known };
}

function learningOf(choice: string): Pick<SiteOptions, 'detectionLearning'> {
  const known = learningModes.find((one) => one === choice);
  if (known === undefined) throw invalid(`detection learning "${choice}"`);
  return known === 'off' ? {} : { detectionLearning: known };
}

function isOn(what: string, choice: string): boolean {
  if (choice !== 'off' && choice !== 'on') throw invalid(`${what} "${choice}"`);
  return choice === 'on';
}

function invalid(what: string): AppError {
  return new AppError('bundle_invalid', `site options: ${what} is not known`, { source: 'config' });
}
