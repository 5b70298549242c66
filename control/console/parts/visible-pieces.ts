/** Which characters of a text are hidden, and how they are written instead. Pure. */

/** A part of a text; `escaped` where it stands for a hidden character. */
export interface VisiblePiece {
  readonly text: string;
  readonly escaped: boolean;
}

/** Control, format and zero-width characters, those that set a direction among them. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** The parts in their order; together they show every character of the text. */
export function visiblePieces(text: string): VisiblePiece[] {
  const pieces: VisiblePiece[] = [];
  let end = 0;
  for (const found of text.matchAll(hidden)) {
    pieces.push({ text: text.slice(end, found.index), escaped: false });
    const code = found[0].codePointAt(0)!.toString(16);
    pieces.push({ text: `\\u{${code}}`, escaped: true });
    end = found.index + found[0].length;
  }
  pieces.push({ text: text.slice(end), escaped: false });
  return pieces.filter((piece) => piece.text !== '');
}

/** A part of a text: the index of its first character, and of the one after it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const placesMax = 50;

/** Every place of a part in a text, for one whose place is not known. */
export function placesOf(text: string, part: string): Span[] {
  const places: Span[] = [];
  if (part === '') return places;
  let start = text.indexOf(part);
  while (start >= 0 && places.length < placesMax) {
    const end = start + part.length;
    places.push({ start, end });
    start = text.indexOf(part, end);
  }
  return places;
}
