/** NodeService. It is no part of the contract with clients. */

import type { NodeService } from '../../../proto/gen/waf/runtime/v1/nodes_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { renewIdentity } from './renew-identity.ts';

/** NodeService. */
export function nodeService(
  parts: Uses<'store' | 'clock' | 'logger' | 'nodes' | 'authority' | 'streams'>,
): Built<typeof NodeService> {
  return { renewIdentity: renewIdentity(parts) };
}
