/** Owns the frame of the console: navigation, which page an address shows, keys that work on all. */

import { lazy } from './lazy.tsx';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { address, go } from './address.ts';
import { Link } from './parts/link.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { person, session, signOut } from './session.ts';
import { chooseLanguage, language, languages, t, type Language } from './text/text.ts';
import { chooseTheme, theme, themes, type Theme } from './theme.ts';

const Overview = lazy(async () => (await import('./pages/overview.tsx')).Overview);
const Attacks = lazy(async () => (await import('./pages/attacks.tsx')).Attacks);
const AttackEvent = lazy(async () => (await import('./pages/event.tsx')).AttackEvent);
const Sites = lazy(async () => (await import('./pages/sites.tsx')).Sites);

const pages = [
  { href: '/', name: 'nav.overview', key: 'o' },
  { href: '/attacks', name: 'nav.attacks', key: 'a' },
  { href: '/sites', name: 'nav.sites', key: 's' },
] as const;

/** The whole program. */
export function Console(): JSX.Element {
  useEffect(listenForKeys, []);
  const state = session.value;
  if (state === 'starting') {
    return (
      <main>
        <p class="quiet">{t('common.loading')}</p>
      </main>
    );
  }
  if (state === 'signed-out' || state === 'challenge') {
    return (
      <main>
        <SignIn />
      </main>
    );
  }
  return (
    <>
      <a class="skip" href="#content">
        {t('app.skip')}
      </a>
      <Header />
      {state === 'ended' && (
        <dialog open class="over">
          <p>{t('signIn.ended')}</p>
          <SignIn />
        </dialog>
      )}
      <main id="content" tabIndex={-1}>
        <Page />
      </main>
    </>
  );
}

function Page(): JSX.Element {
  const { path } = address.value;
  if (path === '/') return <Overview />;
  if (path === '/attacks') return <Attacks />;
  const event = /^\/attacks\/([\w.-]{1,256})$/.exec(path)?.[1];
  if (event !== undefined) return <AttackEvent key={event} id={event} />;
  if (path === '/sites') return <Sites />;
  return <p>{t('common.missing')}</p>;
}

function Header(): JSX.Element {
  const { path } = address.value;
  return (
    <header>
      <strong class="brand">{t('app.name')}</strong>
      <nav aria-label={t('nav.label')}>
        {pages.map(({ href, name }) => (
          <Link
            href={href}
            current={href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`)}
          >
            {t(name)}
          </Link>
        ))}
      </nav>
      <div class="settings">
        <label>
          <span class="unseen">{t('nav.language')}</span>
          <select
            value={language.value}
            onChange={({ currentTarget }) => chooseLanguage(currentTarget.value as Language)}
          >
            {Object.entries(languages).map(([tag, name]) => (
              <option value={tag}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          <span class="unseen">{t('theme.label')}</span>
          <select
            value={theme.value}
            onChange={({ currentTarget }) => chooseTheme(currentTarget.value as Theme)}
          >
            {themes.map((one) => (
              <option value={one}>{t(`theme.${one}`)}</option>
            ))}
          </select>
        </label>
        <span>{person.value.name}</span>
        <button type="button" onClick={() => void signOut()}>
          {t('nav.signOut')}
        </button>
      </div>
    </header>
  );
}

/** `/` goes to the filter; `g` and a page's letter go to that page. */
function listenForKeys(): () => void {
  let goes = false;
  const press = (event: KeyboardEvent): void => {
    const { target, key } = event;
    const typing =
      target instanceof HTMLElement && /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (goes) {
      goes = false;
      const page = pages.find((one) => one.key === key);
      if (page !== undefined) go(page.href);
    } else if (key === 'g') goes = true;
    else if (key === '/') {
      const filter = document.querySelector<HTMLElement>('[data-filter]');
      if (filter === null) return;
      event.preventDefault();
      filter.focus();
    }
  };
  window.addEventListener('keydown', press);
  return () => window.removeEventListener('keydown', press);
}
