/** What is kept of requests themselves, beside their events. Plain data. */

/** What was captured of a body. */
export interface CapturedBody {
  /** Valid during the call that it was asked for in. */
  readonly bytes: Uint8Array;
  /** There was no room for more among requests that run. */
  readonly crowded: boolean;
}

/** Where evidence of a finished request is read from; valid during the call only. */
export interface EvidenceSource {
  /** Lines of header fields, as they came; empty when none was read. */
  headerLines(): Uint8Array;
  /** The head of the answer as the client got it; empty when none was sent. */
  answerHead(): Uint8Array;
  /** What was captured of the body. */
  capturedBody(): CapturedBody | null;
  /** What was captured of the answer's body; null where nobody asked for it. */
  answerBody(): AnswerBody | null;
}

/** Why there is less than was asked for; '' for no reason. */
export type EvidenceLack =
  | ''
  /** Requests that ran held too much. */
  | 'inflight_limit'
  /** Finished evidence waited for control. */
  | 'queue_full'
  /** The log policy keeps no bodies; header fields are there. */
  | 'body_off';

/** Why the body of an answer is not there, or not whole; '' for one that is whole. */
export const answerBodyLacks = [
  '',
  /** Only its beginning was inspected, or has room. */
  'cut',
  /** The log policy keeps no bodies. */
  'log_policy',
  /** The rules did not inspect it, or the answer is our own. */
  'not_held',
  'inflight_limit',
  'queue_full',
] as const;

/** The part of an answer's body that the rules were given. */
export interface AnswerBody {
  readonly bytes: Uint8Array;
  readonly lack: (typeof answerBodyLacks)[number];
}

/** What is kept of an answer, its body apart. */
export interface EvidenceAnswer {
  /** 0 where none was sent. */
  readonly status: number;
  /** Lines of header fields; values of secrets are hidden. */
  readonly headers: Uint8Array;
  /** Some lines had no room. */
  readonly truncated: boolean;
}

/** Evidence of one request. Texts from outside are byte strings. */
export interface EvidenceRecord {
  readonly id: string;
  readonly requestId: string;
  readonly siteId: string;
  readonly receivedAtMs: number;
  readonly completedAtMs: number;
  readonly clientIp: string;
  readonly httpVersion: string;
  readonly reason: 'security' | 'access';
  readonly method: string;
  readonly host: string;
  readonly target: string;
  /** Bytes of header lines that came. */
  readonly headerBytes: number;
  readonly headers: Uint8Array;
  /** Bytes of the body that came. */
  readonly bodyBytes: number;
  readonly body: Uint8Array;
  /** What was answered. */
  readonly answer: EvidenceAnswer;
  /** Absent where nobody asked for it. */
  readonly answerBody?: AnswerBody;
  readonly lack: EvidenceLack;
}
