/** The frames of pages: a head with its title, cards, and tabs that stand in the address. */

import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { address, withQuery } from '../address.ts';
import { Link } from './link.tsx';
import { lacking } from './rights.tsx';

/** The way back to a list, above the title of one of its records. */
export function Back({
  href,
  children,
}: {
  readonly href: string;
  readonly children: string;
}): JSX.Element {
  return (
    <p class="back">
      <Link href={href}>← {children}</Link>
    </p>
  );
}

/** A sentence; what stands in backticks is a command or a name. */
export function Sentence({ text }: { readonly text: string }): JSX.Element {
  const parts = text.split('`');
  return <>{parts.map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>;
}

/** The title of a page, with a sentence on what it is for. */
export function Head({
  title,
  note,
}: {
  readonly title: string;
  readonly note: string;
}): JSX.Element {
  return (
    <div class="page-head">
      <h1>{title}</h1>
      <p class="quiet">{note}</p>
    </div>
  );
}

/** A titled card. */
export function Card({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note?: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="card wide">
      <h2>{title}</h2>
      {note !== undefined && (
        <p class="quiet">
          <Sentence text={note} />
        </p>
      )}
      {children}
    </section>
  );
}

/** A card whose content opens with a click: for what is done seldom. */
export function Fold({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <details class="card wide">
      <summary>{title}</summary>
      {children}
    </details>
  );
}

/** One of several views of a page. */
export interface Tab {
  readonly name: string;
  readonly title: string;
  readonly view: () => JSX.Element;
  /** What a person needs for it; who lacks one of them is not led there. */
  readonly codes?: readonly string[];
}

/** The views, and the one that the address names; the first that a person may see otherwise. */
export function Tabs({
  tabs,
  label,
}: {
  readonly tabs: readonly [Tab, ...Tab[]];
  readonly label: string;
}): JSX.Element {
  const wanted = address.value.query.get('tab');
  const named = tabs.find(({ name }) => name === wanted);
  const offered = tabs.filter((tab) => tab === named || lacking(tab.codes ?? []) === '');
  const chosen = named ?? offered[0] ?? tabs[0];
  const bar = useRef<HTMLElement>(null);
  // In a narrow window the bar scrolls: the chosen view is in its middle.
  useLayoutEffect(() => {
    const [nav, link] = [bar.current, bar.current?.querySelector<HTMLElement>('[aria-current]')];
    if (nav === null || !link) return;
    nav.scrollLeft = link.offsetLeft - nav.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
  }, [chosen.name]);
  return (
    <>
      <nav class="tabs" ref={bar} aria-label={label}>
        {offered.map(({ name, title }) => (
          <Link href={withQuery({ tab: name })} current={name === chosen.name}>
            {title}
          </Link>
        ))}
      </nav>
      <div key={chosen.name}>{chosen.view()}</div>
    </>
  );
}
