/** Puts control together and takes it apart; main.ts only reads flags. */

import { join } from 'node:path';
import { readBuildInfo } from '../base/build-info.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { makeFolder } from '../base/make-folder.ts';
import { ClientIpAnalyses } from './access/client-ip-analyses.ts';
import type { OutgoingLimits } from './access/outgoing.ts';
import { startSubscriptions } from './access/subscriptions.ts';
import { startAcme } from './acme/acme.ts';
import { ChallengeBoard } from './acme/challenge-board.ts';
import type { ConnectionLimits } from './api/listener/connection-limits.ts';
import type { ApiParts, Uses } from './api/context.ts';
import { openEngineClient } from './api/engine-client.ts';
import {
  openTlsIdentity,
  type ManagementTls,
  type TlsIdentity,
} from './api/listener/management-tls.ts';
import { startMetricsListener, type MetricsAddress } from './api/metrics/metrics-listener.ts';
import { localNodeId } from './api/agent-service/known-nodes.ts';
import { openNodes } from './api/nodes/open-nodes.ts';
import { startServer, type RunningServer } from './api/listener/server.ts';
import { openAccessTokens } from './auth/access-tokens.ts';
import { openApiTokens, withApiTokens } from './auth/api-tokens.ts';
import { ensureAdministrator, forgetFirstPassword } from './auth/first-administrator.ts';
import { openSessions, type Sessions, type SessionTimes } from './auth/sessions.ts';
import { openPasskeys } from './auth/passkeys.ts';
import { openSignIn } from './auth/sign-in.ts';
import { metricFamilies } from './api/metrics/probes.ts';
import type { OtlpSettings } from './export/otlp/otlp-settings.ts';
import type { ClickhouseAddress } from './observe/clickhouse/clickhouse-option.ts';
import { eventsApart } from './observe/events-apart.ts';
import { openObserved } from './open-observed.ts';
import { ensureFirstContent } from './publish/first-content.ts';
import { openDocumentWorker } from './documents/document-worker.ts';
import { openManifestReader } from './publish/manifests/manifest-reader.ts';
import { keepTracing } from './publish/parts/log-parts.ts';
import { startPublisher, type Publisher } from './publish/publisher.ts';
import { startLearning } from './start-learning.ts';
import { startAlerting, type AlertingOptions } from './start-alerting.ts';
import { sessionTimesOf } from './domain/settings/settings.ts';
import {
  agentIdentities,
  binaryReleases,
  enrollmentTokens,
  settingsId,
  systemSettings,
} from './store/collections.ts';
import { ownDuties, sharedDuties } from './store/duties.ts';
import { ensureInstallation } from './store/installation.ts';
import { openMainKv } from './store/open-main-kv.ts';
import type { StoreAddress } from './store/shared/store-option.ts';
import { careForMemory } from './store/memory-care.ts';
import { noteOlderRulesets } from './publish/rulesets/older-rulesets.ts';
import { ProgramPackage } from './release/program-package.ts';
import { ReleaseFiles } from './release/release-files.ts';
import { settleRestore } from './store/settle-restore.ts';
import { openStore, type Store } from './store/store.ts';

/** Where control keeps things and listens. */
export interface ControlOptions {
  readonly dataFolder: string;
  /** The store that other controllers share; absent or null: here. */
  readonly store?: StoreAddress | null;
  /** File of its key; default: in the data folder. */
  readonly storeKeyFile?: string;
  readonly management: {
    readonly host: string;
    readonly port: number;
    /** A socket that is bound there; without one the address is bound. */
    readonly fd?: number | undefined;
  };
  /** How the management listener is secured; our own certificate when left out. */
  readonly managementTls?: ManagementTls;
  readonly adminSocket: string;
  /** Socket on which the local engine answers questions. */
  readonly engineSocket: string;
  /** Origin of the demo site; null for none. */
  readonly demoOrigin: string | null;
  readonly rulesetFolder?: string;
  /** Whether the built-in node is being started beside; answers to changes wait for it then. */
  readonly startsNode?: boolean;
  /** Where scrapers read metrics; nowhere when left out. */
  readonly metrics?: MetricsAddress;
  /** Where telemetry goes by OTLP; nowhere when left out. */
  readonly otlp?: OtlpSettings | null;
  /** Where events are kept; absent or null: here. */
  readonly clickhouse?: ClickhouseAddress | null;
  /** File of the keys of evidence; default: in the data folder. */
  readonly evidenceKeys?: string;
  /** Bounds of fetching IP lists and geo databases where they differ. */
  readonly fetchLimits?: Partial<OutgoingLimits>;
  /** How alerts are evaluated and sent where it differs; tests set it. */
  readonly alerting?: AlertingOptions;
  /** Bounds of connections where they differ. */
  readonly connectionLimits?: Partial<ConnectionLimits>;
  readonly logger: Logger;
}

