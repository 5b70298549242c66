/** What a node reports of its origins: the findings of probes, as the stream carries them. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampNow } from '@bufbuild/protobuf/wkt';
import type { AgentMetricsPushSchema } from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import type { HealthReport } from '../contract/health.ts';

/** The findings of one node, with the configuration that they belong to. */
export function healthPush(
  agentId: string,
  report: HealthReport,
): MessageInitShape<typeof AgentMetricsPushSchema> {
  const configGeneration = BigInt(report.revision);
  const artifactSha256 = report.sha256;
  const upstreamHealth = report.addresses.map((one) => ({
    nodeId: agentId,
    upstreamId: one.upstreamId,
    endpointUrl: one.url,
    address: one.name,
    status: one.status,
    reportedAt: timestampNow(),
    ...(one.changedAtMs > 0 ? { lastTransitionAt: timestampFromMs(one.changedAtMs) } : {}),
    configGeneration,
    artifactSha256,
    lastError: one.error,
  }));
  return {
    agentId,
    observedAt: timestampNow(),
    upstreamHealth,
    upstreamHealthConfigGeneration: configGeneration,
    upstreamHealthArtifactSha256: artifactSha256,
  };
}
