/**
 * What the engine sees in labelled requests: who refuses them, and the pieces of their values as
 * bits. Uses the code that serves traffic; weighs nothing.
 */

import { piecesOf } from '../../engine/detect/score.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { requestSigns } from '../../engine/rules/run/request-signs.ts';
import { parseRequest, type LabelledRequest } from './requests.ts';

/** One request as seen. */
export interface Observation {
  readonly request: LabelledRequest;
  /** Refused whatever the scores: by the parser, or a rule that is no comparison of scores. */
  readonly otherwise: boolean;
  /** The anomaly score refuses. */
  readonly anomaly: boolean;
  /** Ids of signs, for each piece; none is a part of another. */
  readonly pieces: readonly (readonly number[])[];
  /** Those among them that stand in leaves which rules do not see. */
  readonly openedPieces: readonly (readonly number[])[];
}

/** Runs every request. `engine` decides by score. Cost: below a millisecond a request. */
export function observeAll(
  engine: PolicyEngine,
  requests: readonly LabelledRequest[],
  onProgress: (done: number) => void,
): Observation[] {
  return requests.map((request, at) => {
    if (at % 2000 === 0) onProgress(at);
    return observe(engine, request);
  });
}

/** Runs one request. */
export function observe(engine: PolicyEngine, request: LabelledRequest): Observation {
  const { scoring } = engine;
  if (scoring === null) throw new Error('the policy does not decide by score');
  const parsed = parseRequest(request.wire);
  if (parsed === null)
    return { request, otherwise: true, anomaly: false, pieces: [], openedPieces: [] };
  const session = engine.open(parsed.snapshot);
  let passed = session.requestHead().action === 'pass';
  if (passed) {
    const result = session.requestBody(parsed.body);
    if (result.action === 'failed') throw new Error(`${request.id}: inspection ${result.reason}`);
    passed = result.action === 'pass' || session.decidedByScore;
  }
  const { signs, leaves } = requestSigns(session.transaction, scoring.detection, scoring.detectors);
  const all = piecesOf(signs);
  const pieces = largest(all.map(({ ids }) => ids));
  const opened = all.filter(({ leaf }) => leaves[leaf]!.opened);
  const openedPieces = largest(opened.map(({ ids }) => ids));
  const anomaly = session.anomaly !== null;
  session.finish();
  return { request, otherwise: !passed, anomaly, pieces, openedPieces };
}

/** Without those that are a part of another: they never score higher. */
function largest(pieces: readonly (readonly number[])[]): (readonly number[])[] {
  const sorted = [...pieces].sort((one, other) => other.length - one.length);
  const kept: (readonly number[])[] = [];
  for (const piece of sorted) {
    if (!kept.some((one) => piece.every((id) => one.includes(id)))) kept.push(piece);
  }
  return kept;
}
