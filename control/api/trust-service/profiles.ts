/** Trust profiles: reading, setting, resetting, and what they make of a request. */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  ResolvedTrustProfileSchema,
  TrustProfileSchema,
  TrustProfileValidationSchema,
  type TrustProfileJson,
  type TrustService,
} from '../../../proto/gen/waf/v1/trust_pb.ts';
import { parseAddress, textOfKey } from '../../../base/ip-address.ts';
import {
  emptyProfile,
  issuesOf,
  profileFor,
  resolveTrust,
  savedTrust,
} from '../../access/resolve-trust.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import {
  canonicalProfile,
  globalTrustId,
  type TrustIssue,
  type TrustRecord,
} from '../../domain/site/trust.ts';
import { packTrustLists, toRuntimeTrust } from '../../publish/parts/access-parts.ts';
import { sites, trustProfiles } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { drop, keep, ownedBy, type Kept } from '../resource/owned.ts';
import { nextUpdate, requireUnchanged } from '../unchanged.ts';
import { storedSite } from '../site-service/stored-site.ts';

const headersMax = 64;

/** Profiles of the deployment and of sites. */
const trustKind: Kept<TrustRecord> = {
  collection: trustProfiles,
  audit: 'trust_profile',
  nameOf: ({ id }) => id,
  audited: ({ profile }) => profile,
};

/** The profile of the deployment, or the override of a site. */
export function getTrustProfile(
  parts: Uses<'store'>,
): Method<typeof TrustService, 'getTrustProfile'> {
  return ({ siteId }, context) => {
    const { store } = parts;
    const caller = callerOf(context);
    if (siteId !== '') storedSite(store, caller, siteId, 'siteId');
    const saved = savedTrust(store, siteId, caller.tenantId);
    if (saved === undefined && siteId !== '') {
      throw refusal('not_found', 'This site does not override the trust profile.');
    }
    return { ...showProfile(store, saved?.profile ?? emptyProfile), ...changeOf(saved) };
  };
}

/** Replaces a profile after checking it. */
export function setTrustProfile(
  parts: Uses<'store' | 'clock'>,
): Method<typeof TrustService, 'setTrustProfile'> {
  return async ({ siteId, profile, force, expectedUpdatedAt }, context) => {
    const caller = callerOf(context);
    if (profile === undefined) throw invalidField('profile', 'is required');
    const asked = canonicalProfile(toRecord<TrustProfileJson>(TrustProfileSchema, profile));
    const stored = await parts.store.write((tx) => {
      if (siteId !== '') storedSite(tx, caller, siteId, 'siteId');
      const before = savedTrust(tx, siteId, caller.tenantId);
      requireUnchanged(expectedUpdatedAt, before);
      const updatedAt = nextUpdate(before, parts.clock);
      const to = { force, at: 'profile' };
      return { profile: keepProfile(tx, caller, siteId, asked, updatedAt, to), updatedAt };
    });
    return { ...showProfile(parts.store, stored.profile), ...changeOf(stored) };
  };
}

/** Empties the profile of the deployment, or removes the override of a site. */
export function resetTrustProfile(
  parts: Uses<'store'>,
): Method<typeof TrustService, 'resetTrustProfile'> {
  return async ({ siteId }, context) => {
    const caller = callerOf(context);
    const id = siteId === '' ? globalTrustId : siteId;
    const changed = await parts.store.write((tx) => {
      if (siteId !== '') storedSite(tx, caller, siteId, 'siteId');
      const before = savedTrust(tx, siteId, caller.tenantId);
      if (before === undefined) return false;
      drop(tx, caller, trustKind, before, 'reset');
      return true;
    });
    return { result: { id, changed } };
  };
}

/** What the local engine makes of a peer and headers, by the saved profile or a draft. */
export function explainTrust(
  parts: Uses<'store' | 'engine'>,
): Method<typeof TrustService, 'explainTrust'> {
  return async ({ siteId, peer, headers, draftProfile }, context) => {
    const caller = callerOf(context);
    const { store } = parts;
    if (siteId !== '') storedSite(store, caller, siteId, 'siteId');
    const peerKey = parseAddress(peer.trim());
    if (peerKey === null) throw invalidField('peer', 'must be one address, for example 192.0.2.7');
    const draft =
      draftProfile === undefined
        ? null
        : canonicalProfile(toRecord<TrustProfileJson>(TrustProfileSchema, draftProfile));
    if (draft !== null) {
      // A draft is only explained: a header that needs force may be tried.
      refuseIssues(issuesOf(store, caller.tenantId, draft, true, 'draftProfile'));
    }
    const profile = draft ?? profileFor(store, siteId, caller.tenantId);
    const {
      traces,
      $typeName: _type,
      ...found
    } = await parts.engine.explainTrust({
      profile: toRuntimeTrust(profile, siteId),
      ipLists: packTrustLists(store, profile),
      peer: textOfKey(peerKey),
      headers: readHeaders(headers),
    });
    return { ...found, ruleTraces: traces.map(({ $typeName: _trace, ...trace }) => trace) };
  };
}

