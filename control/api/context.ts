/** What every RPC works with: the parts of the process, and who calls. */

import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import type { BuildInfo } from '../../base/build-info.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Deliveries } from '../alert/deliver.ts';
import type { ClientIpAnalyses } from '../access/client-ip-analyses.ts';
import type { OutgoingLimits } from '../access/outgoing.ts';
import type { Acme } from '../acme/acme.ts';
import type { ChallengeBoard } from '../acme/challenge-board.ts';
import type { Subscriptions } from '../access/subscriptions.ts';
import type { Caller } from '../auth/permissions.ts';
import type { Passkeys } from '../auth/passkeys.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { SignIn } from '../auth/sign-in.ts';
import type { OtlpStats } from '../export/otlp/record-exporter.ts';
import type { SiemExports } from '../export/siem-exports.ts';
import { refusal } from '../domain/errors.ts';
import type { ViolationSamples } from '../observe/violation-samples.ts';
import type { CounterStore } from '../observe/counter-store.ts';
import type { EventStore } from '../observe/event-store.ts';
import type { EvidenceKeys } from '../observe/evidence/evidence-keyring.ts';
import type { EvidenceStore } from '../observe/evidence/evidence-store.ts';
import type { NodeLoadStore } from '../observe/node-load.ts';
import type { ObservationPipeline } from '../observe/pipeline.ts';
import type { StorageMonitor } from '../observe/storage-monitor.ts';
import type { DocumentWorker } from '../documents/document-worker.ts';
import type { ManifestReader } from '../publish/manifests/manifest-reader.ts';
import type { DeliveryNotes } from '../publish/publication-log.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { ProgramPackage } from '../release/program-package.ts';
import type { ReleaseFiles } from '../release/release-files.ts';
import type { AuditNote } from '../store/audit-chain.ts';
import type { InstallationRecord } from '../store/installation.ts';
import type { Store } from '../store/store.ts';
import type { RequestPeer } from './listener/connections.ts';
import type { AgentNotes } from './nodes/agent-notes.ts';
import type { NodeAuthority } from './nodes/node-authority.ts';
import type { NodeStreams } from './nodes/node-streams.ts';
import type { UpgradeRunner } from './nodes/upgrade-runner.ts';
import type { EngineClient } from './engine-client.ts';
import type { NodeRegistry } from './nodes/node-registry.ts';
import type { InventoryCounts } from './telemetry/inventory-counts.ts';

/** The parts that methods use. */
export interface ApiParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  readonly passkeys: Passkeys;
  readonly events: EventStore;
  readonly evidence: EvidenceStore;
  /** What evidence is encrypted with. */
  readonly evidenceKeys: EvidenceKeys;
  /** How full the log store is. */
  readonly storage: StorageMonitor;
  readonly counters: CounterStore;
  /** Sizes of the API inventories. */
  readonly inventory: InventoryCounts;
  /** Requests that broke API documents, where the log policy keeps them. */
  readonly samples: ViolationSamples;
  readonly load: NodeLoadStore;
  readonly pipeline: ObservationPipeline;
  /** What is sent to SIEM targets. */
  readonly siem: SiemExports;
  /** What became of log records and of spans for an OTLP collector, where they are sent. */
  readonly otlpQueues: () => OtlpStats;
  readonly publisher: Publisher;
  readonly engine: EngineClient;
  readonly readManifest: ManifestReader;
  readonly documents: DocumentWorker;
  readonly nodes: NodeRegistry;
  /** Signs what enrolled nodes prove themselves with. */
  readonly authority: NodeAuthority;
  /** Streams of nodes that are open. */
  readonly streams: NodeStreams;
  /** Keeps what streams said of enrolled nodes. */
  readonly agentNotes: AgentNotes;
  /** Keeps what became of configurations on nodes. */
  readonly deliveryNotes: DeliveryNotes;
  /** Roll-outs of releases. */
  readonly upgrades: UpgradeRunner;
  /** What nodes answer to certificate authorities. */
  readonly challenges: ChallengeBoard;
  /** Managed certificates. */
  readonly acme: Acme;
  readonly subscriptions: Subscriptions;
  /** Messages about alerts on their way. */
  readonly deliveries: Deliveries;
  /** Bounds of fetches where they differ from the standard ones. */
  readonly fetchLimits: Partial<OutgoingLimits>;
  readonly analyses: ClientIpAnalyses;
  readonly build: BuildInfo;
  /** What several controllers of one store do not share, as sentences. */
  readonly notShared: readonly string[];
  readonly installation: InstallationRecord;
  /** Folder of everything that control keeps. */
  readonly dataFolder: string;
  /** The running program as one file. */
  readonly program: ProgramPackage;
  /** Files of imported releases. */
  readonly releases: ReleaseFiles;
  /** The authority of the management certificate, PEM; '' for one that clients know anyway. */
  readonly managementAuthority: () => string;
  /** Marks cookies Secure; off only where the management listener speaks plain HTTP. */
  readonly secureCookies: boolean;
}

/** What a function uses of the parts. */
export type Uses<Part extends keyof ApiParts> = Pick<ApiParts, Part>;

/** Where a call came in. */
export type Entrance = 'socket' | 'network';

/** The caller; null where there is none. */
export const callerKey = createContextKey<Caller | null>(null, { description: 'caller' });
/** Where the call came in. */
export const entranceKey = createContextKey<Entrance>('network', { description: 'entrance' });
/** Address of the peer; empty on the socket. */
export const addressKey = createContextKey<string>('', { description: 'peer address' });

/** The connection that the call came over; null in calls that came over none. */
export const peerKey = createContextKey<RequestPeer | null>(null, { description: 'connection' });

/** The caller of an RPC that is not public. */
export function callerOf(context: HandlerContext): Caller {
  const caller = context.values.get(callerKey);
  if (caller === null) throw refusal('unauthenticated', 'sign in, or send a valid bearer token');
  return caller;
}

/** The actor's part of an audit row. */
export function actorNote(caller: Caller): Pick<AuditNote, 'actorId' | 'actorName' | 'tenantId'> {
  const { userId, username, tenantId, token } = caller;
  const actorName = token === undefined ? username : `${username} (token ${token.name})`;
  return { actorId: userId, actorName, tenantId };
}
