/** How policies and their versions look in tables, and the flags that describe a policy. */

import type { Policy, PolicyVersion } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { ApiClient } from '../api-client.ts';
import { givenRevision } from '../change-attempts.ts';
import type { FlagDefinition, FlagValues } from '../command.ts';
import type { Table } from '../output.ts';
import { timeText } from '../show.ts';

const engineStates = ['-', 'on', 'detection-only', 'off'];
const blockingModes = ['-', 'anomaly', 'self-contained'];
/** Whose score refuses a request where no rule does by itself, by `Decision`. */
const decisions = ['anomaly', 'anomaly', 'score', 'both', 'score-confirms'];

/** Spelling of engine states on the command line, and in messages. */
export const engineStateNames: Readonly<Record<string, string>> = {
  on: 'ENGINE_STATE_ON',
  'detection-only': 'ENGINE_STATE_DETECTION_ONLY',
  off: 'ENGINE_STATE_OFF',
};

/** Spelling of blocking modes on the command line, and in messages. */
export const blockingModeNames: Readonly<Record<string, string>> = {
  anomaly: 'BLOCKING_MODE_ANOMALY',
  'self-contained': 'BLOCKING_MODE_SELF_CONTAINED',
};

/** Every command that changes a policy takes the revision it was made from. */
export const revisionFlag: FlagDefinition = {
  flags: '--revision <n>',
  summary: 'revision the change is made from; default is the present one',
};

/** Policies, a row each. */
export function policyTable(policies: readonly Policy[]): Table {
  return {
    columns: ['ID', 'NAME', 'RULESET', 'ENGINE', 'BLOCKING', 'PARANOIA', 'STATUS', 'REVISION'],
    rows: policies.map((one) => [
      one.id,
      shownName(one),
      one.crsRulesetId,
      engineStates[one.engineState] ?? '-',
      shownBlocking(one),
      String(one.crsCore?.blockingParanoiaLevel ?? '-'),
      one.status,
      String(one.revision),
    ]),
  };
}

/** A built-in policy is made of the template with its name. */
function shownName({ name, isTemplate, builtin }: Policy): string {
  if (isTemplate) return `${name} (template)`;
  return builtin ? `${name} (built in)` : name;
}

function shownBlocking({ blockingMode, crsCore }: Policy): string {
  const mode = blockingModes[blockingMode];
  return (mode === 'anomaly' ? decisions[crsCore?.decision ?? 0] : mode) ?? '-';
}

/** Saved versions, a row each. */
export function versionTable(versions: readonly PolicyVersion[]): Table {
  return {
    columns: ['ID', 'REVISION', 'SAVED', 'BY', 'SHA-256'],
    rows: versions.map((one) => [
      one.id,
      String(one.revision),
      timeText(one.createdAt),
      one.createdBy,
      one.bundleSha256.slice(0, 16),
    ]),
  };
}

/** The stated revision, else the one that the policy has now. Errors: AppError bad_flag. */
export async function revisionOf(api: ApiClient, id: string, flags: FlagValues): Promise<bigint> {
  const stated = givenRevision(flags);
  if (stated !== undefined) return stated;
  const { policy } = await api.policies.getPolicy({ id });
  return policy?.revision ?? 0n;
}
