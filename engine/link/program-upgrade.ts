/**
 * What a node does with orders to replace its program: places the new one, notifies the supervisor,
 * which ends this process, and after the next connection reports to the controller what happened.
 */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  AgentCommandKind,
  type AgentCommand,
  type AgentCommandResultSchema,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { NodeIdentity } from '../../base/node-identity.ts';
import { readNodeProgram, stageProgram, writeNodeProgram } from '../../base/node-program.ts';
import { placeRelease, type OrderedRelease } from './program-download.ts';

type Result = MessageInitShape<typeof AgentCommandResultSchema>;

/** What an upgrade needs of its node. */
export interface UpgradeOptions {
  readonly dataFolder: string;
  readonly identity: () => NodeIdentity;
  readonly logger: Logger;
  /** Tells the supervisor; null where there is none that could start another program. */
  readonly notify: ((type: 'connected' | 'staged') => void) | null;
}

/** Orders of the controller to this node. */
export class ProgramUpgrade {
  readonly #options: UpgradeOptions;
  readonly #abort = new AbortController();
  /** The order that is carried out; '' for none. */
  #busy = '';

  constructor(options: UpgradeOptions) {
    this.#options = options;
  }

  /** The controller took this node: a trial is proved, and the last outcome is sent again. */
  connected(send: (result: Result) => void): void {
    this.#options.notify?.('connected');
    const { state, commandId, outcome } = readNodeProgram(this.#options.dataFolder);
    if (state === 'trial') send({ commandId, success: true });
    else if (outcome !== null) send(outcome);
  }

  /** Carries an order out; the same order again changes nothing. Never throws. */
  async order(command: AgentCommand, send: (result: Result) => void): Promise<void> {
    const { dataFolder, logger, notify } = this.#options;
    const { id: commandId } = command;
    const program = readNodeProgram(dataFolder);
    if (this.#busy === commandId || program.commandId === commandId) return;
    if (program.outcome?.commandId === commandId) return send(program.outcome);
    try {
      if (notify === null) throw new Error('it runs without waf agent run, which starts programs');
      if (this.#busy !== '') throw new Error('another upgrade is being carried out');
      if (program.state !== 'settled') throw new Error('another program is being tried');
      this.#busy = commandId;
      const next = await this.#place(command, program.previous);
      if (next === program.current) {
        // Staging it would make it what a rollback goes back to.
        this.#busy = '';
        logger.info('the ordered program runs already', { program: next });
        return send({ commandId, success: true });
      }
      writeNodeProgram(dataFolder, stageProgram(readNodeProgram(dataFolder), next, commandId));
      logger.info('another program is placed and will be started', { program: next });
      notify('staged');
    } catch (error) {
      if (this.#busy === commandId) this.#busy = '';
      const { message } = toAppError(error);
      logger.error('this node was not upgraded', { reason: message });
      send({ commandId, success: false, error: message });
    }
  }

  /** Breaks off a download. */
  close(): void {
    this.#abort.abort();
  }

  async #place(command: AgentCommand, previous: string | null): Promise<string> {
    if (command.kind !== AgentCommandKind.APPLY_BINARY) throw new Error('the order is unknown');
    const payload = command.payload ?? {};
    if (payload['rollback'] === true) {
      if (previous === null) throw new Error('there is no previous program to go back to');
      return previous;
    }
    const { dataFolder, identity } = this.#options;
    const where = { dataFolder, identity: identity(), signal: this.#abort.signal };
    return placeRelease(readOrder(payload), where);
  }
}

/** Errors: an error that names the field. */
function readOrder(payload: Readonly<Record<string, unknown>>): OrderedRelease {
  const text = (name: string, form: RegExp): string => {
    const value = payload[name];
    if (typeof value === 'string' && form.test(value)) return value;
    throw new Error(`the order has no proper ${name}`);
  };
  return {
    version: text('version', /^[0-9][0-9A-Za-z.-]{0,63}$/),
    sha256: text('sha256', /^[0-9a-f]{64}$/),
    sizeBytes: Number(text('size_bytes', /^[1-9][0-9]{0,11}$/)),
    signature: text('signature', /^[\x20-\x7e\n]{1,2048}$/),
    downloadPath: text('download_path', /^\/[!-~]{0,511}$/),
  };
}
