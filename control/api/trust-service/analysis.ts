/** Finds out from live requests which proxies stand before a site, and applies that. */

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  ClientIPAnalysisApplyScope,
  ClientIPAnalysisRangesMode,
  ClientIPAnalysisSchema,
  TrustProfileSchema,
  type ClientIPAnalysisNodeTrustDraft,
  type TrustNodeJson,
  type TrustProfileJson,
  type TrustService,
} from '../../../proto/gen/waf/v1/trust_pb.ts';
import { containsKey, parseAddress, parseNetwork } from '../../../base/ip-address.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { trustLimits } from '../../../base/guard-limits.ts';
import type { ClientIpSession } from '../../access/client-ip-analyses.ts';
import { editEntries } from '../../access/list-contents.ts';
import { profileFor, resolveTrust } from '../../access/resolve-trust.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkEntries, type IpListRecord } from '../../domain/access/ip-list.ts';
import { analyzeSenders, type AnalysisFindings } from '../../domain/site/trust-analysis.ts';
import { canonicalProfile } from '../../domain/site/trust.ts';
import { ipLists } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { isoNow, requireText, toMessage, toRecord } from '../convert.ts';
import { createListIn } from '../ip-list-service/stored-list.ts';
import type { Method } from '../method.ts';
import { requireOurs } from '../resource/owned.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { keepProfile, showProfile } from './profiles.ts';

/** Begins sampling the address headers of a site. */
export function startClientIPAnalysis(
  parts: Uses<'store' | 'analyses'>,
): Method<typeof TrustService, 'startClientIPAnalysis'> {
  return async ({ siteId }, context) => {
    const caller = callerOf(context);
    const site = storedSite(parts.store, caller, siteId, 'siteId');
    const session = await parts.analyses.start(site.id, caller.tenantId);
    await auditAnalysis(parts, caller, session, 'start_analysis');
    return { analysis: showSession(parts.store, session) };
  };
}

/** An analysis as it stands. */
export function getClientIPAnalysis(
  parts: Uses<'store' | 'analyses'>,
): Method<typeof TrustService, 'getClientIPAnalysis'> {
  return async ({ analysisId }, context) => {
    const id = requireText(analysisId, 'analysisId');
    const session = requireOurs(await parts.analyses.get(id), callerOf(context), 'analysis', id);
    return { analysis: showSession(parts.store, session) };
  };
}

/** Ends an analysis early. */
export function stopClientIPAnalysis(
  parts: Uses<'store' | 'analyses'>,
): Method<typeof TrustService, 'stopClientIPAnalysis'> {
  return async ({ analysisId }, context) => {
    const id = requireText(analysisId, 'analysisId');
    const caller = callerOf(context);
    const before = requireOurs(await parts.analyses.get(id), caller, 'analysis', id);
    const session = requireOurs(await parts.analyses.stop(id), caller, 'analysis', id);
    if (before.state === 'collecting') {
      await auditAnalysis(parts, caller, session, 'stop_analysis');
    }
    return { analysis: showSession(parts.store, session) };
  };
}

function auditAnalysis(
  { store }: Uses<'store'>,
  caller: Caller,
  { id, siteId, samples }: ClientIpSession,
  action: string,
): Promise<void> {
  const note = { ...actorNote(caller), action, resourceType: 'client_ip_analysis', resourceId: id };
  const metadata = { siteId, samples: String(samples.length) };
  return store.write((tx) => tx.audit({ ...note, metadata }));
}

