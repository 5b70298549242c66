/** Owns reading what the match of the score's rule says: its sentence, its piece, and its tags. */

/** What is read of a match. */
export interface ScoreMessage {
  readonly ruleId: string;
  readonly message: string;
  readonly matchData: string;
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
  readonly piece: string;
  /** The part of the piece that matched. */
  readonly marked: string;
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
  const [, before = '', marked = '', after = ''] =
    /^([^]*?)»([^]*)«([^]*)$/.exec(found.matchData) ?? [];
  return {
    sentence: found.message,
    piece: marked === '' ? found.matchData : `${before}${marked}${after}`,
    marked,
    points: rest('points/').map(pointsOf),
    verdicts: rest('would/').map((text) => {
      const [decision = '', result] = text.split('=');
      return { decision, blocks: result === 'block' };
    }),
    decision: rest('decision/')[0] ?? '',
    weights: rest('weights/')[0] ?? '',
  };
}

function pointsOf(text: string): Points {
  const cut = text.lastIndexOf('=');
  const name = text.slice(0, cut);
  const rule = name.endsWith('+rule');
  return { id: rule ? name.slice(0, -'+rule'.length) : name, rule, value: text.slice(cut + 1) };
}