/** All profiles and the recent warnings. */
export function getTrustStatus(
  parts: Uses<'store' | 'engine'>,
): Method<typeof TrustService, 'getTrustStatus'> {
  return async (_request, context) => {
    const { store } = parts;
    const { tenantId } = callerOf(context);
    const ours = ownedBy(store, { tenantId }, { collection: sites });
    const known = new Map(ours.map((site) => [site.id, site]));
    const siteOverrides = store
      .list(trustProfiles)
      .filter(({ id }) => known.has(id))
      .map(({ id, profile }) => ({
        siteId: id,
        primaryHost: known.get(id)?.primaryHost ?? '',
        ...showProfile(store, profile),
      }));
    const global = savedTrust(store, '', tenantId)?.profile ?? emptyProfile;
    return {
      global: toMessage(TrustProfileSchema, global),
      siteOverrides,
      recentWarnings: await recentWarnings(parts, new Set(known.keys())),
      totalSites: ours.length,
    };
  };
}

/** Keeps a profile with its audit row. Errors: invalid_argument with every issue as detail. */
export function keepProfile(
  tx: WriteStore,
  caller: Caller,
  siteId: string,
  profile: TrustProfileJson,
  now: string,
  { force, at }: { readonly force: boolean; readonly at: string },
): TrustProfileJson {
  refuseIssues(issuesOf(tx, caller.tenantId, profile, force, at));
  const id = siteId === '' ? globalTrustId : siteId;
  const before = savedTrust(tx, siteId, caller.tenantId);
  const after = { id, tenantId: caller.tenantId, profile, updatedAt: now };
  const metadata = force ? { metadata: { force: 'true' } } : {};
  return keep(tx, caller, trustKind, before, after, { action: 'set', ...metadata }).profile;
}

/** A profile as it is shown, with its lists resolved. */
export function showProfile(store: ReadStore, profile: TrustProfileJson) {
  return {
    profile: toMessage(TrustProfileSchema, profile),
    resolved: toMessage(ResolvedTrustProfileSchema, resolveTrust(store, profile)),
  };
}

function changeOf(saved: { readonly updatedAt: string } | undefined) {
  if (saved === undefined) return {};
  return { updatedAt: timestampFromMs(Date.parse(saved.updatedAt)) };
}

function refuseIssues(issues: readonly TrustIssue[]): void {
  const first = issues[0];
  if (first === undefined) return;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more; see the details)` : '';
  const value = create(TrustProfileValidationSchema, { issues: issues.map((one) => ({ ...one })) });
  throw new ConnectError(
    `${first.field}: ${first.message}${more}`,
    Code.InvalidArgument,
    undefined,
    [{ desc: TrustProfileValidationSchema, value }],
  );
}

function readHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent = Object.entries(headers).filter(([, value]) => value.trim() !== '');
  if (sent.length > headersMax) throw invalidField('headers', `has at most ${headersMax} entries`);
  const read: Record<string, string> = {};
  for (const [name, value] of sent) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name) || value.length > 8192) {
      throw invalidField('headers', 'holds a name or value that HTTP cannot carry');
    }
    read[name.toLowerCase()] = value;
  }
  return read;
}

/** Without an engine there are none to tell of. */
async function recentWarnings(parts: Uses<'engine'>, siteIds: ReadonlySet<string>) {
  try {
    const { warnings } = await parts.engine.spoofWarnings();
    return warnings
      .filter(({ siteId }) => siteIds.has(siteId))
      .map(({ firstSeenMs, siteId, peer, header, count }) => ({
        firstSeenAt: timestampFromMs(Number(firstSeenMs)),
        siteId,
        peer,
        header,
        count,
      }));
  } catch {
    return [];
  }
}
