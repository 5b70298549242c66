/** Wires the engine to control: the link, and the answers to what control asks. Holds no logic. */

import { join } from 'node:path';
import { readBuildInfo } from '../base/build-info.ts';
import { systemClock } from '../base/clock.ts';
import type { DebugAnswerer } from '../base/debug-question.ts';
import { patternTrialLimits, ruleSetTrialLimits } from '../base/rule-limits.ts';
import { notifySupervisor } from '../base/supervisor-channel.ts';
import { createControllerLink, type ControllerLink } from './link/controller-link.ts';
import { openEnrolled, type Enrolled } from './link/enrolled.ts';
import { ProgramUpgrade } from './link/program-upgrade.ts';
import { serveEngineService } from './link/engine-service.ts';
import { nativeLibraries } from './match/libraries.ts';
import { PatternTrial } from './rollout/pattern-trial.ts';
import { RuleSetTrial } from './rollout/rule-set-trial.ts';
import { createEvaluator } from './simulate/evaluate.ts';
import { tryOpenRunTally } from './state/run-tally.ts';
import { tryOpenSpoolFiles } from './state/spool-files.ts';
import { TriedPatterns } from './state/tried-patterns.ts';
import { threadParts } from './threads/thread-parts.ts';
import { readFirstPage } from './upstream/first-page.ts';
import { probePool } from './upstream/origin-health.ts';
import { answerDebug } from './debug-answers.ts';
import { candidateOf, type EngineParts } from './engine-parts.ts';
import { threadEntry } from './threads/thread-entry.ts';

const buildInfo = readBuildInfo();

/** What makes this engine an enrolled node; null for any other. Errors: identity_unreadable. */
export function openNode(parts: EngineParts): Enrolled | null {
  const { identity } = parts.options;
  if (identity === null) return null;
  const { folder, log: logger } = parts;
  return openEnrolled({ path: identity, folder, clock: systemClock, logger });
}

/** The link to control; `connect` it when control can be answered. */
export function makeLink(
  parts: EngineParts,
  socketPath: string,
  enrolled: Enrolled | null = null,
): ControllerLink {
  const files = tryOpenSpoolFiles(join(parts.folder, 'spool'), parts.log);
  if (files !== null) {
    parts.closers.push(() => files.close());
    const { folder, options, log } = parts;
    parts.tally = tryOpenRunTally(join(folder, 'tally'), options.workers, log);
  }
  return createControllerLink({
    socketPath,
    agentId: enrolled?.agentId ?? 'local',
    ...(enrolled && { enrolled, upgrade: upgradeOf(parts, enrolled) }),
    version: buildInfo.version,
    bundles: parts.bundles,
    configHash: () => parts.rollouts.serving.sha256,
    health: () => parts.origins.report(),
    connections: () => parts.threads?.connections ?? 0,
    overload: () => parts.overload.status,
    frontThreads: parts.options.workers,
    rollOut: (obtain, keep) =>
      parts.rollouts.rollOut(async () => candidateOf(parts, await obtain()), keep),
    answerChallenge: async (token, keyAuthorization) =>
      parts.threads?.setAcmeAnswer(token, keyAuthorization),
    logger: parts.log,
    tally: parts.tally,
    ...(files && {
      spools: {
        facts: files.store('facts'),
        access: files.store('access'),
        accessSample: files.store('access_sample'),
        accessExport: files.store('access_export'),
        errors: files.store('errors'),
        counters: files.store('counters'),
      },
    }),
  });
}

function upgradeOf(parts: EngineParts, enrolled: Enrolled): ProgramUpgrade {
  return new ProgramUpgrade({
    dataFolder: parts.options.data,
    identity: () => enrolled.identity(),
    logger: parts.log,
    notify: process.send === undefined ? null : (type) => notifySupervisor({ type }),
  });
}

/** Connects an enrolled node: nobody on its machine asks it questions. */
export function serveEnrolled(parts: EngineParts, link: ControllerLink, enrolled: Enrolled): void {
  const { countries } = threadParts('engine', parts.settings);
  parts.countryOf = (ip) => countries.codeOf(ip);
  const stopRenewing = enrolled.keepRenewing();
  parts.closers.push(() => Promise.resolve(stopRenewing()));
  link.connect();
}

/** Answers control's questions and connects to it. */
export async function serveControl(parts: EngineParts, link: ControllerLink): Promise<void> {
  const thread = threadParts('engine', parts.settings);
  parts.countryOf = (ip) => thread.countries.codeOf(ip);
  const triedPatterns = knownFit(parts, 'tried-patterns', patternTrialLimits);
  const measuredRules = knownFit(parts, 'measured-rules', ruleSetTrialLimits);
  const handler = createEvaluator({
    planner: parts.planner,
    trial: new PatternTrial(threadEntry('trial-process'), triedPatterns),
    setTrial: new RuleSetTrial(threadEntry('rule-set-process'), {}, measuredRules),
    files: parts.files,
    build: (policy, shared) => {
      thread.useShared(shared);
      try {
        return thread.build(policy);
      } finally {
        thread.useShared(new Map());
        thread.takeAttached();
      }
    },
    serves: (policyId) => parts.rollouts.serves(policyId),
    siteOf: (siteId) => ({
      guards: parts.guards.of(siteId),
      schema: parts.schemas.of(siteId),
      delivery: parts.guards.deliveryOf(siteId),
      routes: parts.guards.routesOf(siteId),
      failPolicy: parts.guards.failPolicyOf(siteId),
      grpcFields: parts.guards.grpcFieldsOf(siteId),
      content: parts.guards.contentOf(siteId),
    }),
    origins: { probeUpstream: probePool, readFirstPage },
    clients: parts.clientMemory.answers((siteId, count) => parts.threads?.sample(siteId, count)),
    status: () => ({
      ...parts.rollouts.serving,
      version: buildInfo.version,
      uptimeMs: Math.round(performance.now() - parts.startedMs),
      libraries: { ...buildInfo.libraries, ...nativeLibraries() },
    }),
  });
  const socketPath = join(parts.options.data, 'engine.sock');
  const debug: DebugAnswerer = (question) => answerDebug(parts, question);
  const service = await serveEngineService({ socketPath, handler, logger: parts.log, debug });
  parts.closers.push(() => service.close());
  link.connect();
}

/** What earlier trials found fit; beside itself, what builds it and the limits decide. */
function knownFit(
  { settings, log }: EngineParts,
  name: string,
  limits: { readonly knownMax: number },
): TriedPatterns {
  const engine = JSON.stringify([buildInfo.version, nativeLibraries(), limits]);
  return new TriedPatterns(join(settings.cacheFolder, name), engine, limits.knownMax, log);
}
