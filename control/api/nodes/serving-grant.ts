/**
 * Serves grants: which configuration and sites one node may serve, signed with the key of bundles.
 * A node serves nothing that no grant names.
 */

import { createHash } from 'node:crypto';
import { servingGrantId, type ServingGrant } from '../../../base/serving-grant.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import type { Publication, Publisher } from '../../publish/publisher.ts';

/** A grant on its way. */
export interface SignedGrant {
  readonly grant: Uint8Array;
  readonly signature: Uint8Array;
  readonly revision: string;
  /** Of the grant, hex. */
  readonly sha256: string;
}

/** The grant of a node for a configuration: all of its sites, as groups restrict none. */
export function grantFor(
  nodeId: string,
  publication: Publication,
  publisher: Publisher,
): SignedGrant {
  const { revision, signed, siteIds } = publication;
  const content: ServingGrant = {
    id: servingGrantId,
    nodeId,
    revision,
    configRevisionId: `config-${revision}`,
    generation: revision,
    bundleId: `config-${revision}`,
    targetRevision: revision,
    artifactSha256: signed.sha256,
    siteIds: [...siteIds],
  };
  const grant = Buffer.from(canonicalJson(content));
  const sha256 = createHash('sha256').update(grant).digest('hex');
  return { grant, signature: publisher.sign(grant), revision, sha256 };
}
