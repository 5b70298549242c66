/**
 * What nodes acknowledged of the configurations that carried an intent: exact receipts for exact
 * artifacts. Says nothing of traffic or of nodes that are reachable now.
 */

import type {
  OperationControlAttemptJson,
  OperationControlTargetJson,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import type { OperationIntentRecord } from '../../domain/documents/operation-control.ts';
import {
  publications,
  type NodeDelivery,
  type PublicationRecord,
} from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { NodeRegistry } from '../nodes/node-registry.ts';

/** How far an intent has come. */
export type DeploymentState =
  'pending' | 'applying' | 'converged' | 'failed' | 'superseded' | 'unverified';

/**
 * When a node began to serve the intent's site from the configuration with this SHA-256, while
 * policies of other sites still compile there; '' where it does not.
 */
export type ServedInPart = (nodeId: string, sha256: string) => string;

const inPartDelivery: NodeDelivery = {
  deliveredAt: '',
  appliedAt: '',
  result: 'success',
  error: '',
};

/** What nodes serve of a site, by their interim results. */
export function servedInPart(nodes: NodeRegistry, siteId: string): ServedInPart {
  return (nodeId, sha256) => {
    const interim = nodes.get(nodeId)?.interim ?? null;
    if (interim?.sha256 !== sha256 || interim.waitingSiteIds.has(siteId)) return '';
    return new Date(interim.atMs).toISOString();
  };
}

/**
 * The revision of the configuration that a node answered for in place of one that it skipped; ''
 * while it answered for none.
 */
export type SupersededBy = (nodeId: string, revision: string) => string;

/** What nodes answered for in place of a configuration, by the publications that are known. */
export function supersededBy(store: ReadStore): SupersededBy {
  return (nodeId, revision) => {
    const answered = store
      .list(publications)
      .filter(({ nodes = {} }) => {
        const result = Object.hasOwn(nodes, nodeId) ? nodes[nodeId]?.result : undefined;
        return result === 'success' || result === 'failure';
      })
      .map((one) => BigInt(one.revision))
      .filter((one) => one > BigInt(revision));
    return answered.reduce(
      (least, one) => (least === '' || one < BigInt(least) ? `${one}` : least),
      '',
    );
  };
}

/** Receipts of one configuration, as the nodes that an intent requires gave them. */
export function attemptOf(
  publication: PublicationRecord,
  intent: Pick<OperationIntentRecord, 'requiredTargets'>,
  supersededBy: SupersededBy,
  servedInPart: ServedInPart = () => '',
): OperationControlAttemptJson {
  const { revision, sha256, nodes = {} } = publication;
  const targets = intent.requiredTargets.map(({ nodeId = '', kind = '' }) => {
    const delivery = Object.hasOwn(nodes, nodeId) ? nodes[nodeId] : undefined;
    const inPart = delivery === undefined ? servedInPart(nodeId, sha256) : '';
    const own = inPart === '' ? delivery : { ...inPartDelivery, appliedAt: inPart };
    const target = targetOf(publication, nodeId, kind, own);
    if (target.status !== 'superseded') return target;
    return { ...target, supersededByRevisionId: supersededBy(nodeId, revision) };
  });
  return {
    configRevisionId: revision,
    generation: revision,
    artifactSha256: sha256,
    status: statusOf(targets),
    targets,
  };
}

/** Targets with a status. */
export function countTargets(attempt: OperationControlAttemptJson | null, status: string): number {
  return (attempt?.targets ?? []).filter((target) => target.status === status).length;
}

/** Where an intent is; `attempt` is the newest configuration that carried it. */
export function deploymentStateOf(
  intent: OperationIntentRecord,
  attempt: OperationControlAttemptJson | null,
): DeploymentState {
  if (intent.supersededByIntentId !== '') return 'superseded';
  if (attempt === null) return 'pending';
  const required = intent.requiredTargets.length;
  if (required === 0) return 'unverified';
  if (countTargets(attempt, 'failed') > 0) return 'failed';
  if (countTargets(attempt, 'applied') === required) return 'converged';
  return countTargets(attempt, 'pending') === required ? 'pending' : 'applying';
}

function targetOf(
  { revision, sha256 }: PublicationRecord,
  nodeId: string,
  kind: string,
  delivery: NodeDelivery | undefined,
): OperationControlTargetJson {
  const appliedAt = delivery?.appliedAt ?? '';
  return {
    nodeId,
    kind,
    purpose: 'serving',
    deploymentId: revision,
    bundleId: sha256,
    targetRevision: revision,
    status: deliveryStatus(delivery),
    ...(appliedAt === '' ? {} : { appliedAt }),
  };
}

function deliveryStatus(delivery: NodeDelivery | undefined): string {
  if (delivery === undefined) return 'pending';
  if (delivery.result === 'failure') return 'failed';
  if (delivery.result === 'superseded') return 'superseded';
  return delivery.appliedAt === '' ? 'delivered' : 'applied';
}

/** The least of what its targets are. */
function statusOf(targets: readonly OperationControlTargetJson[]): string {
  const all = targets.map(({ status }) => status ?? 'pending');
  if (all.includes('failed')) return 'failed';
  if (all.length > 0 && all.every((one) => one === 'applied')) return 'applied';
  if (all.includes('superseded')) return 'superseded';
  return all.some((one) => one !== 'pending') ? 'delivered' : 'pending';
}
