/** The frame of the console: navigation, which page an address shows, keys of all pages. */

import { lazy, type LazyPage } from './lazy.tsx';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { address, go } from './address.ts';
import { Link } from './parts/link.tsx';
import { lacking } from './parts/rights.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { person, session, signOut } from './session.ts';
import { chooseLanguage, language, languages, t, timeZone, type Language } from './text/text.ts';
import { chooseTheme, theme, themes, type Theme } from './theme.ts';

const Overview = lazy(async () => (await import('./pages/overview.tsx')).Overview);
const Attacks = lazy(async () => (await import('./pages/attacks.tsx')).Attacks);
const AttackEvent = lazy(async () => (await import('./pages/event.tsx')).AttackEvent);
const Sites = lazy(async () => (await import('./pages/sites.tsx')).Sites);
const SitePage = lazy(async () => (await import('./pages/site.tsx')).SitePage);
const Logs = lazy(async () => (await import('./pages/logs.tsx')).Logs);
const Alerts = lazy(async () => (await import('./pages/alerts.tsx')).Alerts);
const Tuning = lazy(async () => (await import('./pages/tuning.tsx')).Tuning);
const Policies = lazy(async () => (await import('./pages/policies.tsx')).Policies);
const PolicyPage = lazy(async () => (await import('./pages/policy.tsx')).PolicyPage);
const Protection = lazy(async () => (await import('./pages/protection.tsx')).Protection);
const Apis = lazy(async () => (await import('./pages/apis.tsx')).Apis);
const Certificates = lazy(async () => (await import('./pages/certificates.tsx')).Certificates);
const Nodes = lazy(async () => (await import('./pages/nodes.tsx')).Nodes);
const Access = lazy(async () => (await import('./pages/access.tsx')).Access);
const Settings = lazy(async () => (await import('./pages/settings.tsx')).Settings);
const Operations = lazy(async () => (await import('./pages/operations.tsx')).Operations);
const Account = lazy(async () => (await import('./pages/account.tsx')).Account);
const Start = lazy(async () => (await import('./pages/start.tsx')).Start);

const groups = [
  {
    name: 'nav.watch',
    pages: [
      { href: '/', name: 'nav.overview', key: 'o', page: Overview },
      { href: '/attacks', name: 'nav.attacks', key: 'a', page: Attacks },
      { href: '/logs', name: 'nav.logs', key: 'l', page: Logs },
      { href: '/alerts', name: 'nav.alerts', key: 'e', page: Alerts },
    ],
  },
  {
    name: 'nav.protect',
    pages: [
      { href: '/sites', name: 'nav.sites', key: 's', page: Sites },
      { href: '/policies', name: 'nav.policies', key: 'p', page: Policies },
      { href: '/tuning', name: 'nav.tuning', key: 't', page: Tuning },
      { href: '/protection', name: 'nav.protection', key: 'r', page: Protection },
      { href: '/apis', name: 'nav.apis', key: 'i', page: Apis },
    ],
  },
  {
    name: 'nav.operate',
    pages: [
      { href: '/certificates', name: 'nav.certificates', key: 'c', page: Certificates },
      { href: '/nodes', name: 'nav.nodes', key: 'n', page: Nodes },
      { href: '/access', name: 'nav.access', key: 'u', page: Access },
      { href: '/settings', name: 'nav.settings', key: 'x', page: Settings },
      { href: '/operations', name: 'nav.operations', key: 'z', page: Operations },
    ],
  },
] as const;
const pages = groups.flatMap((group) => group.pages.map((page) => page));
type Href = (typeof pages)[number]['href'];

