/** The requests of the differential bed, and what a reader takes from one. Plain data. */

import type { ByteString } from '../../base/byte-string.ts';

/** Which readers take the request. */
export type RequestKind = 'multipart' | 'form' | 'json' | 'xml' | 'cookie';

/** One request; texts are byte strings that a strict HTTP parser lets through. */
export interface BedRequest {
  readonly kind: RequestKind;
  readonly method: string;
  readonly target: ByteString;
  readonly headers: readonly (readonly [name: ByteString, value: ByteString])[];
  readonly body: Buffer;
}

/** What a backend handed to its application, in any order. */
export interface Reading {
  readonly names: readonly Buffer[];
  readonly values: readonly Buffer[];
  readonly fileNames: readonly Buffer[];
  /** False where it never answered: multer 2.5 waits for ever for the end of some bodies. */
  readonly answered: boolean;
}
