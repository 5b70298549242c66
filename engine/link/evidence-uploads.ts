/**
 * Brings evidence to control over a stream of its own, so that bodies hold up nothing else. What
 * waits is bounded: then the contents of new evidence are given up, and at last the evidence. It
 * waits in memory and ends with the process.
 */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import {
  EvidenceAckStatus,
  EvidenceUploadService,
  UploadRequestSchema,
  type EvidenceDurableAck,
  type UploadRequest,
} from '../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { evidenceLimits, linkLimits } from '../base/observation-limits.ts';
import type { EvidenceRecord } from '../contract/evidence.ts';
import { uploadMessages } from './evidence-message.ts';
import { Outbox } from './outbox.ts';

const nothing = new Uint8Array();

/** Where evidence goes. */
export interface EvidenceUploadOptions {
  readonly agentId: string;
  /** Of the enrolment; '' for the built-in node. */
  readonly streamToken?: string;
  readonly transport: () => Transport;
  readonly logger: Logger;
}

/** Evidence on its way to control. */
export class EvidenceUploads {
  readonly #options: EvidenceUploadOptions;
  /** In the order of arrival; the first `#sent` of them were sent. */
  #waiting: EvidenceRecord[] = [];
  #sent = 0;
  #bytes = 0;
  #bytesMax: number = evidenceLimits.queueBytesMax;
  #dropped = 0;
  #outbox: Outbox<UploadRequest> | null = null;
  #running = false;
  #stopped = false;
  #abort = new AbortController();
  #wake: (() => void) | null = null;

  constructor(options: EvidenceUploadOptions) {
    this.#options = options;
  }

  /** What the log policy allows to wait. */
  bound(bytes: number): void {
    this.#bytesMax = Math.min(bytes, evidenceLimits.queueBytesMax);
  }

  /** Takes evidence; `dropped` counts what was lost before. Never throws, never blocks. */
  add(records: readonly EvidenceRecord[], dropped: number): void {
    this.#note(dropped);
    for (const record of records) this.#keep(record);
    if (this.#running) this.#fill();
    else if (!this.#stopped) void this.#run();
  }

  /** Evidence that waits, its bytes, and what was given up. */
  stats(): { readonly waiting: number; readonly bytes: number; readonly dropped: number } {
    return { waiting: this.#waiting.length, bytes: this.#bytes, dropped: this.#dropped };
  }

  /** Waits a moment for what is under way. */
  async close(): Promise<void> {
    for (let waited = 0; waited < linkLimits.closeWaitMs && this.#isUnderWay(); waited += 20) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    this.#stopped = true;
    this.#outbox?.close();
    this.#abort.abort();
    this.#wake?.();
  }

  #isUnderWay(): boolean {
    return this.#outbox !== null && this.#waiting.length > 0;
  }

  #note(dropped: number): void {
    if (dropped === 0) return;
    if (this.#dropped === 0) {
      this.#options.logger.warn('evidence of requests is lost: more comes than control takes');
    }
    this.#dropped += dropped;
  }

  #keep(record: EvidenceRecord): void {
    const weight = weightOf(record);
    const bare = weightOf({ ...record, headers: nothing, body: nothing });
    if (this.#bytes + weight <= this.#bytesMax) this.#push(record, weight);
    else if (this.#bytes + bare <= this.#bytesMax * 1.125) {
      this.#push({ ...record, headers: nothing, body: nothing, lack: 'queue_full' }, bare);
    } else this.#note(1);
  }

  #push(record: EvidenceRecord, weight: number): void {
    this.#waiting.push(record);
    this.#bytes += weight;
  }

  async #run(): Promise<void> {
    this.#running = true;
    let waitMs: number = linkLimits.reconnectMinMs;
    while (!this.#stopped && this.#waiting.length > 0) {
      const before = this.#waiting.length;
      try {
        await this.#stream();
      } catch (error) {
        const reason = toAppError(error).message;
        if (!this.#stopped) this.#options.logger.debug('an evidence upload ended', { reason });
      }
      this.#outbox = null;
      this.#sent = 0;
      if (this.#waiting.length < before) waitMs = linkLimits.reconnectMinMs;
      else waitMs = Math.min(waitMs * 2, linkLimits.reconnectMaxMs);
      if (!this.#stopped) await this.#pause(waitMs);
    }
    this.#running = false;
  }

  async #stream(): Promise<void> {
    const client = createClient(EvidenceUploadService, this.#options.transport());
    const outbox = new Outbox<UploadRequest>();
    this.#abort = new AbortController();
    this.#outbox = outbox;
    const { agentId, streamToken = '' } = this.#options;
    this.#send(outbox, { case: 'hello', value: { agentId, streamToken } });
    this.#fill();
    try {
      for await (const { durableAck } of client.upload(outbox, { signal: this.#abort.signal })) {
        if (durableAck !== undefined) this.#acknowledged(durableAck, outbox);
      }
    } finally {
      outbox.close();
    }
  }

  #fill(): void {
    const outbox = this.#outbox;
    if (outbox === null) return;
    while (this.#sent < this.#waiting.length && this.#sent < evidenceLimits.uploadsInFlightMax) {
      const record = this.#waiting[this.#sent++]!;
      for (const message of uploadMessages(record, this.#options.agentId)) {
        this.#send(outbox, message);
      }
    }
  }

  #acknowledged({ evidenceId, status }: EvidenceDurableAck, outbox: Outbox<UploadRequest>): void {
    if (status === EvidenceAckStatus.CONTINUE) return;
    // What control could not keep now is sent again on the next stream.
    if (status === EvidenceAckStatus.RETRYABLE) return outbox.close();
    const at = this.#waiting.findIndex(({ id }) => id === evidenceId);
    if (at < 0 || at >= this.#sent) return;
    const [done] = this.#waiting.splice(at, 1);
    this.#sent--;
    this.#bytes -= weightOf(done!);
    this.#fill();
  }

  #send(outbox: Outbox<UploadRequest>, message: UploadMessage): void {
    outbox.push(makeRequest(message));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

type UploadMessage = MessageInitShape<typeof UploadRequestSchema>['message'];

function makeRequest(message: UploadMessage): UploadRequest {
  return create(UploadRequestSchema, message === undefined ? {} : { message });
}

function weightOf({ headers, body, target }: EvidenceRecord): number {
  return headers.length + body.length + target.length + evidenceLimits.recordBytes;
}
