/** AgentStreamService. */

import type { AgentStreamService } from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { connect } from './connect.ts';

/** AgentStreamService. */
export function agentStreamService(parts: ApiParts): Built<typeof AgentStreamService> {
  return { connect: connect(parts) };
}