/** What a person needs for the views of a page; who may see none of them is not led there. */
const viewRights: Readonly<Record<Href, readonly (readonly string[])[]>> = {
  '/': [['site:read', 'telemetry:read']],
  '/attacks': [['log:read']],
  '/logs': [['log:read'], ['system:read']],
  '/alerts': [['alert:read']],
  '/sites': [['site:read']],
  '/policies': [['policy:read']],
  '/tuning': [['log:read']],
  '/protection': [['policy:read'], ['system:read']],
  '/apis': [['site:read', 'telemetry:read']],
  '/certificates': [['cert:read']],
  '/nodes': [['agent:read']],
  '/access': [[]],
  '/settings': [['system:read'], ['system:update:read']],
  '/operations': [[]],
};

/** Whether a person may see a view of a page. */
const isOffered = ({ href }: { readonly href: Href }): boolean =>
  viewRights[href].some((codes) => lacking(codes) === '');

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
      <Sidebar key={address.value.path} />
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

/** Pages of one record, by the list that it is in. */
const recordPages = { attacks: AttackEvent, policies: PolicyPage, sites: SitePage } as const;

/** The page of a record that a path names, with the record's id. */
function recordAt(
  path: string,
): { readonly id: string; readonly page: LazyPage<{ id: string }> } | null {
  const [, list, id] = /^\/(attacks|policies|sites)\/([\w.-]{1,256})$/.exec(path) ?? [];
  if (list === undefined || id === undefined) return null;
  return { id, page: recordPages[list as keyof typeof recordPages] };
}

/** The page of a path that names no record. */
function pageAt(path: string): LazyPage<object> | undefined {
  if (path === '/start') return Start;
  if (path === '/account') return Account;
  const named = pages.find(({ href }) => href === path);
  // Who may not see the overview begins at the first page of theirs.
  if (named?.href === '/' && session.value !== 'starting' && !isOffered(named)) {
    return pages.find((page) => isOffered(page))?.page;
  }
  return named?.page;
}

/** Fetches the code of a page while the session is still continued. */
export function fetchPage(path: string): void {
  const fetch = recordAt(path)?.page.fetch ?? pageAt(path)?.fetch;
  // Where it fails, the page itself tries again and shows the failure.
  fetch?.().catch(() => undefined);
}

function Page(): JSX.Element {
  const { path } = address.value;
  if (person.value.firstPassword) return <Start />;
  const record = recordAt(path);
  if (record !== null) return <record.page key={record.id} id={record.id} />;
  const Found = pageAt(path);
  return Found === undefined ? <p>{t('common.missing')}</p> : <Found />;
}

const isAt = (path: string, href: Href): boolean =>
  path === href || (href !== '/' && path.startsWith(`${href}/`));

/** The navigation; in a narrow window it opens with a button, and closes with a page. */
function Sidebar(): JSX.Element {
  const { path } = address.value;
  const [open, setOpen] = useState(false);
  return (
    <header class={open ? 'side open' : 'side'}>
      <p class="brand">
        <strong>{t('app.name')}</strong>
        <button
          type="button"
          class="menu"
          aria-expanded={open}
          aria-controls="menu"
          onClick={() => setOpen(!open)}
        >
          {t('nav.menu')}
        </button>
      </p>
      <div class="menu-body" id="menu">
        <nav aria-label={t('nav.label')}>
          {groups.map((group) => {
            const offered = group.pages.filter((page) => isOffered(page));
            return (
              offered.length > 0 && (
                <>
                  <p class="group">{t(group.name)}</p>
                  {offered.map(({ href, name }) => (
                    <Link href={href} current={isAt(path, href)}>
                      {t(name)}
                    </Link>
                  ))}
                </>
              )
            );
          })}
        </nav>
        <Choices />
      </div>
    </header>
  );
}

/** Language, theme, and who is signed in. */
function Choices(): JSX.Element {
  return (
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
      <p class="zone quiet">{t('nav.zone', { zone: timeZone() })}</p>
      <Link href="/account" current={address.value.path === '/account'}>
        {person.value.name || t('nav.account')}
      </Link>
      <button type="button" onClick={() => void signOut()}>
        {t('nav.signOut')}
      </button>
    </div>
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
      const page = pages.find((one) => one.key === key && isOffered(one));
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