/** Makes the suggestion, perhaps edited, the live profile; its addresses become manual lists. */
export function applyClientIPAnalysis(
  parts: Uses<'store' | 'clock' | 'analyses'>,
): Method<typeof TrustService, 'applyClientIPAnalysis'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const id = requireText(request.analysisId, 'analysisId');
    const session = requireOurs(await parts.analyses.get(id), caller, 'analysis', id);
    const { scope } = request;
    if (scope === unspecifiedScope) {
      throw invalidField('scope', 'must be SITE or GLOBAL');
    }
    const findings = analyzed(parts.store, session);
    if (findings.confidence !== 'verified' && !request.acknowledgeUnverified) {
      throw refusal(
        'failed_precondition',
        'acknowledgeUnverified: the suggestion is not verified; set this field to apply it anyway',
      );
    }
    const draft =
      request.draftProfile === undefined
        ? findings.suggestedProfile
        : toRecord<TrustProfileJson>(TrustProfileSchema, request.draftProfile);
    const siteId = scope === siteScope ? session.siteId : '';
    const now = isoNow(parts.clock);
    const stored = await parts.store.write((tx) => {
      storedSite(tx, caller, session.siteId, 'analysisId');
      const drafts = readDrafts(request.nodeTrustDrafts, draft);
      const profile = materialize(parts, tx, caller, draft, findings, drafts);
      const at = request.draftProfile === undefined ? 'suggestedProfile' : 'draftProfile';
      return keepProfile(tx, caller, siteId, canonicalProfile(profile), now, { force: false, at });
    });
    return { siteId: session.siteId, scope, ...showProfile(parts.store, stored) };
  };
}

const {
  CLIENT_IP_ANALYSIS_APPLY_SCOPE_UNSPECIFIED: unspecifiedScope,
  CLIENT_IP_ANALYSIS_APPLY_SCOPE_SITE: siteScope,
} = ClientIPAnalysisApplyScope;
const {
  CLIENT_IP_ANALYSIS_RANGES_MODE_UNSPECIFIED: unspecifiedRanges,
  CLIENT_IP_ANALYSIS_RANGES_MODE_REPLACE: replaceRanges,
  CLIENT_IP_ANALYSIS_RANGES_MODE_DROP: dropRanges,
} = ClientIPAnalysisRangesMode;

type Drafts = ReadonlyMap<string, ClientIPAnalysisNodeTrustDraft>;

function readDrafts(
  drafts: readonly ClientIPAnalysisNodeTrustDraft[],
  profile: TrustProfileJson,
): Drafts {
  const known = new Set((profile.nodes ?? []).map(({ id }) => id));
  const found = new Map<string, ClientIPAnalysisNodeTrustDraft>();
  drafts.forEach((draft, at) => {
    const field = `nodeTrustDrafts[${at}]`;
    if (!known.has(draft.nodeId)) throw invalidField(`${field}.nodeId`, 'must be a node');
    if (found.has(draft.nodeId)) throw invalidField(`${field}.nodeId`, 'is there twice');
    const replaces = draft.mode === replaceRanges;
    if (draft.mode === unspecifiedRanges) {
      throw invalidField(`${field}.mode`, 'must be KEEP_SUGGESTED, REPLACE or DROP');
    }
    if (replaces !== draft.ranges.length > 0) {
      throw invalidField(`${field}.ranges`, 'goes with REPLACE, which needs at least one');
    }
    if (draft.ranges.length > accessLimits.shownEntriesMax) {
      const most = accessLimits.shownEntriesMax;
      throw invalidField(`${field}.ranges`, `has at most ${most} entries`);
    }
    found.set(draft.nodeId, draft);
  });
  return found;
}

/** The profile with a list for every node that has none; nodes that are dropped are left out. */
function materialize(
  parts: Uses<'clock'>,
  tx: WriteStore,
  caller: Caller,
  profile: TrustProfileJson,
  findings: AnalysisFindings,
  drafts: Drafts,
): TrustProfileJson {
  const dropped: string[] = [];
  const nodes = (profile.nodes ?? []).flatMap((node): TrustNodeJson[] => {
    const draft = drafts.get(node.id ?? '');
    if (draft?.mode === dropRanges) {
      dropped.push(node.id ?? '');
      return [];
    }
    const listed = (node.trust?.ipListIds ?? []).length > 0;
    const suggested = findings.nodeTrustPreviews.find(({ nodeId }) => nodeId === node.id)?.ranges;
    const ranges = draft !== undefined && draft.mode === replaceRanges ? draft.ranges : suggested;
    if ((listed && draft === undefined) || ranges === undefined) return [node];
    const list = createList(parts, tx, caller, `${node.name ?? 'Proxy'} addresses`, ranges);
    return [{ ...node, trust: { ipListIds: [list.id] } }];
  });
  return dropped.reduce(withoutNode, { ...profile, nodes });
}

