/**
 * Brings evidence to control over a stream of its own, so that bodies hold up nothing else. What
 * waits is bounded: then the contents of new evidence are given up, and at last the evidence. It
 * waits in memory and ends with the process. A large body continues where a stream broke.
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
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { evidenceLimits, linkLimits } from '../base/observation-limits.ts';
import type { EvidenceRecord } from '../contract/evidence.ts';
import type { UploadMessage } from './evidence-message.ts';
import { Outbox } from './outbox.ts';
import { UploadSender } from './upload-sender.ts';

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
  /** By id, in the order of arrival. */
  readonly #waiting = new Map<string, EvidenceRecord>();
  /** Those that the present stream announced, by id. */
  readonly #senders = new Map<string, UploadSender>();
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
    return { waiting: this.#waiting.size, bytes: this.#bytes, dropped: this.#dropped };
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
    return this.#outbox !== null && this.#waiting.size > 0;
  }

  #note(dropped: number): void {
    if (dropped === 0) return;
    if (this.#dropped === 0) {
      this.#options.logger.warn('evidence of requests is lost: more comes than control takes');
    }
    this.#dropped += dropped;
  }

  #keep(record: EvidenceRecord): void {
    if (this.#waiting.has(record.id)) return;
    const weight = weightOf(record);
    const shrunk = withoutContent(record);
    const bare = weightOf(shrunk);
    if (this.#bytes + weight <= this.#bytesMax) this.#push(record, weight);
    else if (this.#bytes + bare <= this.#bytesMax * 1.125) {
      this.#push(shrunk, bare);
    } else this.#note(1);
  }

  #push(record: EvidenceRecord, weight: number): void {
    this.#waiting.set(record.id, record);
    this.#bytes += weight;
  }

  async #run(): Promise<void> {
    this.#running = true;
    let waitMs: number = linkLimits.reconnectMinMs;
    while (!this.#stopped && this.#waiting.size > 0) {
      const before = this.#waiting.size;
      try {
        await this.#stream();
      } catch (error) {
        const reason = toAppError(error).message;
        if (!this.#stopped) this.#options.logger.debug('an evidence upload ended', { reason });
      }
      this.#outbox = null;
      this.#senders.clear();
      if (this.#waiting.size < before) waitMs = linkLimits.reconnectMinMs;
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
    for (const [id, record] of this.#waiting) {
      if (this.#senders.size >= evidenceLimits.uploadsInFlightMax) return;
      if (this.#senders.has(id)) continue;
      const sender = new UploadSender(record, this.#options.agentId);
      this.#senders.set(id, sender);
      this.#sendAll(outbox, sender.begin());
    }
  }

  #acknowledged(ack: EvidenceDurableAck, outbox: Outbox<UploadRequest>): void {
    const { evidenceId, status, durableThroughOffset } = ack;
    const sender = this.#senders.get(evidenceId);
    if (sender === undefined) return;
    if (status === EvidenceAckStatus.CONTINUE) {
      return this.#sendAll(outbox, sender.continue(Number(durableThroughOffset)));
    }
    // What control could not keep now is sent again on the next stream.
    if (status === EvidenceAckStatus.RETRYABLE) return outbox.close();
    this.#senders.delete(evidenceId);
    this.#waiting.delete(evidenceId);
    this.#bytes -= weightOf(sender.record);
    this.#fill();
  }

  #sendAll(outbox: Outbox<UploadRequest>, messages: readonly UploadMessage[]): void {
    for (const message of messages) this.#send(outbox, message);
  }

  #send(outbox: Outbox<UploadRequest>, message: Sent): void {
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

type Sent = MessageInitShape<typeof UploadRequestSchema>['message'];

function makeRequest(message: Sent): UploadRequest {
  return create(UploadRequestSchema, message === undefined ? {} : { message });
}

function withoutContent(record: EvidenceRecord): EvidenceRecord {
  const lack = 'queue_full';
  const answered = record.answerBody && { answerBody: { bytes: nothing, lack } as const };
  return { ...record, headers: nothing, body: nothing, lack, ...answered };
}

function weightOf({ headers, body, target, answer, answerBody }: EvidenceRecord): number {
  const answered = answer.headers.length + (answerBody?.bytes.length ?? 0);
  const content = headers.length + body.length + answered;
  return content + target.length + evidenceLimits.recordBytes;
}
