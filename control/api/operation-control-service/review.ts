/**
 * The state that reviews of operation controls are made in: the site, the nodes that have to
 * confirm, and fingerprints of all that the controls depend on. Never changes anything.
 */

import type {
  OperationControlRequiredTargetJson,
  OperationControlReviewJson,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import {
  jsonSha256,
  type ControlReview,
  type SiteControls,
} from '../../domain/documents/operation-control.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { policyOfSite } from '../../publish/parts/site-body.ts';
import { agents, siteOverrides } from '../../store/collections.ts';
import { schemaBindings, schemaContracts, schemaProfiles } from '../../store/api-collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { Uses } from '../context.ts';
import { capabilitiesSha256 } from '../nodes/node-registry.ts';
import { ownedBy } from '../resource/owned.ts';
import { wantedControls } from './intents.ts';

/** Reads the state; `controls` are those that are to be published. */
export function readReview(
  parts: Uses<'publisher' | 'nodes'>,
  store: ReadStore,
  site: SiteRecord,
  controls: SiteControls,
): ControlReview {
  const requiredTargets = targetsOf(parts, store, site);
  const policySha256 = policyFingerprint(store, site);
  const dependencies = { ...referenced(store, controls), policy: policySha256 };
  const waiting = requiredTargets.filter(({ capabilitiesSha256 }) => !capabilitiesSha256);
  const [first] = waiting;
  return {
    state: {
      controlRevision: wantedControls(store, site.id).controlRevision,
      baseGeneration: Number(parts.publisher.current()?.revision ?? 0),
      inputRevision: Number(site.revision),
      topologyRevision: requiredTargets.length,
      targetsSha256: jsonSha256(requiredTargets),
      targetLocal: requiredTargets.every(({ kind }) => kind === 'local'),
      dependenciesSha256: jsonSha256(dependencies),
    },
    requiredTargets,
    dependencies,
    policySha256,
    unsupported:
      first === undefined
        ? ''
        : `The node ${first.nodeId} is not connected: what it can do is not known.`,
  };
}

/** A review as the API shows it. */
export function reviewJson({ state }: ControlReview): OperationControlReviewJson {
  return {
    controlRevision: String(state.controlRevision),
    baseGeneration: String(state.baseGeneration),
    inputRevision: String(state.inputRevision),
    topologyRevision: String(state.topologyRevision),
    targetsSha256: state.targetsSha256,
    targetLocal: state.targetLocal,
    dependenciesSha256: state.dependenciesSha256,
  };
}

/** The built-in node and the enrolled ones of the site's tenant. */
function targetsOf(
  { nodes }: Uses<'nodes'>,
  store: ReadStore,
  site: SiteRecord,
): OperationControlRequiredTargetJson[] {
  const remote = ownedBy(store, site, { collection: agents }).map(({ id }) => ({
    nodeId: id,
    kind: 'remote',
  }));
  return [{ nodeId: 'local', kind: 'local' }, ...remote].map(({ nodeId, kind }) => {
    const node = nodes.get(nodeId);
    const known = node?.connected === true ? node.capabilities : null;
    return {
      nodeId,
      kind,
      capabilityRevision: String(known?.version ?? 0),
      capabilitiesSha256: known === null ? '' : capabilitiesSha256(known),
    };
  });
}

/** SHA-256 of every object that the controls refer to; '' for one that is gone. */
function referenced(store: ReadStore, { schema, bodies }: SiteControls): Record<string, string> {
  const found: Record<string, string> = {};
  if (schema !== null) {
    found['contract'] = store.get(schemaContracts, schema.contractId)?.sha256 ?? '';
    if (schema.bindingId !== '') {
      found['binding'] = store.get(schemaBindings, schema.bindingId)?.sha256 ?? '';
      found['profile'] = store.get(schemaProfiles, schema.profileId)?.artifactSha256 ?? '';
    }
  }
  for (const body of bodies) found[`body:${body.apiAssetId}`] = jsonSha256(body);
  return found;
}

function policyFingerprint(store: ReadStore, site: SiteRecord): string {
  const policy = policyOfSite(store, site);
  const override = store.get(siteOverrides, site.id);
  return jsonSha256([site.waf ?? {}, policy?.id ?? '', policy?.revision ?? '', override ?? {}]);
}
