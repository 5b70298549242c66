/**
 * What the score of a request leads to, beside or in place of the anomaly score, and how events
 * tell of it: as matches of the detectors' rules and of one rule of the product's own.
 */

import type { Decision } from '../../contract/decision.ts';
import type { MatchedRule, Verdict } from '../../contract/verdict.ts';
import type { Detection } from '../../detect/detection.ts';
import { countedSigns, weakSigns } from '../../detect/learning/content-signs.ts';
import { scoreSigns, type Bit, type Scored } from '../../detect/score.ts';
import type { Thresholds } from '../../detect/weights.ts';
import { buildMatchedRule } from '../transaction/report.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { ProgramSettings } from '../transaction/types.ts';
import type { DetectorRules, SignedLeaf } from './leaf-signs.ts';
import { noContent, scoreLeaves } from './refusals.ts';
import { requestSigns, type RequestSigns } from './request-signs.ts';

/** The rule that a score refuses by, and under which events tell of it. */
export const scoreRuleId = 198_000;

/** What a policy scores its requests with. */
export interface Scoring {
  readonly detection: Detection;
  readonly detectors: DetectorRules;
  readonly thresholds: Thresholds;
  readonly decision: Decision;
}

/** Thresholds that a policy states, before those of the weights. */
export function thresholdsOf(settings: ProgramSettings, own: Thresholds): Thresholds {
  const block = settings.blockScore || own.block;
  const challenge = Math.min(settings.challengeScore || own.challenge, block);
  return { watch: Math.min(settings.watchScore || own.watch, challenge), challenge, block };
}

/**
 * Whether a decision refuses. What the score does not judge (`judged` false) it cannot clear: then
 * the anomaly score refuses, too. Pure.
 */
export function refuses(
  decision: Decision,
  byScore: boolean,
  byAnomaly: boolean,
  judged = true,
): boolean {
  if (decision === 'crs' || (!judged && byAnomaly)) return byAnomaly;
  if (decision === 'score') return byScore;
  return decision === 'both' ? byScore || byAnomaly : byScore && byAnomaly;
}

/**
 * Rules of CRS that compare a request with a list: of methods, scanners, media types, versions,
 * extensions, fields and charsets. No score says whether a list is right. And those that find two
 * readings of a media type: no value shows them.
 */
const listRules: ReadonlySet<number> = new Set([
  ...[911_100, 913_100, 913_110],
  ...[920_420, 920_430, 920_440, 920_450, 920_451, 920_470, 920_480, 920_530],
]);

/**
 * Scores a request whose rules of phase 2 have run. `anomaly` is what the anomaly score would have
 * done. Null: the request continues.
 */
export function decideByScore(
  tx: Transaction,
  scoring: Scoring,
  anomaly: Verdict | null,
): Verdict | null {
  const { detection, detectors, thresholds, decision } = scoring;
  const content = tx.request.content ?? noContent;
  const found = requestSigns(tx, detection, detectors, thresholds.block);
  const { leaves, signs: all, complete, settled } = found;
  const signs = countedSigns(all, leaves, content, detection.facts);
  const scored = scoreLeaves(signs, leaves, detection);
  const score = scored?.score ?? 0;
  noteSigns(tx, scoring, { leaves, signs: all }, signs === all ? scored : null);
  const byScore = score >= thresholds.block;
  const judged = complete && !tx.matchedRules.some(({ ruleId }) => listRules.has(ruleId));
  const refused = refuses(decision, byScore, anomaly !== null, judged);
  if (scored !== null && (score >= thresholds.watch || anomaly !== null)) {
    const outcome = { refused, anomaly: anomaly !== null, judged, complete, settled };
    report(tx, scoring, scored, leaves[scored.leaf]!, outcome);
  }
  if (!refused) return null;
  if (anomaly !== null && !byScore) return anomaly;
  return { action: 'block', status: anomaly?.status || 403, ruleId: scoreRuleId, phase: 2 };
}

/** For learning what is ordinary in which value. Nothing is done without signs. */
function noteSigns(
  tx: Transaction,
  { detection, thresholds }: Scoring,
  { signs, leaves }: Pick<RequestSigns, 'signs' | 'leaves'>,
  known: Scored | null,
): void {
  if (signs.length === 0) return;
  const { weights, facts } = detection;
  const scored = known ?? scoreSigns(signs, weights, facts);
  if (scored === null || scored.score < thresholds.watch) return;
  const hasPoints = (id: number): boolean => (weights.points.get(id) ?? 0) > 0;
  tx.valueSigns = weakSigns(signs, leaves, facts, hasPoints) ?? [];
}

