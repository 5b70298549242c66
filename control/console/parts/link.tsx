/** Links within the console: ordinary anchors that change the address without a reload. */

import type { ComponentChildren, JSX } from 'preact';
import { go } from '../address.ts';

interface LinkProps {
  readonly href: string;
  readonly class?: string;
  readonly current?: boolean;
  readonly children: ComponentChildren;
}

/** A link; with a modifier key the browser opens it as it opens any link. */
export function Link({ href, class: name, current = false, children }: LinkProps): JSX.Element {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(href);
  };
  return (
    <a href={href} class={name ?? ''} onClick={follow} {...(current ? currentPage : {})}>
      {children}
    </a>
  );
}

const currentPage = { 'aria-current': 'page' } as const;
