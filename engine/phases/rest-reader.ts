/** What makes inspected bodies of the pieces that follow the held part of a long one. */

import type { BodySnapshot } from '../contract/message.ts';

/** Makes of the pieces of a body what is inspected. */
export interface RestReader {
  /** What is inspected before any piece. */
  readonly first: BodySnapshot;
  /** Bytes of the next piece, but for the last. */
  readonly pieceBytes: number;
  /** True where the last byte of a body must not go before all was inspected. */
  readonly endsWhole: boolean;
  /** Why nothing more can be inspected: `refuse` the body, or only `stop`; null while it can. */
  readonly over: 'refuse' | 'stop' | null;
  /** Takes the next piece; null where nothing of it is to be inspected. */
  next(piece: Buffer, last: boolean): BodySnapshot | null;
}