interface Outcome {
  readonly refused: boolean;
  readonly anomaly: boolean;
  readonly judged: boolean;
  readonly complete: boolean;
  readonly settled: boolean;
}

/** The detectors of the worst piece, then the score. */
function report(
  tx: Transaction,
  scoring: Scoring,
  scored: Scored,
  leaf: SignedLeaf,
  outcome: Outcome,
): void {
  const { detectors } = scoring;
  const piece = showPiece(leaf.bytes, scored);
  const matched = [{ name: leaf.name, value: piece.text }];
  for (const { id, pair } of scored.bits) {
    const rule = detectors.get(id);
    if (rule === undefined || pair) continue;
    const record = buildMatchedRule(rule, tx);
    tx.matchedRules.push({ ...record, matched, data: `${piece.marked} in ${leaf.path}` });
  }
  tx.matchedRules.push(scoreRecord(scoring, scored, leaf, piece, outcome, tx));
}

function scoreRecord(
  { detection, thresholds, decision }: Scoring,
  scored: Scored,
  leaf: SignedLeaf,
  piece: ShownPiece,
  { refused, anomaly, judged, complete, settled }: Outcome,
  tx: Transaction,
): MatchedRule {
  const { score, bits, weights } = scored;
  const byScore = score >= thresholds.block;
  const proves = mostTelling(bits, detection) ?? 'rules of the ruleset match';
  const would = (one: Decision): string => {
    return `would/${one}=${refuses(one, byScore, anomaly, judged) ? 'block' : 'pass'}`;
  };
  const bitTags = bits
    .filter(({ points }) => points > 0)
    .map(({ id, pair, points }) => `points/${id}${pair ? '+rule' : ''}=${points}`);
  return {
    ruleId: scoreRuleId,
    phase: 2,
    message: `Score ${score} of 100 (${levelOf(score, thresholds)}): ${proves} in ${leaf.path}`,
    data: piece.marked,
    severity: byScore ? 2 : 5,
    tags: [
      `decision/${decision}`,
      `weights/${weights.version}`,
      ...[would('crs'), would('score'), would('both'), would('scoreConfirms')],
      ...bitTags,
      ...(complete ? [] : ['opened/in-part']),
      ...(settled ? ['searched/in-part'] : []),
    ],
    operator: '@detected',
    matched: [{ name: leaf.name, value: piece.text }],
    disruptive: refused && tx.control.engine === 'on',
    ...{ file: 'waf/detectors.conf', line: 1, rev: '', ver: weights.version },
    ...{ maturity: 0, accuracy: 0, log: true, auditLog: true },
  };
}

/**
 * What the detector with the most points proves. Of several, of the last family, whose grammars are
 * the most particular: `${jndi:ldap://` is a lookup of Java before it is a URL. Null: none has
 * points.
 */
function mostTelling(bits: readonly Bit[], detection: Detection): string | null {
  const telling = bits.filter(({ id, points }) => points > 0 && detection.proves(id) !== '');
  const best = telling.filter(({ points }) => points === telling[0]!.points).map(({ id }) => id);
  const familyOf = (id: number): number => Math.floor(id / 100);
  const last = Math.max(...best.map(familyOf));
  const told = best.filter((id) => familyOf(id) === last);
  return told.length === 0 ? null : detection.proves(Math.min(...told));
}

/** The name of the threshold that a score reaches. */
export function levelOf(score: number, thresholds: Thresholds): string {
  if (score >= thresholds.block) return 'block';
  if (score >= thresholds.challenge) return 'challenge';
  return score >= thresholds.watch ? 'watch' : 'below watch';
}

interface ShownPiece {
  readonly text: string;
  /** With the match between `»` and `«`, as bytes of UTF-8. */
  readonly marked: string;
}

/** Bytes that are shown before and after a match, and of the match itself. */
const contextBytes = 40;
const matchBytesMax = 200;
// Texts of events are byte strings: each char is one byte of UTF-8.
const markStart = Buffer.from('»').toString('latin1');
const markEnd = Buffer.from('«').toString('latin1');

function showPiece(bytes: Uint8Array, { start, end }: Scored): ShownPiece {
  const text = (from: number, to: number): string =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).latin1Slice(from, to);
  const to = Math.min(end, start + matchBytesMax);
  const before = text(Math.max(0, start - contextBytes), start);
  const after = text(to, Math.min(bytes.length, to + contextBytes));
  const match = text(start, to);
  return {
    text: `${before}${match}${after}`,
    marked: match === '' ? after : `${before}${markStart}${match}${markEnd}${after}`,
  };
}
