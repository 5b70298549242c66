/**
 * Owns how text that clients sent is shown: control, zero-width and bidirectional characters as
 * escapes, so that nothing in it can hide or reorder what stands beside it.
 */

import type { JSX } from 'preact';
import { visiblePieces } from './visible-pieces.ts';

/** The text with its hidden characters as visible escapes; with `lines`, its lines stay lines. */
export function VisibleText({
  text,
  lines = false,
}: {
  readonly text: string;
  readonly lines?: boolean;
}): JSX.Element {
  if (lines) {
    return (
      <>
        {text.split('\n').map((line) => (
          <>
            <VisibleText text={line} />
            {'\n'}
          </>
        ))}
      </>
    );
  }
  return (
    <bdi>
      {visiblePieces(text).map(({ text: piece, escaped }) =>
        escaped ? <span class="escape">{piece}</span> : piece,
      )}
    </bdi>
  );
}

/** The same, with the first place of `part` in it marked. */
export function MarkedText({
  text,
  part,
}: {
  readonly text: string;
  readonly part: string;
}): JSX.Element {
  const at = part === '' ? -1 : text.indexOf(part);
  if (at < 0) return <VisibleText text={text} />;
  return (
    <>
      <VisibleText text={text.slice(0, at)} />
      <mark>
        <VisibleText text={part} />
      </mark>
      <VisibleText text={text.slice(at + part.length)} />
    </>
  );
}
