/**
 * The part of one answer's body that the rules were given, copied for evidence within the room for
 * captured bodies. Costs nothing where no other system asked for bodies of answers.
 */

import type { AnswerBody } from '../../contract/evidence.ts';
import type { BodySnapshot } from '../../contract/message.ts';
import type { BodyCapture, CaptureRoom } from './body-capture.ts';

const nothing = new Uint8Array();

/** The copy of one answer's body. */
export class AnswerCapture {
  private copy: BodyCapture | null = null;
  private cut = false;

  /** Copies what is inspected, as far as there is room and the log policy keeps bodies. */
  take(room: CaptureRoom, siteId: string, { bytes, truncated }: BodySnapshot): void {
    this.copy = room.openAnswer(siteId);
    if (this.copy === null) return;
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.copy.add(view, 0, view.length);
    this.cut = truncated;
  }

  /** What evidence says of the body; null where nobody asked for it. Valid until `drop`. */
  body(room: CaptureRoom, siteId: string): AnswerBody | null {
    if (!room.wantsAnswers) return null;
    if (!room.keepsBodies(siteId)) return { bytes: nothing, lack: 'log_policy' };
    if (this.copy === null) return { bytes: nothing, lack: 'not_held' };
    const { bytes, crowded } = this.copy.captured();
    if (crowded) return { bytes, lack: 'inflight_limit' };
    return { bytes, lack: this.cut || this.copy.cut ? 'cut' : '' };
  }

  /** Gives up what is held. */
  drop(): void {
    this.copy?.drop();
    this.copy = null;
  }
}
