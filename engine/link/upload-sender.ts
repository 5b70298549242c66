/**
 * Decides which messages of one upload may leave on one stream. A body of one piece leaves at once.
 * For larger ones control first says how much it has from a stream that broke; then a window of the
 * body is on its way. Gives messages, sends none.
 */

import { crc32c } from '../../base/crc32c.ts';
import { evidenceLimits } from '../base/observation-limits.ts';
import type { EvidenceRecord } from '../contract/evidence.ts';
import {
  chunkMessage,
  commitMessage,
  manifestMessage,
  type UploadMessage,
} from './evidence-message.ts';

const { chunkBytesMax, uploadWindowBytes } = evidenceLimits;

/** One upload on one stream. */
export class UploadSender {
  readonly record: EvidenceRecord;
  readonly #agentId: string;
  readonly #sum: number;
  /** How much of the body was sent, or need not be; null until control says where to begin. */
  #next: number | null = null;
  #committed = false;

  constructor(record: EvidenceRecord, agentId: string) {
    this.record = record;
    this.#agentId = agentId;
    this.#sum = crc32c(record.body);
  }

  /** What leaves first. */
  begin(): UploadMessage[] {
    const { record } = this;
    const first = [manifestMessage(record, this.#agentId, this.#sum)];
    if (record.body.length > chunkBytesMax) return first;
    this.#committed = true;
    if (record.body.length > 0) first.push(chunkMessage(record, 0));
    return [...first, commitMessage(record, this.#sum)];
  }

  /** What leaves once control has `durable` bytes of the body. */
  continue(durable: number): UploadMessage[] {
    const { record } = this;
    const { length } = record.body;
    if (this.#committed || durable > length) return [];
    const messages: UploadMessage[] = [];
    this.#next ??= durable;
    while (this.#next < Math.min(length, durable + uploadWindowBytes)) {
      messages.push(chunkMessage(record, this.#next));
      this.#next = Math.min(length, this.#next + chunkBytesMax);
    }
    if (this.#next < length) return messages;
    this.#committed = true;
    return [...messages, commitMessage(record, this.#sum)];
  }
}
