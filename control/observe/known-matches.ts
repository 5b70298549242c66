/**
 * Reads the matched rules of facts as far as the index needs them. The same rules match again and
 * again, in few combinations: what follows from a combination is worked out once. Memory is
 * bounded as that of KnownTexts is.
 */

import { SecurityMatchSchema } from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import { attackTypesOf, worstSeverity } from './attack-types.ts';
import { wire, type FactReader } from './events/fact-reader.ts';
import { KnownTexts } from './events/known-texts.ts';

/** Between a rule's id and its message in the index field `rule_text`. */
export const ruleTextSeparator = ' ';

/** A matched rule; the same object for the same rule with the same texts, mostly. */
interface KnownMatch {
  readonly ruleId: number;
  readonly message: string;
  readonly severity: number;
  readonly tags: readonly string[];
  /** Differs between matches that are not the same. */
  readonly serial: number;
}

/** Index values that follow from the rules that matched together. */
export interface MatchTerms {
  readonly matches: readonly KnownMatch[];
  readonly rules: readonly string[];
  readonly ruleTexts: readonly string[];
  readonly attackTypes: readonly string[];
  /** The first attack type alone. */
  readonly firstAttack: readonly string[];
  readonly severity: readonly string[];
}

const fields = {
  ruleId: SecurityMatchSchema.field.ruleId.number,
  message: SecurityMatchSchema.field.message.number,
  severity: SecurityMatchSchema.field.severity.number,
  tags: SecurityMatchSchema.field.tags.number,
} as const;
const slotsMax = 4096;

/** Matches and combinations of them that were met before. */
export class KnownMatches {
  private readonly texts = new KnownTexts(slotsMax);
  private readonly matches: (KnownMatch | undefined)[] = Array.from({ length: slotsMax });
  private readonly combinations: (MatchTerms | undefined)[] = Array.from({ length: slotsMax });
  private serial = 0;
  private readonly tags: string[] = [];

  /** Reads the message that `reader` was opened with. Errors: those of a damaged fact. */
  read(reader: FactReader): KnownMatch {
    const { texts, tags } = this;
    tags.length = 0;
    let [ruleId, severity, message] = [0, 0, ''];
    while (reader.next()) {
      const { field, type } = reader;
      if (type === wire.varint && field === fields.ruleId) ruleId = reader.varint() >>> 0;
      else if (type === wire.varint && field === fields.severity) severity = readSigned(reader);
      else if (type === wire.bytes && field === fields.message) {
        reader.span();
        message = texts.text(reader.bytes, reader.from, reader.to);
      } else if (type === wire.bytes && field === fields.tags) {
        reader.span();
        tags.push(texts.text(reader.bytes, reader.from, reader.to));
      } else reader.skip();
    }
    const slot = ruleId & (slotsMax - 1);
    const known = this.matches[slot];
    if (known !== undefined && isSame(known, ruleId, message, severity, tags)) return known;
    const made = { ruleId, message, severity, tags: [...tags], serial: this.serial++ };
    return (this.matches[slot] = made);
  }

  /** What follows from matches in this order; the answer is shared. */
  together(matches: readonly KnownMatch[]): MatchTerms {
    let hash = matches.length;
    for (const { serial } of matches) hash = Math.imul(hash ^ serial, 0x01000193);
    const slot = (hash ^ (hash >>> 15)) & (slotsMax - 1);
    const known = this.combinations[slot];
    if (known !== undefined && isSameList(known.matches, matches)) return known;
    return (this.combinations[slot] = termsOf([...matches]));
  }
}

function termsOf(matches: readonly KnownMatch[]): MatchTerms {
  const texts = new Map(matches.map(({ ruleId, message }) => [String(ruleId), message]));
  const attackTypes = attackTypesOf(matches);
  const severity = worstSeverity(matches);
  return {
    matches,
    rules: [...texts.keys()],
    ruleTexts: [...texts].map(([id, text]) => `${id}${ruleTextSeparator}${text}`),
    attackTypes,
    firstAttack: attackTypes.slice(0, 1),
    severity: severity === '' ? [] : [severity],
  };
}

function isSame(
  known: KnownMatch,
  ruleId: number,
  message: string,
  severity: number,
  tags: readonly string[],
): boolean {
  if (known.ruleId !== ruleId || known.severity !== severity) return false;
  return known.message === message && isSameList(known.tags, tags);
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

/** Numbers below zero have ten bytes, of which the lowest 32 bits count. */
function readSigned(reader: FactReader): number {
  const start = reader.at;
  const value = reader.varint();
  if (value <= 0x7fffffff) return value;
  let low = 0;
  for (let at = 0; at < 5 && start + at < reader.at; at++) {
    low |= (reader.bytes[start + at]! & 0x7f) << (7 * at);
  }
  return low;
}