/** Control while it runs. */
export interface Control {
  readonly managementPort: number;
  /** Where scrapers read metrics; 0 for nowhere. */
  readonly metricsPort: number;
  readonly passwordFile: string;
  readonly firstStart: boolean;
  close(): Promise<void>;
}

interface Closing {
  close(): void | Promise<void>;
}

/** Opens the stores, publishes, listens. Errors: AppError of what cannot be opened. */
export async function startControl(options: ControlOptions): Promise<Control> {
  const { dataFolder, logger } = options;
  const clock = systemClock;
  const { store, duties, controllers, started } = await openMainStore(options, clock);
  const installation = await ensureInstallation(store, clock);
  const build = readBuildInfo();
  const observed = openObserved(dataFolder, store, logger, build.version, options);
  const passwordFile = join(dataFolder, 'admin-password');
  const firstStart = await ensureAdministrator(store, clock, passwordFile);
  await makeFirstContent(store, options);
  const keepWatch = forgetFirstPassword(store, logger, passwordFile);
  const publisher = await startPublishing(store, options);
  const engine = openEngineClient(options.engineSocket);
  const analyses = new ClientIpAnalyses(clock, (siteId, count, end) =>
    engine.sampleClients(siteId, count, end),
  );
  const { fetchLimits = {} } = options;
  const subscriptions = await startSubscriptions({ store, clock, logger, duties, fetchLimits });
  const challenges = new ChallengeBoard();
  const acme = startAcme({ store, clock, logger, duties, board: challenges, random: Math.random });
  const nodes = await openNodes({ store, clock, logger, controllers });
  if (options.startsNode === true) nodes.parts.nodes.awaitNode(localNodeId);
  let shown: TlsIdentity | null = null;
  const shared = { dataFolder, store, clock, logger, ...observed.parts, publisher, ...nodes.parts };
  const alerting = startAlerting({ ...shared, duties, controllers }, options.alerting);
  const notShared = noteNotShared(options);
  const parts: ApiParts = {
    ...shared,
    notShared,
    deliveries: alerting.deliveries,
    sessions: await openCallers(store, clock, logger),
    ...{ signIn: openSignIn(store, clock), passkeys: openPasskeys(store, clock) },
    engine,
    readManifest: openManifestReader(),
    documents: openDocumentWorker(),
    challenges,
    acme,
    subscriptions,
    fetchLimits,
    analyses,
    build,
    installation,
    program: new ProgramPackage(join(dataFolder, 'packages')),
    releases: openReleases(store, dataFolder, logger),
    managementAuthority: () => shown?.authority() ?? '',
    secureCookies: (options.managementTls ?? 'own') !== 'off',
  };
  await started();
  observed.sendMetrics(() => metricFamilies(parts), installation.createdAt);
  const running: RunningServer[] = [];
  const closing: Closing[] = [alerting, acme, observed.retention, publisher, subscriptions];
  closing.push(packAhead(parts), careForMemory(), { close: keepWatch }, startLearning(parts));
  const close = async (): Promise<void> => {
    for (const part of closing) await part.close();
    await Promise.all(running.map((server) => server.close()));
    await observed.close();
    await nodes.close();
    await store.close();
  };
  try {
    running.push(await startServer(parts, 'socket', { path: options.adminSocket }));
    shown = await openIdentity(options);
    if (shown !== null) closing.push(shown);
    const ports = await startListeners(parts, options, shown, running);
    return { ...ports, passwordFile, firstStart, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openMainStore(options: ControlOptions, clock: Clock) {
  const { dataFolder, logger, store: address = null, storeKeyFile: keyFile } = options;
  makeFolder(dataFolder);
  settleRestore(dataFolder);
  const { kv, holdsDuties, controllers, started } = await openMainKv({
    ...{ dataFolder, address, keyFile, logger },
  });
  const store = await openStore(kv, clock);
  const duties = holdsDuties === null ? ownDuties(store) : sharedDuties(store, holdsDuties, logger);
  return { store, duties, controllers, started };
}

/** What controllers of a shared store do not share; says it in the log. */
function noteNotShared({ store = null, clickhouse = null, logger }: ControlOptions) {
  const notShared = eventsApart(store !== null, clickhouse !== null);
  for (const what of notShared) logger.warn('controllers do not share everything', { what });
  return notShared;
}

/** Who calls, by the token of a session or by an API token. */
async function openCallers(store: Store, clock: Clock, logger: Logger): Promise<Sessions> {
  const tokens = await openAccessTokens(store, clock);
  const sessions = openSessions(store, tokens, clock, () => sessionTimes(store));
  return withApiTokens(sessions, openApiTokens(store, clock, logger));
}

/** Packs the program for nodes once some are enrolled, or a token for them is issued. */
function packAhead({ program, store, logger }: Uses<'store' | 'logger' | 'program'>): Closing {
  return program.packAhead(logger, {
    areExpected: () => store.count(enrollmentTokens) + store.count(agentIdentities) > 0,
    onChange: (listener) =>
      store.onChange((changed) => {
        if (changed.has(enrollmentTokens.name) || changed.has(agentIdentities.name)) listener();
      }),
  });
}

/** Starts what listens on the network, and adds it to `running`. */
async function startListeners(
  parts: ApiParts,
  { management, connectionLimits, metrics }: ControlOptions,
  identity: TlsIdentity | null,
  running: RunningServer[],
): Promise<Pick<Control, 'managementPort' | 'metricsPort'>> {
  const served = await startServer(parts, 'network', management, identity, connectionLimits);
  running.push(served);
  const scrapers = metrics && (await startMetricsListener(parts, metrics));
  if (scrapers !== undefined) running.push(scrapers);
  return { managementPort: served.port, metricsPort: scrapers?.port ?? 0 };
}

/** The files of imported releases, without what a crash left. */
function openReleases(store: Store, dataFolder: string, logger: Logger): ReleaseFiles {
  const files = new ReleaseFiles(join(dataFolder, 'releases'));
  const removed = files.sweep(new Set(store.list(binaryReleases).map(({ sha256 }) => sha256)));
  const names = removed.join(', ');
  if (names !== '') logger.warn('removed files that are no release', { files: names });
  return files;
}

async function startPublishing(store: Store, { otlp, logger }: ControlOptions): Promise<Publisher> {
  await keepTracing(store, otlp?.traces ? otlp.tracing : null);
  return startPublisher(store, systemClock, logger);
}

function sessionTimes(store: Store): SessionTimes {
  return sessionTimesOf(store.get(systemSettings, settingsId)?.values ?? {});
}

async function makeFirstContent(store: Store, options: ControlOptions): Promise<void> {
  const { demoOrigin, rulesetFolder, logger } = options;
  const ruleset = rulesetFolder === undefined ? {} : { rulesetFolder };
  await ensureFirstContent(store, systemClock, logger, { demoOrigin, ...ruleset });
  noteOlderRulesets(store, logger);
}

/** What the management listener proves itself with; null where it speaks plain HTTP. */
async function openIdentity(options: ControlOptions): Promise<TlsIdentity | null> {
  const { managementTls = 'own', dataFolder, management, logger } = options;
  if (managementTls === 'off') return null;
  const folder = join(dataFolder, 'tls');
  const { host } = management;
  return openTlsIdentity(managementTls, { folder, host, clock: systemClock, logger });
}
