/**
 * Carries upgrade runs out: sends orders to nodes that are connected, hears what became of them,
 * and keeps every step before it acts on it, so that a controller that starts again continues where
 * it was. One run at a time. Controllers that share a store each order the nodes that are connected
 * to them. Never decides how a run proceeds: domain/upgrade-run.ts does.
 */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Clock } from '../../../base/clock.ts';
import { toAppError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import {
  AgentCommandKind,
  AgentCommandStatus,
  type AgentCommandResult,
  type AgentCommandSchema,
} from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import { refusal } from '../../domain/errors.ts';
import {
  advanceRun,
  isOpen,
  nodesInTurn,
  type RunInput,
  type UpgradeRunRecord,
} from '../../domain/release/upgrade-run.ts';
import { upgradeLimits } from '../../limits/upgrade-limits.ts';
import type { AuditNote } from '../../store/audit-chain.ts';
import { agents, binaryReleases, upgradeRuns } from '../../store/collections.ts';
import type { Store, WriteStore } from '../../store/store.ts';
import type { NodeEventKind, NodeRegistry } from './node-registry.ts';

type Command = MessageInitShape<typeof AgentCommandSchema>;

/** The stream of one node, and the orders that went over it. */
interface Connected {
  readonly send: (command: Command) => void;
  readonly ordered: Set<string>;
}

/** The runs. */
export class UpgradeRunner {
  readonly #store: Store;
  readonly #nodes: NodeRegistry;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #connected = new Map<string, Connected>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #leave: () => void;
  #open: UpgradeRunRecord | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;

  constructor(store: Store, nodes: NodeRegistry, clock: Clock, logger: Logger) {
    this.#store = store;
    this.#nodes = nodes;
    this.#clock = clock;
    this.#logger = logger;
    this.#leave = store.onChange((changed) => {
      if (changed.has(upgradeRuns.name)) this.#runsChanged();
    });
    this.#runsChanged();
  }

  /** A node connected; returns the undo. */
  join(nodeId: string, send: (command: Command) => void): () => void {
    const connected = { send, ordered: new Set<string>() };
    this.#connected.set(nodeId, connected);
    this.#order();
    return () => {
      if (this.#connected.get(nodeId) === connected) this.#connected.delete(nodeId);
    };
  }

  /** A node says what became of an order; what belongs to no run is ignored. */
  answered(nodeId: string, { commandId, success, error }: AgentCommandResult): void {
    const run = this.#store.get(upgradeRuns, commandId);
    if (run === undefined) return;
    const node = this.#nodes.get(nodeId);
    const version = node?.version ?? '';
    const wrong = success && run.release !== null && version !== run.release.version;
    const fault = wrong ? `the node runs ${version.slice(0, 64)} after the upgrade` : error;
    const input: RunInput =
      success && !wrong
        ? { type: 'updated', agentId: nodeId, version }
        : { type: 'failed', agentId: nodeId, error: fault };
    const told = success && !wrong ? 'command_succeeded' : 'command_failed';
    void this.#inOrder(async () => {
      if (await this.#change(commandId, input)) this.#tell(nodeId, told, commandId);
    });
  }

  /**
   * Keeps a new run and begins it. Errors: failed_precondition while another one is open, and for
   * a release that is gone.
   */
  async start(run: UpgradeRunRecord, note: AuditNote): Promise<UpgradeRunRecord> {
    await this.#store.write((tx) => {
      const other = tx.list(upgradeRuns).find(isOpen);
      if (other !== undefined) {
        const hint = 'cancel it, or wait for its end';
        throw refusal('failed_precondition', `run ${other.id} is open: ${hint}`);
      }
      if (run.release !== null && tx.get(binaryReleases, run.release.id) === undefined) {
        throw refusal('failed_precondition', `release ${run.release.id} was deleted meanwhile`);
      }
      tx.put(upgradeRuns, run);
      forgetOldest(tx);
      tx.audit(note);
    });
    await this.#stepsKept();
    return this.#store.get(upgradeRuns, run.id) ?? run;
  }

  /** Ends a run; nodes that have an order finish it. */
  async cancel(id: string, note: AuditNote): Promise<void> {
    await this.#inOrder(async () => {
      await this.#change(id, { type: 'cancel' }, note);
    });
  }

  /** Calls back after every step of a run; returns the undo. Errors: resource_exhausted. */
  watch(id: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(id) ?? new Set();
    if (listeners.size >= upgradeLimits.readersMax) {
      throw refusal('resource_exhausted', `at most ${upgradeLimits.readersMax} read one run`);
    }
    this.#listeners.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(id);
    };
  }

  /** Looks for nodes that did not answer in time, or are gone. */
  look(): void {
    void this.#inOrder(async () => {
      const run = this.#open;
      if (run === null) return;
      // The store may not have taken its start.
      if (run.state === 'pending') await this.#change(run.id, { type: 'start' });
      for (const { agentId } of nodesInTurn(run)) {
        if (this.#store.get(agents, agentId) !== undefined) continue;
        await this.#change(run.id, { type: 'failed', agentId, error: 'the node was deleted' });
      }
      await this.#change(run.id, { type: 'look' });
      this.#order();
    });
  }

  /** Resolves when the steps that are under way are kept. */
  async close(): Promise<void> {
    this.#leave();
    this.#stopLooking();
    await this.#stepsKept();
  }

  /** This controller, or another one, made or changed a run. */
  #runsChanged(): void {
    const before = this.#open?.id;
    const known = before === undefined ? undefined : this.#store.get(upgradeRuns, before);
    const open = known !== undefined && isOpen(known) ? known : this.#openRun();
    this.#open = open;
    if (open === null) this.#stopLooking();
    else this.#timer ??= setInterval(() => this.look(), upgradeLimits.lookEveryMs).unref();
    if (open?.state === 'pending' && open.id !== before) {
      void this.#inOrder(async () => {
        await this.#change(open.id, { type: 'start' });
      });
    }
    for (const listeners of this.#listeners.values()) {
      for (const listener of listeners) listener();
    }
    this.#order();
  }

  #openRun(): UpgradeRunRecord | null {
    return this.#store.list(upgradeRuns).find(isOpen) ?? null;
  }

  #stopLooking(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Resolves when no step is under way; a step may lead to another one. */
  async #stepsKept(): Promise<void> {
    for (let last: unknown = null; last !== this.#last;) {
      last = this.#last;
      await last;
    }
  }

  /** One step after the other: each begins with what the one before it kept. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(work);
    this.#last = result.catch((error: unknown) => {
      const reason = toAppError(error).message;
      this.#logger.error('a step of an upgrade run could not be kept', { reason });
    });
    return result;
  }

  /** Keeps what a run is after `input`; true when that changed it. */
  #change(id: string, input: RunInput, note?: AuditNote): Promise<boolean> {
    return this.#store.write((tx) => {
      const found = tx.get(upgradeRuns, id);
      const next = found && advanceRun(found, input, this.#clock.nowMs());
      if (next === undefined || next === found) return false;
      tx.put(upgradeRuns, next);
      if (note !== undefined) tx.audit(note);
      return true;
    });
  }

  /**
   * Orders what is due of nodes that are connected; again over every new connection. An order is
   * kept before it is sent: what this controller knows may be older than what another one, which
   * canceled the run, has kept.
   */
  #order(): void {
    const run = this.#open;
    if (run === null) return;
    for (const { agentId, state } of nodesInTurn(run)) {
      const connected = this.#connected.get(agentId);
      if (connected === undefined || connected.ordered.has(run.id)) continue;
      connected.ordered.add(run.id);
      if (state === 'ordered') this.#send(connected, run, agentId);
      else void this.#inOrder(() => this.#orderOnceKept(connected, run, agentId));
    }
  }

  async #orderOnceKept(
    connected: Connected,
    run: UpgradeRunRecord,
    agentId: string,
  ): Promise<void> {
    try {
      await this.#change(run.id, { type: 'ordered', agentId });
    } catch (error) {
      // It is due still: the next look tries again.
      connected.ordered.delete(run.id);
      throw error;
    }
    const kept = this.#store.get(upgradeRuns, run.id);
    const isDue = kept !== undefined && nodesInTurn(kept).some((one) => one.agentId === agentId);
    if (isDue && this.#connected.get(agentId) === connected) this.#send(connected, run, agentId);
  }

  #send(connected: Connected, run: UpgradeRunRecord, agentId: string): void {
    connected.send(commandOf(run, agentId));
    this.#tell(agentId, 'command_sent', run.id);
  }

  #tell(nodeId: string, kind: NodeEventKind, commandId: string): void {
    const payload = { commandId, kind: 'apply_binary' };
    this.#nodes.note({ nodeId, kind, atMs: this.#clock.nowMs(), payload });
  }
}

/** Where nodes download the file of a release. */
export const nodeReleasePath = '/bootstrap/binary';

function commandOf({ id, release, createdAt }: UpgradeRunRecord, agentId: string): Command {
  return {
    id,
    agentId,
    kind: AgentCommandKind.APPLY_BINARY,
    status: AgentCommandStatus.SENT,
    createdAt: timestampFromMs(Date.parse(createdAt)),
    payload:
      release === null
        ? { rollback: true }
        : {
            release_id: release.id,
            version: release.version,
            sha256: release.sha256,
            size_bytes: release.sizeBytes,
            signature: release.signature,
            download_path: `${nodeReleasePath}?release=${encodeURIComponent(release.id)}`,
          },
  };
}

function forgetOldest(tx: WriteStore): void {
  const surplus = tx.count(upgradeRuns) - upgradeLimits.runsKept;
  if (surplus <= 0) return;
  const ended = tx.list(upgradeRuns).filter((run) => !isOpen(run));
  ended.sort((left, right) => left.createdAt.localeCompare(right.createdAt));
  for (const { id } of ended.slice(0, surplus)) tx.remove(upgradeRuns, id);
}
