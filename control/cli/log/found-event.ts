/** Finds the security event of a request, with what explains it. */

import type { GetSecurityEventResponse, SecurityEvent } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { ApiClient } from '../api-client.ts';
import type { Output } from '../output.ts';
import { badFlag } from '../input.ts';

/** An event and its explanation. */
export interface FoundEvent {
  readonly event: SecurityEvent;
  readonly response: GetSecurityEventResponse;
}

/** The newest event of a request id. Errors: AppError bad_flag where there is none. */
export async function findEventOfRequest(
  { logs }: ApiClient,
  output: Output,
  requestId: string,
): Promise<FoundEvent> {
  const { SecurityEventOutcome } = await import('../../../proto/gen/waf/v1/log_pb.ts');
  const outcome = SecurityEventOutcome.ANY;
  const { items } = await logs.querySecurityEvents({ uniqueId: requestId, outcome });
  const [newest] = items;
  if (newest === undefined) {
    throw badFlag(
      `No security event has the request id ${requestId}. Requests that nothing noticed leave ` +
        'none; a new event arrives within a second.',
    );
  }
  if (items.length > 1) output.note(`${items.length} events have this request id: the newest.`);
  const response = await logs.getSecurityEvent({ id: newest.id });
  return { event: response.event ?? newest, response };
}
