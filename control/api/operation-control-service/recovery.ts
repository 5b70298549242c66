/** Earlier intents that nodes applied: what can be restored, and what is known of that time. */

import type { OperationControlTargetJson } from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import { refusal } from '../../domain/errors.ts';
import {
  jsonSha256,
  type OperationIntentRecord,
} from '../../domain/documents/operation-control.ts';
import type { PublicationRecord } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { intentOf, publicationsOf } from './intents.ts';

/** An earlier intent, and a configuration with it that a node applied. */
export interface AppliedSource {
  readonly intent: OperationIntentRecord;
  readonly recovery: PublicationRecord;
}

/**
 * Finds what can be restored; `revision` '' takes the newest configuration. Errors: not_found,
 * failed_precondition for the intent that is wanted and for one that no node applied.
 */
export function appliedSource(
  store: ReadStore,
  siteId: string,
  sourceIntentId: string,
  revision: string,
): AppliedSource {
  const intent = intentOf(store, siteId, sourceIntentId);
  if (intent.supersededByIntentId === '') {
    throw refusal('failed_precondition', 'sourceIntentId: is the one that is wanted already');
  }
  const applied = publicationsOf(store, intent.id).filter(isApplied);
  const recovery = applied.find((one) => revision === '' || one.revision === revision);
  if (recovery !== undefined) return { intent, recovery };
  const message = 'sourceIntentId: no node has applied this intent, so that it is not restored';
  throw refusal('failed_precondition', message);
}

function isApplied({ nodes = {} }: PublicationRecord): boolean {
  return Object.values(nodes).some(({ result }) => result === 'success');
}

/** What an approval says of a configuration that is restored; {} for none. */
export function recoveryOf(recovery: PublicationRecord | null): {
  readonly recoveryArtifactSha256?: string;
  readonly recoveryArtifactGeneration?: string;
  readonly recoveryAppliedTargetsSha256?: string;
  readonly recoveryAppliedTargets?: OperationControlTargetJson[];
} {
  if (recovery === null) return {};
  const targets: OperationControlTargetJson[] = Object.entries(recovery.nodes ?? {})
    .filter(([, { result }]) => result === 'success')
    .map(([nodeId, { appliedAt }]) => ({
      nodeId,
      kind: nodeId === 'local' ? 'local' : 'remote',
      purpose: 'serving',
      targetRevision: recovery.revision,
      status: 'applied',
      ...(appliedAt === '' ? {} : { appliedAt }),
    }));
  return {
    recoveryArtifactSha256: recovery.sha256,
    recoveryArtifactGeneration: recovery.revision,
    recoveryAppliedTargetsSha256: jsonSha256(targets),
    recoveryAppliedTargets: targets,
  };
}

/** Nodes that have applied an intent, sorted; of no intent: none. */
export function servingNodes(store: ReadStore, intentId: string): string[] {
  const nodes = publicationsOf(store, intentId).flatMap(({ nodes: all = {} }) =>
    Object.entries(all).flatMap(([nodeId, { result }]) => (result === 'success' ? [nodeId] : [])),
  );
  return [...new Set(nodes)].sort();
}
