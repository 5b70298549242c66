/** Owns which characters of a text are hidden, and how they are written instead. Pure. */

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
