/** `waf api status`: what is wanted, what nodes acknowledged, and what the checks found. */

import { readAnswer, type DetectionSummary, type Validation } from './api-answers.ts';
import type { ApiClient } from '../api-client.ts';
import {
  textFlag,
  type CommandContext,
  type CommandDefinition,
  type FlagDefinition,
} from '../command.ts';
import { printable } from '../show.ts';

const lookbackSeconds = 3_600;

type ControlState = Awaited<ReturnType<ApiClient['operationControls']['getOperationControlState']>>;

/** The command. */
export function apiStatusCommand(siteFlag: FlagDefinition): CommandDefinition {
  return {
    path: ['api', 'status'],
    summary: 'Show what an API is checked for, what nodes serve of it, and what was found',
    help: 'Counts are of the last hour; parameters and body of a request count each for itself.',
    flags: [siteFlag],
    run: async (context, _args, flags) => {
      const siteId = textFlag(flags, 'site') ?? '';
      const { apiSchemas, operationControls } = await context.api();
      const { validationJson } = await apiSchemas.getSchemaValidation({ siteId });
      const wanted = readAnswer<Validation>(validationJson);
      const state = await operationControls.getOperationControlState({ siteId });
      const detection = wanted.contractId === '' ? null : await lastHour(context, siteId);
      await showStatus(context, wanted, state, detection);
      return 0;
    },
  };
}

async function lastHour(context: CommandContext, siteId: string): Promise<DetectionSummary> {
  const { apiSchemas } = await context.api();
  const { detectionJson } = await apiSchemas.getSchemaDetection({
    ...{ siteId, lookbackSeconds, inventorySummary: true },
  });
  return readAnswer<DetectionSummary>(detectionJson);
}

async function showStatus(
  { output }: CommandContext,
  wanted: Validation,
  state: ControlState,
  detection: DetectionSummary | null,
): Promise<void> {
  const { toJson } = await import('@bufbuild/protobuf');
  const { GetOperationControlStateResponseSchema: schema } =
    await import('../../../proto/gen/waf/v1/operation_control_pb.ts');
  const found = new Map(detection?.operations.map((one) => [one.operation_key, one]));
  output.result(
    { wanted, state: toJson(schema, state), detection },
    {
      columns: ['OPERATION', 'MODE', 'REQUESTS', 'VALID', 'VIOLATION', 'NOT EVALUATED'],
      rows: wanted.operations.map(({ key, mode }) => {
        const counts = found.get(key);
        const { requests = '0', valid = '0', violation = '0' } = counts ?? {};
        return [key, mode, requests, valid, violation, counts?.not_evaluated ?? '0'];
      }),
    },
  );
  if (detection === null) {
    output.line('The site checks no API. Begin with: waf api import FILE --site SITE');
  } else {
    const { undeclared, other_operations: other } = detection.fallback;
    const { query_start: start, query_end: end } = detection;
    output.line(`requests that no operation takes: ${wanted.undeclaredAction}; ${undeclared} came`);
    if (other !== '0') output.line(`${other} requests to operations that are not declared now`);
    output.line(`counted from ${start} to ${end}`);
  }
  for (const line of deliveryLines(state)) output.line(line);
}

function deliveryLines(state: ControlState): string[] {
  const { intent, deploymentState, requiredTargets, appliedTargets, failedTargets } = state;
  if (intent === undefined) return [];
  const nodes = state.latestIntentAttempt?.targets ?? [];
  return [
    `change ${intent.controlRevision} (${intent.id}) is ${deploymentState}: ` +
      `${appliedTargets} of ${requiredTargets} nodes serve it, ${failedTargets} failed`,
    ...nodes
      .filter(({ status }) => status !== 'applied')
      .map(({ nodeId, status }) => printable(`node ${nodeId}: ${status}`)),
  ];
}
