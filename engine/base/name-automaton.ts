/**
 * The search of a name for any of a list of texts in one pass, whatever the name is: an automaton
 * over letters without case, digits and `_`, which stands for all else and for where a word begins
 * at a capital. Knows no texts of its own. Source: Aho and Corasick, 1975.
 */

/** Symbols: a to z, 0 to 9, `_`. */
const symbolCount = 37;
const SEPARATOR = 36;
/** Marks beside the symbol of a character. */
const CAPITAL = 0x40;
const SMALL = 0x80;
/** Of each byte, its symbol and marks. */
const symbols = makeSymbols();

const NOTHING = 0;
const FOUND = 1;
/** Found unless a letter follows. */
const FOUND_AT_END = 2;
/** Marks beside the state in `steps`. */
const STATE = 0x3fff;
const IS_FOUND = 0x8000;
const ENDS_WORD = 0x4000;

/** A text that names are searched for, written in symbols. */
export interface NamePart {
  readonly text: string;
  /** It counts only where no letter follows. */
  readonly endsWord?: boolean;
}

/** Searches names for parts. Cost: some 3 ns a character; makes nothing. */
export class NameAutomaton {
  /** At state + symbol: the next state (where its row begins) and whether something is found. */
  private readonly steps: Uint16Array;

  constructor(parts: readonly NamePart[]) {
    const states: State[] = [newState()];
    for (const part of parts) addPart(states, part);
    if (states.length * symbolCount > STATE) throw new Error('NameAutomaton: too many parts');
    this.steps = new Uint16Array(states.length * symbolCount);
    this.link(states);
  }

  /**
   * True when a part occurs in the bytes [from, to). `_` stands before it, after it, for each run
   * of other characters, and between a small letter or digit and a capital.
   */
  finds(bytes: Uint8Array, from: number, to: number): boolean {
    const { steps } = this;
    let state = steps[SEPARATOR]!;
    let before = SEPARATOR;
    for (let at = from; at < to; at++) {
      const marked = symbols[bytes[at]!]!;
      if (marked === SEPARATOR && before === SEPARATOR) continue;
      if ((marked & CAPITAL) !== 0 && (before & SMALL) !== 0) {
        if ((state & ENDS_WORD) !== 0) return true;
        state = steps[(state & STATE) + SEPARATOR]!;
        if (state >= IS_FOUND) return true;
      }
      const symbol = marked & 0x3f;
      if ((state & ENDS_WORD) !== 0 && symbol >= 26) return true;
      state = steps[(state & STATE) + symbol]!;
      if (state >= IS_FOUND) return true;
      before = marked;
    }
    if ((state & ENDS_WORD) !== 0) return true;
    return before !== SEPARATOR && steps[(state & STATE) + SEPARATOR]! >= IS_FOUND;
  }

  /** Breadth first: a state without a step goes where the longest of its endings goes. */
  private link(states: readonly State[]): void {
    const { steps } = this;
    const endings = new Uint16Array(states.length);
    const queue = [0];
    for (let at = 0; at < queue.length; at++) {
      const index = queue[at]!;
      const ending = endings[index]!;
      for (let symbol = 0; symbol < symbolCount; symbol++) {
        const other = index === 0 ? 0 : steps[ending * symbolCount + symbol]!;
        const step = states[index]!.steps.get(symbol);
        if (step === undefined) {
          steps[index * symbolCount + symbol] = other;
          continue;
        }
        endings[step] = (other & STATE) / symbolCount;
        const marks = marksOf(states[step]!.kind) | (other & ~STATE);
        steps[index * symbolCount + symbol] = (step * symbolCount) | marks;
        queue.push(step);
      }
    }
  }
}

function marksOf(kind: number): number {
  return kind === FOUND ? IS_FOUND : kind === FOUND_AT_END ? ENDS_WORD : 0;
}

interface State {
  readonly steps: Map<number, number>;
  kind: number;
}

function newState(): State {
  return { steps: new Map(), kind: NOTHING };
}

function addPart(states: State[], { text, endsWord = false }: NamePart): void {
  let state = states[0]!;
  for (const char of text) {
    const symbol = symbols[char.charCodeAt(0)]! & 0x3f;
    let step = state.steps.get(symbol);
    if (step === undefined) {
      step = states.push(newState()) - 1;
      state.steps.set(symbol, step);
    }
    state = states[step]!;
  }
  if (state.kind !== FOUND) state.kind = endsWord ? FOUND_AT_END : FOUND;
}

function makeSymbols(): Uint8Array {
  const table = new Uint8Array(256).fill(SEPARATOR);
  for (let letter = 0; letter < 26; letter++) {
    table[0x41 + letter] = letter | CAPITAL;
    table[0x61 + letter] = letter | SMALL;
  }
  for (let digit = 0; digit < 10; digit++) table[0x30 + digit] = (26 + digit) | SMALL;
  return table;
}
