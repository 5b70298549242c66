/**
 * How text that clients sent is shown: control, zero-width and bidirectional characters as escapes,
 * so that nothing in it can hide or reorder what stands beside it.
 */

import type { JSX } from 'preact';
import { visiblePieces, type Span } from './visible-pieces.ts';

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

/** The same, with parts of it marked: in their order, none within another. */
export function MarkedText({
  text,
  spans,
}: {
  readonly text: string;
  readonly spans: readonly Span[];
}): JSX.Element {
  const marked = spans.filter(({ start, end }) => start < end);
  const ends = [0, ...marked.map(({ end }) => end)];
  return (
    <>
      {marked.map(({ start, end }, index) => (
        <>
          <VisibleText text={text.slice(ends[index], start)} />
          <mark>
            <VisibleText text={text.slice(start, end)} />
          </mark>
        </>
      ))}
      <VisibleText text={text.slice(ends.at(-1))} />
    </>
  );
}
