/** Wires the engine to control: the link, and the answers to what control asks. Holds no logic. */

import { join } from 'node:path';
import { readBuildInfo } from './base/build-info.ts';
import { createControllerLink, type ControllerLink } from './link/controller-link.ts';
import { serveEngineService } from './link/engine-service.ts';
import { nativeLibraries } from './match/libraries.ts';
import { PatternTrial } from './rollout/pattern-trial.ts';
import { createEvaluator } from './simulate/evaluate.ts';
import { tryOpenSpoolFiles } from './state/spool-files.ts';
import { threadParts } from './threads/thread-parts.ts';
import { probePool } from './upstream/origin-health.ts';
import { candidateOf, type EngineParts } from './engine-parts.ts';
import { threadEntry } from './threads/thread-entry.ts';

const buildInfo = readBuildInfo();

/** The link to control; `connect` it when control can be answered. */
export function makeLink(parts: EngineParts, socketPath: string): ControllerLink {
  const files = tryOpenSpoolFiles(join(parts.folder, 'spool'), parts.log);
  if (files !== null) parts.closers.push(() => files.close());
  return createControllerLink({
    socketPath,
    agentId: 'local',
    version: buildInfo.version,
    bundles: parts.bundles,
    configHash: () => parts.rollouts.serving.sha256,
    health: () => parts.origins.report(),
    connections: () => parts.threads?.connections ?? 0,
    frontThreads: parts.options.workers,
    rollOut: (obtain, keep) =>
      parts.rollouts.rollOut(async () => candidateOf(parts, await obtain()), keep),
    answerChallenge: async (token, keyAuthorization) =>
      parts.threads?.setAcmeAnswer(token, keyAuthorization),
    logger: parts.log,
    ...(files && {
      spools: {
        facts: files.store('facts'),
        access: files.store('access'),
        accessSample: files.store('access_sample'),
        errors: files.store('errors'),
        counters: files.store('counters'),
      },
    }),
  });
}

/** Answers control's questions and connects to it. */
export async function serveControl(parts: EngineParts, link: ControllerLink): Promise<void> {
  const { build, countries } = threadParts('engine', parts.settings);
  parts.countryOf = (ip) => countries.codeOf(ip);
  const handler = createEvaluator({
    planner: parts.planner,
    trial: new PatternTrial(threadEntry('trial-process')),
    files: parts.files,
    build,
    guardsOf: (siteId) => parts.guards.of(siteId),
    probeUpstream: probePool,
    clients: parts.clientMemory.answers((siteId, count) => parts.threads?.sample(siteId, count)),
    status: () => ({
      ...parts.rollouts.serving,
      version: buildInfo.version,
      uptimeMs: Math.round(performance.now() - parts.startedMs),
      libraries: { ...buildInfo.libraries, ...nativeLibraries() },
    }),
  });
  const socketPath = join(parts.options.data, 'engine.sock');
  const service = await serveEngineService({ socketPath, handler, logger: parts.log });
  parts.closers.push(() => service.close());
  link.connect();
}
