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
    if (!failed) return <p class="quiet">{t('common.loading')}</p>;
    return (
      <button type="button" onClick={() => window.location.reload()}>
        {t('common.retry')}
      </button>
    );
  };
  return Object.assign(Lazy, { fetch });
}
