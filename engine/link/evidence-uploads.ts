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
  type EvidenceRecordsAck,
  type UploadRequest,
  type UploadResponse,
} from '../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { evidenceLimits, linkLimits } from '../base/observation-limits.ts';
import type { EvidenceRecord } from '../contract/evidence.ts';
import type { UploadMessage } from './evidence-message.ts';
import { Outbox } from '../../base/outbox.ts';
import { runIdOf } from '../../base/supervisor-channel.ts';
import { isSmall, RecordMessages } from './record-messages.ts';
import { UploadSender } from './upload-sender.ts';

const nothing = new Uint8Array();

/** Where evidence goes. */
export interface EvidenceUploadOptions {
  readonly agentId: string;
  /** Of the enrollment; '' for the built-in node. */
  readonly streamToken?: string;
  readonly transport: () => Transport;
  readonly logger: Logger;
}

/** Evidence on its way to control. */
export class EvidenceUploads {
  readonly #options: EvidenceUploadOptions;
  /** By id, in the order of arrival. */
  readonly #waiting = new Map<string, EvidenceRecord>();
  /** Those that did not leave on the present stream: for messages of records, and others. */
  readonly #small = new Map<string, EvidenceRecord>();
  readonly #large = new Map<string, EvidenceRecord>();
  readonly #records = new RecordMessages();
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
    if (this.#bytes + weight <= this.#bytesMax) return this.#push(record, weight);
    const shrunk = withoutContent(record);
    const bare = weightOf(shrunk);
    if (this.#bytes + bare <= this.#bytesMax * 1.125) this.#push(shrunk, bare);
    else this.#note(1);
  }

  #push(record: EvidenceRecord, weight: number): void {
    this.#waiting.set(record.id, record);
    this.#bytes += weight;
    this.#queue(record);
  }

  #queue(record: EvidenceRecord): void {
    const queue = isSmall(record) ? this.#small : this.#large;
    queue.set(record.id, record);
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
      this.#requeue();
      if (this.#waiting.size < before) waitMs = linkLimits.reconnectMinMs;
      else waitMs = Math.min(waitMs * 2, linkLimits.reconnectMaxMs);
      if (!this.#stopped) await this.#pause(waitMs);
    }
    this.#running = false;
  }

  /** What left on a stream that ended is sent again. */
  #requeue(): void {
    this.#senders.clear();
    this.#records.clear();
    for (const queue of [this.#small, this.#large]) queue.clear();
    for (const record of this.#waiting.values()) this.#queue(record);
  }

  async #stream(): Promise<void> {
    const client = createClient(EvidenceUploadService, this.#options.transport());
    const outbox = new Outbox<UploadRequest>();
    this.#abort = new AbortController();
    this.#outbox = outbox;
    const { agentId, streamToken = '' } = this.#options;
    this.#send(outbox, { case: 'hello', value: { agentId, streamToken, runId: runIdOf() } });
    this.#fill();
    try {
      for await (const answer of client.upload(outbox, { signal: this.#abort.signal })) {
        this.#answered(answer, outbox);
      }
    } finally {
      outbox.close();
    }
  }

  #fill(): void {
    const outbox = this.#outbox;
    if (outbox === null) return;
    if (this.#records.agreed) {
      for (;;) {
        const message = this.#records.next(this.#small);
        if (message === null) break;
        this.#send(outbox, message);
      }
    } else this.#sendApart(outbox, this.#small);
    this.#sendApart(outbox, this.#large);
  }

  /** Sends evidence as uploads of their own. */
  #sendApart(outbox: Sending, queue: Map<string, EvidenceRecord>): void {
    for (const [id, record] of queue) {
      if (this.#senders.size >= evidenceLimits.uploadsInFlightMax) return;
      queue.delete(id);
      const sender = new UploadSender(record, this.#options.agentId);
      this.#senders.set(id, sender);
      this.#sendAll(outbox, sender.begin());
    }
  }

  #answered({ durableAck, welcome, recordsAck }: UploadResponse, outbox: Sending): void {
    if (welcome !== undefined) {
      this.#records.agree(welcome.recordsLayout);
      this.#fill();
    }
    if (recordsAck !== undefined) this.#recordsAcknowledged(recordsAck, outbox);
    if (durableAck !== undefined) this.#acknowledged(durableAck, outbox);
  }

  #recordsAcknowledged(ack: EvidenceRecordsAck, outbox: Sending): void {
    if (ack.status === EvidenceAckStatus.RETRYABLE) return outbox.close();
    const ids = this.#records.settle(ack.number);
    const refused = ack.error === '' ? ack.refused : ids.length;
    if (refused > 0) {
      const { error: reason } = ack;
      this.#options.logger.warn('control refused evidence of requests', { refused, reason });
    }
    for (const id of ids) this.#settle(id);
    this.#fill();
  }

  /** What became of it is known: nothing waits any more. */
  #settle(id: string): void {
    const record = this.#waiting.get(id);
    if (record === undefined) return;
    this.#waiting.delete(id);
    this.#bytes -= weightOf(record);
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
    this.#settle(evidenceId);
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

type Sending = Outbox<UploadRequest>;
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
