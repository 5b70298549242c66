/** AuditService/VerifyChain and GetChainStatus. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AuditService } from '../../../proto/gen/waf/v1/audit_pb.ts';
import { startChainCheck, type ChainFinding } from '../../store/audit-chain.ts';
import type { Uses } from '../context.ts';
import { inTimeRange } from '../convert.ts';
import type { Method } from '../method.ts';
import { toBreak } from './to-entry.ts';

/** Rows between two turns of the event loop; some five milliseconds. */
const rowsPerTurn = 250;

/** Recomputes the chain as it is now; callers that come meanwhile share the work. */
export type ChainVerifier = () => Promise<ChainFinding>;

/** A verifier that lets other calls through while it works. */
export function openChainVerifier({ store }: Uses<'store'>): ChainVerifier {
  let running: Promise<ChainFinding> | null = null;
  const verify = async (): Promise<ChainFinding> => {
    const check = startChainCheck();
    // The rows are read from the state of the store in which the first one is.
    const head = store.auditHead();
    let count = 0;
    for (const row of store.auditRows()) {
      check.add(row);
      if (++count % rowsPerTurn === 0) await nextTurn();
    }
    return check.finish(head);
  };
  return () => {
    running ??= verify().finally(() => (running = null));
    return running;
  };
}

/** Recomputes the whole chain; the time range chooses which breaks are shown. */
export function verifyChain(
  parts: Uses<'clock'>,
  verify: ChainVerifier,
): Method<typeof AuditService, 'verifyChain'> {
  return async (request) => {
    const found = await verify();
    // What has no time belongs to every range: a damaged row must not hide.
    const breaks = found.breaks.filter(
      ({ createdAt }) => createdAt === '' || inTimeRange(request.timeRange, Date.parse(createdAt)),
    );
    return {
      healthy: breaks.length === 0,
      breaks: breaks.map(toBreak),
      verifiedAt: timestampFromMs(parts.clock.nowMs()),
      ...(request.timeRange === undefined ? {} : { timeRange: request.timeRange }),
      checkedRows: BigInt(found.checked),
      latestHash: found.lastHash,
    };
  };
}

/** The state of the chain now. */
export function getChainStatus(
  parts: Uses<'clock'>,
  verify: ChainVerifier,
): Method<typeof AuditService, 'getChainStatus'> {
  return async () => {
    const found = await verify();
    return {
      healthy: found.breaks.length === 0,
      latestHash: found.lastHash,
      latestVerifiedAt: timestampFromMs(parts.clock.nowMs()),
      breaks: found.breaks.map(toBreak),
      checkedRows: BigInt(found.checked),
    };
  };
}
