/** Owns PartService/FetchParts: the pieces of a configuration that a node does not have yet. */

import type { PartService } from '../../../proto/gen/waf/runtime/v1/parts_pb.ts';
import { publishLimits } from '../../../engine/base/limits.ts';
import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import { entranceKey, type ApiParts } from '../context.ts';
import type { Method } from '../method.ts';

/** Pieces in the order asked for; only the administration socket hands them out. */
export function fetchParts(parts: ApiParts): Method<typeof PartService, 'fetchParts'> {
  return async function* ({ sha256 }, context) {
    if (context.values.get(entranceKey) !== 'socket') {
      throw refusal('permission_denied', 'pieces are handed out on the administration socket only');
    }
    if (sha256.length > publishLimits.partsPerCallMax) {
      throw invalidField('sha256', `has at most ${publishLimits.partsPerCallMax} entries`);
    }
    for (const name of sha256) {
      const content = parts.publisher.part(name);
      if (content === undefined) throw notFound('piece');
      yield { content };
    }
  };
}
