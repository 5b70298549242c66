/** ReplayService: what a change of a policy would do to requests that came before. */

import type { ReplayService } from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { runReplay } from './run-replay.ts';

/** ReplayService. */
export function replayService(
  parts: Uses<'store' | 'clock' | 'events' | 'evidence' | 'engine'>,
): Built<typeof ReplayService> {
  return { runReplay: runReplay(parts) };
}
