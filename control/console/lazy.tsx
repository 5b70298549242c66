/** Pages that are loaded when they are first shown, or ahead of it. */

import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from './text/text.ts';

/** A component whose code comes when it is first drawn; `fetch` asks for it ahead of that. */
export type LazyPage<P extends object> = ((props: P) => JSX.Element) & {
  readonly fetch: () => Promise<ComponentType<P>>;
};

/** A component whose code is fetched when it is first wanted; it stays for the next time. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): LazyPage<P> {
  let loaded: ComponentType<P> | null = null;
  const fetch = async (): Promise<ComponentType<P>> => {
    loaded ??= await load();
    return loaded;
  };
  const Lazy = (props: P): JSX.Element => {
    const [Found, setFound] = useState<ComponentType<P> | null>(() => loaded);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (Found !== null) return;
      fetch().then(
        (component) => setFound(() => component),
        () => setFailed(true),
      );
    }, []);
    if (Found !== null) return <Found {...props} />;
    return failed ? <Reload /> : <p class="quiet">{t('common.loading')}</p>;
  };
  return Object.assign(Lazy, { fetch });
}

/** For code that did not come: the server is away, or serves a newer console. */
export function Reload(): JSX.Element {
  return (
    <button type="button" onClick={() => window.location.reload()}>
      {t('common.retry')}
    </button>
  );
}
