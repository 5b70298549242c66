/** Reads what the match of the score's rule says: its sentence, its piece, and its tags. */

import type { Span } from '../parts/visible-pieces.ts';

/** What is read of a match. */
export interface ScoreMessage {
  readonly ruleId: string;
  readonly severity: string;
  readonly message: string;
  readonly matchData: string;
  /** The piece without marks. */
  readonly matchValue: string;
  readonly tags: readonly string[];
}

/** A sign and its points. */
export interface Points {
  readonly id: string;
  /** A rule confirms the detector. */
  readonly rule: boolean;
  readonly value: string;
}

/** What one way to decide would have done. */
export interface Verdict {
  readonly decision: string;
  readonly blocks: boolean;
}

/** What the score says of a request. */
export interface Score {
  readonly sentence: string;
  /** It reached the threshold of refusal. */
  readonly reached: boolean;
  readonly piece: string;
  /** The part of the piece that matched; empty for none. */
  readonly marked: Span;
  /** The request was opened in part only: its whole score may be higher. */
  readonly inPart: boolean;
  /** The search ended once enough values refused. */
  readonly ended: boolean;
  readonly points: readonly Points[];
  readonly verdicts: readonly Verdict[];
  /** The way that is in force. */
  readonly decision: string;
  readonly weights: string;
}

const scoreRuleId = '198000';

/** The score among the matches of an event; null where none was made. */
export function scoreOf(messages: readonly ScoreMessage[]): Score | null {
  const found = messages.find(({ ruleId }) => ruleId === scoreRuleId);
  if (found === undefined) return null;
  const rest = (start: string): string[] =>
    found.tags.filter((tag) => tag.startsWith(start)).map((tag) => tag.slice(start.length));
  return {
    sentence: found.message,
    reached: found.severity === 'critical',
    ...pieceOf(found),
    points: rest('points/').map(pointsOf),
    verdicts: rest('would/').map((text) => {
      const [decision = '', result] = text.split('=');
      return { decision, blocks: result === 'block' };
    }),
    decision: rest('decision/')[0] ?? '',
    weights: rest('weights/')[0] ?? '',
    inPart: found.tags.includes('opened/in-part'),
    ended: found.tags.includes('searched/in-part'),
  };
}

const noSpan: Span = { start: 0, end: 0 };

/** The piece and what matched in it: it stands between » and «, which may be in the piece, too. */
function pieceOf({ matchData, matchValue }: ScoreMessage): Pick<Score, 'piece' | 'marked'> {
  if (matchData.length === matchValue.length + 2) {
    const start = [...matchData].findIndex((_, at) => matchData[at] !== matchValue[at]);
    for (let end = matchValue.length; start >= 0 && end >= start; end -= 1) {
      const marked = `${matchValue.slice(0, start)}»${matchValue.slice(start, end)}«`;
      if (`${marked}${matchValue.slice(end)}` === matchData) {
        return { piece: matchValue, marked: { start, end } };
      }
    }
  }
  const [, before, match, after] = /^([^]*?)»([^]*)«([^]*)$/.exec(matchData) ?? [];
  if (before === undefined || match === undefined) return { piece: matchData, marked: noSpan };
  const start = before.length;
  return {
    piece: `${before}${match}${after}`,
    marked: { start, end: start + match.length },
  };
}

function pointsOf(text: string): Points {
  const cut = text.lastIndexOf('=');
  const name = text.slice(0, cut);
  const rule = name.endsWith('+rule');
  return { id: rule ? name.slice(0, -'+rule'.length) : name, rule, value: text.slice(cut + 1) };
}
