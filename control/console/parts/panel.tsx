/** Owns the frames of pages: a head with its title, cards, and tabs that stand in the address. */

import type { ComponentChildren, JSX } from 'preact';
import { address, withQuery } from '../address.ts';
import { Link } from './link.tsx';

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
      {note !== undefined && <p class="quiet">{note}</p>}
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
}

/** The views, and the one that the address names; the first unless it names one. */
export function Tabs({
  tabs,
  label,
}: {
  readonly tabs: readonly [Tab, ...Tab[]];
  readonly label: string;
}): JSX.Element {
  const wanted = address.value.query.get('tab');
  const chosen = tabs.find(({ name }) => name === wanted) ?? tabs[0];
  return (
    <>
      <nav class="tabs" aria-label={label}>
        {tabs.map(({ name, title }) => (
          <Link href={withQuery({ tab: name })} current={name === chosen.name}>
            {title}
          </Link>
        ))}
      </nav>
      <div key={chosen.name}>{chosen.view()}</div>
    </>
  );
}
