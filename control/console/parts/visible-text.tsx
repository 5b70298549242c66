/**
 * How text that clients sent is shown: control, zero-width and bidirectional characters as escapes,
 * so that nothing in it can hide or reorder what stands beside it.
 */

import type { JSX } from 'preact';
import { said } from '../text/sentences.ts';
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

/**
 * A message of a rule in the language that is shown, with its own words as the hint: people search
 * for them. What stands in backticks is a piece of a request or a language.
 */
export function MessageText({ text }: { readonly text: string }): JSX.Element {
  const shown = said(text);
  if (shown === text) return <Quoting text={text} />;
  return (
    <span title={text}>
      <Quoting text={shown} />
    </span>
  );
}

/** A text whose pieces in backticks are code. */
export function Quoting({ text }: { readonly text: string }): JSX.Element {
  const parts = text.split('`');
  // One without its other half is a character of the message.
  if (parts.length % 2 === 0) return <VisibleText text={text} />;
  return (
    <>
      {parts.map((part, index) => {
        const shown = <VisibleText text={part} />;
        return index % 2 === 1 ? <code>{shown}</code> : shown;
      })}
    </>
  );
}

/** A text as `VisibleText` shows it, with parts marked: in their order, none within another. */
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