/** Removes a node from the paths and connects its predecessors to its successors. */
function withoutNode(profile: TrustProfileJson, id: string): TrustProfileJson {
  const edges = profile.edges ?? [];
  const before = edges.filter(({ to }) => to === id);
  const after = edges.filter(({ from }) => from === id);
  const joined = before.flatMap(({ from }) => after.map(({ to }) => ({ from, to })));
  const left = edges.filter(({ from, to }) => from !== id && to !== id);
  const all = new Map(
    [...left, ...joined].map((edge) => [`${edge.from ?? ''}\n${edge.to ?? ''}`, edge]),
  );
  const rules = (profile.extractionRules ?? []).flatMap((rule) => {
    const nodeIds = (rule.nodeIds ?? []).filter((one) => one !== id);
    const unbound = nodeIds.length === 0 && rule.parser !== 'remote_addr';
    return unbound && rule.allowUntrusted !== true ? [] : [{ ...rule, nodeIds }];
  });
  return {
    ...profile,
    edges: [...all.values()] as NonNullable<TrustProfileJson['edges']>,
    extractionRules: rules,
  };
}

function createList(
  parts: Uses<'clock'>,
  tx: WriteStore,
  caller: Caller,
  name: string,
  ranges: readonly string[],
): IpListRecord {
  const nowMs = parts.clock.nowMs();
  const entries = checkEntries(
    ranges.map((value) => ({ value })),
    'nodeTrustDrafts.ranges',
    nowMs,
  );
  const asked = {
    name: freeName(tx, name.slice(0, resourceLimits.nameCharactersMax - 8), caller.tenantId),
    description: 'Addresses of a trusted proxy, taken from an analysis of requests.',
    managementMode: 'manual',
    keepMore: (_tx: WriteStore, { id, updatedAt }: IpListRecord) =>
      editEntries(tx, id, entries, new Set(), updatedAt),
  } as const;
  return createListIn({ tx, caller, nowMs }, asked, 'name');
}

function freeName(store: ReadStore, name: string, tenantId: string): string {
  const isTaken = (text: string): boolean =>
    store.find(ipLists, 'name', text.toLowerCase()).some((list) => list.tenantId === tenantId);
  if (!isTaken(name)) return name;
  for (let number = 2; number <= accessLimits.listsMax; number++) {
    if (!isTaken(`${name} ${number}`)) return `${name} ${number}`;
  }
  return `${name} ${randomUUID().slice(0, 6)}`;
}

function analyzed(store: ReadStore, { samples, siteId, tenantId }: ClientIpSession) {
  const resolved = resolveTrust(store, profileFor(store, siteId, tenantId));
  const ranges = (resolved.nodes ?? []).flatMap((node) => node.trust?.ranges ?? []);
  const keys = ranges.flatMap((range) => parseNetwork(range) ?? []);
  const isTrusted = (peer: string): boolean => {
    const key = parseAddress(peer);
    return key !== null && keys.some((range) => containsKey(range, key));
  };
  return analyzeSenders(samples, isTrusted);
}

function showSession(store: ReadStore, session: ClientIpSession) {
  const { suggestedProfile, ...findings } = analyzed(store, session);
  const shown = toMessage(ClientIPAnalysisSchema, { ...findings, suggestedProfile });
  return {
    ...shown,
    id: session.id,
    siteId: session.siteId,
    state: session.state,
    startedAt: timestampFromMs(session.startedMs),
    endsAt: timestampFromMs(session.endsMs),
    ...(session.completedMs === 0 ? {} : { completedAt: timestampFromMs(session.completedMs) }),
    sampleCount: session.samples.length,
    targetSampleCount: trustLimits.clientSamplesMax,
  };
}
