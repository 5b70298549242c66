/** Links within the console: ordinary anchors that change the address without a reload. */

import type { ComponentChildren, JSX } from 'preact';
import { go } from '../address.ts';

interface LinkProps {
  readonly href: string;
  readonly class?: string;
  readonly current?: boolean;
  /** Read in place of what it shows, and shown on hover. */
  readonly label?: string;
  readonly style?: Readonly<Record<string, string>>;
  readonly children: ComponentChildren;
}

/** A link; with a modifier key the browser opens it as it opens any link. */
export function Link(props: LinkProps): JSX.Element {
  const { href, class: name, current = false, label, style, children } = props;
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(href);
  };
  return (
    <a
      href={href}
      class={name ?? ''}
      onClick={follow}
      {...(label === undefined ? {} : { 'aria-label': label, title: label })}
      {...(style === undefined ? {} : { style })}
      {...(current ? currentPage : {})}
    >
      {children}
    </a>
  );
}

const currentPage = { 'aria-current': 'page' } as const;
