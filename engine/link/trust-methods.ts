/** The methods of the engine's own socket that are about client addresses. */

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import {
  ExplainTrustResponseSchema,
  ListSpoofWarningsResponseSchema,
  SampleClientsResponseSchema,
  type EngineService,
} from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { toTrustConfig } from '../bundle/runtime-trust.ts';
import type { EngineHandler } from '../contract/evaluation.ts';
import type { TrustConfig } from '../contract/trust.ts';

type TrustMethods = Pick<
  ServiceImpl<typeof EngineService>,
  'explainTrust' | 'sampleClients' | 'listSpoofWarnings'
>;

/** ExplainTrust, SampleClients and ListSpoofWarnings. */
export function trustMethods(handler: EngineHandler, logger: Logger): TrustMethods {
  return {
    explainTrust: ({ profile, ipLists, peer, headers }) => {
      if (profile === undefined) {
        throw new ConnectError('profile: is required', Code.InvalidArgument);
      }
      let config: TrustConfig;
      try {
        config = toTrustConfig(profile, ipLists);
      } catch (error) {
        logger.error('a trust profile cannot be used', { reason: toAppError(error).message });
        throw new ConnectError('the profile cannot be used', Code.FailedPrecondition);
      }
      const found = handler.explainTrust(config, peer, headers);
      return create(ExplainTrustResponseSchema, {
        ip: found.ip,
        sourceHeader: found.sourceHeader,
        peerTrusted: found.peerTrusted,
        spoofed: found.spoofed,
        hops: [...found.hops],
        warnings: [...found.warnings],
        traces: found.traces.map((trace) => ({ ...trace, pathNodeIds: [...trace.pathNodeIds] })),
        verifiedNodeIds: [...found.verifiedNodeIds],
        untrustedRule: found.untrustedRule,
      });
    },
    sampleClients: ({ siteId, count, end }) => {
      const { samples, active } = handler.sampleClients(siteId, count, end);
      const shown = samples.map(({ peer, headers, products }) => ({
        peer,
        headers: { ...headers },
        products: [...products],
      }));
      return create(SampleClientsResponseSchema, { samples: shown, active });
    },
    listSpoofWarnings: () =>
      create(ListSpoofWarningsResponseSchema, {
        warnings: handler.spoofNotes().map(({ firstSeenMs, siteId, peer, header, count }) => ({
          firstSeenMs: BigInt(Math.round(firstSeenMs)),
          siteId,
          peer,
          header,
          count,
        })),
      }),
  };
}
