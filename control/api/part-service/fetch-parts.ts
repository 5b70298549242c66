/** PartService/FetchParts: the pieces of a configuration that a node does not have yet. */

import type { PartService } from '../../../proto/gen/waf/runtime/v1/parts_pb.ts';
import { publishLimits } from '../../limits/store-limits.ts';
import { invalidField, notFound } from '../../domain/errors.ts';
import { entranceKey, type Uses } from '../context.ts';
import { certifiedNode } from '../nodes/admit-node.ts';
import type { Method } from '../method.ts';

/** Pieces in the order asked for: for the built-in node on its socket, and for enrolled nodes. */
export function fetchParts(
  parts: Uses<'store' | 'clock' | 'logger' | 'publisher'>,
): Method<typeof PartService, 'fetchParts'> {
  return ({ sha256 }, context) => {
    if (context.values.get(entranceKey) !== 'socket') certifiedNode(parts, context);
    if (sha256.length > publishLimits.partsPerCallMax) {
      throw invalidField('sha256', `has at most ${publishLimits.partsPerCallMax} entries`);
    }
    const contents = sha256.map((name) => parts.publisher.part(name));
    const missing = contents.indexOf(undefined);
    if (missing >= 0) throw notFound('piece', Buffer.from(sha256[missing] ?? '').toString('hex'));
    return inTurn(contents.flatMap((content) => content ?? []));
  };
}

async function* inTurn(contents: readonly Uint8Array[]): AsyncGenerator<{ content: Uint8Array }> {
  for (const content of contents) yield await Promise.resolve({ content });
}
