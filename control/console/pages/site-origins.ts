/** What the origins of a site become when a person edits their pool and addresses. Pure. */

import { create } from '@bufbuild/protobuf';
import { SiteUpstreamSchema, type SiteUpstream } from '../../../proto/gen/waf/v1/site_pb.ts';

/** The address of an origin; '' for a pool. */
export const urlOf = ({ inline }: SiteUpstream): string => inline?.url ?? '';

/**
 * The origins that were entered. An address that is there already keeps its weight, headers and
 * TLS; one that takes the place of another takes over what was set for it.
 */
export function enteredOrigins(
  before: readonly SiteUpstream[],
  upstreamId: string,
  urls: readonly string[],
): SiteUpstream[] {
  if (upstreamId !== '') {
    const same = before.find((one) => one.upstreamId === upstreamId);
    return [same ?? create(SiteUpstreamSchema, { upstreamId })];
  }
  const replaced = before.filter((one) => urlOf(one) !== '' && !urls.includes(urlOf(one)));
  return urls.map((url) => {
    const same = before.find((one) => urlOf(one) === url);
    if (same !== undefined) return same;
    const earlier = closest(replaced, url);
    if (earlier?.inline === undefined) {
      return create(SiteUpstreamSchema, { inline: { url, weight: 1 } });
    }
    replaced.splice(replaced.indexOf(earlier), 1);
    return { ...earlier, inline: { ...earlier.inline, url } };
  });
}

/** What is in use and would no longer be, as texts for the question. */
export function whatIsLeft(
  before: readonly SiteUpstream[],
  upstreamId: string,
  urls: readonly string[],
): string[] {
  if (upstreamId === '') return [];
  const held = before.map(urlOf).filter((url) => url !== '');
  return [...new Set([...held, ...urls])];
}

/** The origin that an address most likely takes the place of: of its host, else the first. */
function closest(replaced: readonly SiteUpstream[], url: string): SiteUpstream | undefined {
  const host = hostOf(url);
  return replaced.find((one) => hostOf(urlOf(one)) === host) ?? replaced[0];
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : url;
}
