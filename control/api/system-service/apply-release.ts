/**
 * SystemService/ApplyBinaryRelease and RollbackBinaryRelease: which nodes a run has. The
 * built-in node is none of them: it is one program with the controller, which never replaces
 * itself.
 */

import { randomUUID } from 'node:crypto';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import type { AgentRecord } from '../../domain/resource-records.ts';
import {
  releaseKeysKey,
  releaseKeysOf,
  type BinaryReleaseRecord,
} from '../../domain/release/releases.ts';
import {
  placeInWaves,
  type RunRelease,
  type UpgradeRunRecord,
} from '../../domain/release/upgrade-run.ts';
import { upgradeLimits } from '../../limits/upgrade-limits.ts';
import {
  binaryReleases,
  settingsId,
  systemSettings,
  upgradeRuns,
} from '../../store/collections.ts';
import { agentsOf, localNodeId } from '../agent-service/known-nodes.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { isoNow, requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import { runNote, showRun } from './upgrade-runs.ts';

/** Begins a run over the nodes that a release is for and that do not run it. */
export function applyBinaryRelease(
  parts: Uses<'store' | 'clock' | 'nodes' | 'upgrades' | 'releases'>,
): Method<typeof SystemService, 'applyBinaryRelease'> {
  return async ({ releaseId, agentIds }, context) => {
    const caller = callerOf(context);
    const release = usableRelease(parts, releaseId);
    const fits = ({ os, arch }: AgentRecord): boolean =>
      os === release.platform && arch === release.arch;
    const named = namedAgents(parts, caller, agentIds);
    const other = named.find((agent) => !fits(agent));
    if (other !== undefined) {
      const kind = `${release.platform}-${release.arch}`;
      throw invalidField('agentIds', `${other.id} is no ${kind} machine; the release is for those`);
    }
    const meant = agentIds.length > 0 ? named : agentsOf(parts.store, caller).filter(fits);
    const left = meant.filter((agent) => versionOf(parts, agent) !== release.version);
    if (left.length === 0) {
      const why = meant.length === 0 ? 'no node is of its platform' : 'every node runs it already';
      throw refusal('failed_precondition', `agentIds: ${why}`);
    }
    const { id, version, sha256, sizeBytes, signature } = release;
    const what = { id, version, sha256, sizeBytes, signature };
    return { run: await begin(parts, caller, left, what, version) };
  };
}

/** Begins a run that takes nodes back to the program before their last upgrade. */
export function rollbackBinaryRelease(
  parts: Uses<'store' | 'clock' | 'nodes' | 'upgrades'>,
): Method<typeof SystemService, 'rollbackBinaryRelease'> {
  return async ({ agentIds }, context) => {
    const caller = callerOf(context);
    const before = versionsBefore(parts);
    const meant =
      agentIds.length > 0
        ? namedAgents(parts, caller, agentIds)
        : agentsOf(parts.store, caller).filter(({ id }) => before.has(id));
    if (meant.length === 0) {
      throw refusal('failed_precondition', 'agentIds: no node was upgraded by a run');
    }
    const targets = new Set(meant.map(({ id }) => before.get(id) ?? ''));
    const target = targets.size === 1 ? ([...targets][0] ?? '') : '';
    return { run: await begin(parts, caller, meant, null, target) };
  };
}

async function begin(
  parts: Uses<'clock' | 'nodes' | 'upgrades'>,
  caller: Caller,
  nodes: readonly AgentRecord[],
  release: RunRelease | null,
  targetVersion: string,
) {
  if (nodes.length > upgradeLimits.nodesMax) {
    const most = `${upgradeLimits.nodesMax} nodes`;
    throw refusal('resource_exhausted', `agentIds: a run has at most ${most}; name some of them`);
  }
  const facts = nodes.map((agent) => ({
    agentId: agent.id,
    versionBefore: versionOf(parts, agent),
  }));
  const run: UpgradeRunRecord = {
    id: `upgrade-${randomUUID()}`,
    tenantId: caller.tenantId,
    release,
    targetVersion,
    state: 'pending',
    wave: 0,
    waveStartedAt: '',
    nodes: placeInWaves(facts),
    events: [],
    createdAt: isoNow(parts.clock),
    startedAt: '',
    finishedAt: '',
  };
  const action = release === null ? 'rollback' : 'apply';
  const after = { releaseId: release?.id ?? '', agentIds: nodes.map(({ id }) => id) };
  return showRun(
    await parts.upgrades.start(run, { ...actorNote(caller), ...runNote(run), action, after }),
  );
}

/** Errors: not_found, failed_precondition. */
function usableRelease(
  { store, releases }: Uses<'store' | 'releases'>,
  id: string,
): BinaryReleaseRecord {
  const release = store.get(binaryReleases, requireText(id, 'releaseId'));
  if (release === undefined) throw notFound('release', id);
  // It was verified when it came; whoever took the trust back wants it on no further node.
  const trusted = releaseKeysOf(store.get(systemSettings, settingsId)?.values ?? {});
  if (!trusted.some((key) => key.id === release.keyId)) {
    const why = `is signed by a key that ${releaseKeysKey} does not name any more`;
    throw refusal('failed_precondition', `releaseId: ${id} ${why}`);
  }
  if (releases.bytesOf(release.sha256) === Number(release.sizeBytes)) return release;
  throw refusal('failed_precondition', `releaseId: the file of ${id} is missing; import it again`);
}

/** Errors: invalid_argument, not_found. */
function namedAgents(
  { store }: Uses<'store'>,
  caller: Caller,
  agentIds: readonly string[],
): AgentRecord[] {
  if (new Set(agentIds).size < agentIds.length) {
    throw invalidField('agentIds', 'must not name a node twice');
  }
  const known = new Map(agentsOf(store, caller).map((agent) => [agent.id, agent]));
  return agentIds.map((id) => {
    if (id === localNodeId) {
      const hint = 'install the release on its machine and restart waf run';
      throw invalidField('agentIds', `the built-in node is the controller's own program; ${hint}`);
    }
    const found = known.get(id);
    if (found === undefined) throw notFound('agent', id);
    return found;
  });
}

/** What a node runs: what it said last. */
function versionOf({ nodes }: Uses<'nodes'>, agent: AgentRecord): string {
  return nodes.get(agent.id)?.version ?? agent.version ?? '';
}

/** What nodes ran before the last run that changed them, by node. */
function versionsBefore({ store }: Uses<'store'>): Map<string, string> {
  const runs = store.list(upgradeRuns);
  runs.sort((left, right) => left.createdAt.localeCompare(right.createdAt));
  const found = new Map<string, string>();
  for (const { nodes } of runs) {
    for (const { agentId, state, versionBefore } of nodes) {
      if (state === 'updated') found.set(agentId, versionBefore);
    }
  }
  return found;
}
