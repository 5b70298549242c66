/** Owns pages that are loaded when they are first shown. */

import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from './text/text.ts';

/** A component whose code is fetched when it is first drawn; it stays for the next time. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P): JSX.Element {
    const [Found, setFound] = useState<ComponentType<P> | null>(() => loaded);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (loaded !== null) return;
      load().then(
        (component) => {
          loaded = component;
          setFound(() => component);
        },
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
}
