/**
 * Packs evidence whose body is small into messages of many records, and knows which of them are on
 * their way on the present stream. Until control has said that it reads them there are none.
 */

import { crc32c } from '../../base/crc32c.ts';
import { evidenceLayout, EvidenceWriter } from '../../base/evidence-layout.ts';
import { evidenceLimits } from '../base/observation-limits.ts';
import type { EvidenceRecord } from '../contract/evidence.ts';
import type { UploadMessage } from './evidence-message.ts';

/** True for evidence that may travel between others. */
export function isSmall({ headers, body, target, answer, answerBody }: EvidenceRecord): boolean {
  const answered = answer.headers.length + (answerBody?.bytes.length ?? 0);
  const { recordBodyBytesMax, recordBytesMax } = evidenceLimits;
  const whole = headers.length + body.length + target.length + answered;
  return body.length <= recordBodyBytesMax && whole <= recordBytesMax;
}

/** Messages of records on one stream. */
export class RecordMessages {
  readonly #writer = new EvidenceWriter();
  /** Ids in messages on their way, by the number of the message. */
  readonly #sent = new Map<bigint, readonly string[]>();
  #next = 1n;
  #agreed = false;

  /** True once control reads what is written here. */
  get agreed(): boolean {
    return this.#agreed;
  }

  /** Control reads records of this layout; 0 for none. */
  agree(layout: number): void {
    this.#agreed = layout === evidenceLayout;
  }

  /** A stream ended: nothing is on its way, and nothing is agreed. */
  clear(): void {
    this.#sent.clear();
    this.#agreed = false;
  }

  /** The next message, whose records leave the queue; null where none may leave now. */
  next(queue: Map<string, EvidenceRecord>): UploadMessage | null {
    const { recordMessagesInFlightMax, recordsBytesMax, recordsMax } = evidenceLimits;
    if (queue.size === 0 || this.#sent.size >= recordMessagesInFlightMax) return null;
    const ids: string[] = [];
    for (const [id, record] of queue) {
      this.#writer.add(record);
      ids.push(id);
      queue.delete(id);
      if (ids.length >= recordsMax || this.#writer.length >= recordsBytesMax) break;
    }
    const number = this.#next++;
    this.#sent.set(number, ids);
    const data = this.#writer.take();
    return { case: 'records', value: { number, data, crc32c: crc32c(data) } };
  }

  /** Control has answered a message: the ids in it. */
  settle(number: bigint): readonly string[] {
    const ids = this.#sent.get(number) ?? [];
    this.#sent.delete(number);
    return ids;
  }
}
