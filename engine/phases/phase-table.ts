/**
 * The order of the steps of a request, and what each may lead to, as one table. Pure; who carries
 * the steps out is `PhaseDriver`'s concern.
 */

/** The steps, and the places where a request waits. */
export const STATE = {
  /** The head is complete. */
  HEAD: 0,
  /** The guards of the site decide. */
  GUARDS: 1,
  REQUEST_HEAD: 2,
  /** What the rules need of the request body. */
  BODY_NEED: 3,
  /** The request body is held. */
  BODY: 4,
  REQUEST_BODY: 5,
  /** What the checks of an API document need of the body that the rules did not. */
  CHECK_NEED: 6,
  /** The request body is held for these checks alone. */
  CHECKED_BODY: 7,
  /** The body is checked, after the rules have seen it. */
  CHECK: 8,
  /** What is wrong with the head is answered after the rules have seen it. */
  HEAD_REFUSAL: 9,
  ROUTE: 10,
  /** The request is at the origin. */
  ORIGIN: 11,
  RESPONSE_HEAD: 12,
  /** What the rules need of the response body. */
  ANSWER_NEED: 13,
  /** The response body is held. */
  ANSWER: 14,
  RESPONSE_BODY: 15,
  /** Nothing is left to decide: the client may have the answer. */
  RELEASE: 16,
  /** The product answered by itself, or the request ended early. */
  ENDED: 17,
} as const;
/** One of them. */
export type PhaseState = (typeof STATE)[keyof typeof STATE];

/** What comes of a step. */
export const EVENT = {
  /** Nothing against it. */
  PASS: 0,
  /** It continues without (further) inspection. */
  UNINSPECTED: 1,
  /** A body is held until there is enough of it. */
  HOLD: 2,
  /** Enough of a body is held; for ORIGIN: the head of the answer is here. */
  READY: 3,
  /** It was answered or cut. */
  STOP: 4,
} as const;
/** One of them. */
export type PhaseEvent = (typeof EVENT)[keyof typeof EVENT];

const S = STATE;
const E = EVENT;

/** Every transition there is; STOP leads to ENDED from everywhere. */
export const transitions: readonly (readonly [PhaseState, PhaseEvent, PhaseState])[] = [
  [S.HEAD, E.PASS, S.GUARDS],
  [S.GUARDS, E.PASS, S.REQUEST_HEAD],
  [S.GUARDS, E.UNINSPECTED, S.CHECK_NEED],
  [S.REQUEST_HEAD, E.PASS, S.BODY_NEED],
  [S.REQUEST_HEAD, E.UNINSPECTED, S.CHECK_NEED],
  [S.BODY_NEED, E.PASS, S.REQUEST_BODY],
  [S.BODY_NEED, E.HOLD, S.BODY],
  [S.BODY, E.READY, S.REQUEST_BODY],
  [S.REQUEST_BODY, E.PASS, S.CHECK_NEED],
  [S.REQUEST_BODY, E.UNINSPECTED, S.CHECK_NEED],
  [S.CHECK_NEED, E.PASS, S.HEAD_REFUSAL],
  [S.CHECK_NEED, E.HOLD, S.CHECKED_BODY],
  [S.CHECK_NEED, E.READY, S.CHECK],
  [S.CHECKED_BODY, E.READY, S.CHECK],
  [S.CHECK, E.PASS, S.HEAD_REFUSAL],
  [S.HEAD_REFUSAL, E.PASS, S.ROUTE],
  [S.ROUTE, E.PASS, S.ORIGIN],
  [S.ORIGIN, E.READY, S.RESPONSE_HEAD],
  [S.RESPONSE_HEAD, E.PASS, S.ANSWER_NEED],
  [S.RESPONSE_HEAD, E.UNINSPECTED, S.RELEASE],
  [S.ANSWER_NEED, E.PASS, S.RESPONSE_BODY],
  [S.ANSWER_NEED, E.HOLD, S.ANSWER],
  [S.ANSWER, E.READY, S.RESPONSE_BODY],
  [S.RESPONSE_BODY, E.PASS, S.RELEASE],
  [S.RESPONSE_BODY, E.UNINSPECTED, S.RELEASE],
];

const eventCount = Object.keys(EVENT).length;
const stateCount = Object.keys(STATE).length;
const impossible = 255;

const table = new Uint8Array(stateCount * eventCount).fill(impossible);
for (let state = 0; state < stateCount; state++) table[state * eventCount + E.STOP] = S.ENDED;
for (const [from, event, to] of transitions) table[from * eventCount + event] = to;

/** The state that follows. Errors: an assertion where the table has none. */
export function nextState(state: PhaseState, event: PhaseEvent): PhaseState {
  const next = table[state * eventCount + event]!;
  if (next === impossible) throw new Error(`event ${event} is not possible in state ${state}`);
  return next as PhaseState;
}
