/**
 * The page's address: path and query are the state of every view, so that reload, back and a link
 * in a message show the same.
 */

import { signal } from '@preact/signals';

/** Where the browser is. */
export interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
}

const read = (): Address => ({
  path: window.location.pathname,
  query: new URLSearchParams(window.location.search),
});

/** The address that is shown. */
export const address = signal(read());

window.addEventListener('popstate', () => {
  address.value = read();
});

/** Goes to an address of the console; `replace` leaves no step back. */
export function go(href: string, replace = false): void {
  if (replace) window.history.replaceState(null, '', href);
  else window.history.pushState(null, '', href);
  address.value = read();
  if (!replace) window.scrollTo(0, 0);
}

/** The present address with some fields of its query changed; '' takes one out. */
export function withQuery(changes: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(address.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return `${address.value.path}${text === '' ? '' : `?${text}`}`;
}
