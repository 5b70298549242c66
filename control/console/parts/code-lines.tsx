/**
 * Numbers of the lines of a text area, beside it. Where the API refused the text, the number of
 * that line is marked and the rest of the line selected. Tab leaves the area, as any field.
 */

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { BesideProps } from './edit.tsx';
import { placeIn, rangeAt } from './text-place.ts';

/** The numbers. */
export function CodeLines({ area, problem }: BesideProps): JSX.Element {
  const [count, setCount] = useState(1);
  const numbers = useRef<HTMLElement>(null);
  const place = placeIn(problem);
  useEffect(() => {
    const text = area.current!;
    const { form } = text;
    const recount = (): void => setCount(text.value.split('\n').length);
    const follow = (): void => {
      numbers.current!.scrollTop = text.scrollTop;
    };
    // A form is empty only after it told that it will be.
    const reset = (): void => void window.requestAnimationFrame(recount);
    recount();
    text.addEventListener('input', recount);
    text.addEventListener('scroll', follow);
    form?.addEventListener('reset', reset);
    return () => {
      text.removeEventListener('input', recount);
      text.removeEventListener('scroll', follow);
      form?.removeEventListener('reset', reset);
    };
  }, []);
  useEffect(() => {
    const text = area.current!;
    if (place === null) return;
    text.focus();
    text.setSelectionRange(...rangeAt(text.value, place));
    text.scrollTop = text.scrollHeight * ((place.line - 3) / count);
  }, [problem]);
  const wrong = place === null ? 0 : Math.min(place.line, count);
  return (
    <small class="code-lines" ref={numbers} aria-hidden="true">
      {lines(1, wrong - 1)}
      {wrong > 0 && <mark>{`${wrong}\n`}</mark>}
      {lines(wrong + 1, count)}
    </small>
  );
}

/** Numbers from one to another, each in a line. */
function lines(from: number, to: number): string {
  let text = '';
  for (let line = from; line <= to; line += 1) text += `${line}\n`;
  return text;
}
