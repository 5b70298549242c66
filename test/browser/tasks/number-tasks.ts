/** Numbers on pages are those of the API at the same time; the token stays in memory. */

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Desk } from './desk.ts';
import { attackIn, type Task, type World } from './task.ts';

type Counts = Readonly<Record<string, string>>;

/** The lines of the ranking with this title: what is counted, and how often. Runs in the page. */
const ranking = (title: string): string => `Object.fromEntries(
  [...document.querySelectorAll('section')]
    .filter((one) => one.querySelector('h2')?.textContent === '${title}')
    .flatMap((one) => [...one.querySelectorAll('li')])
    .map((line) => [
      line.querySelector('bdi').textContent,
      line.querySelector('.number').title.replace(/[^0-9]/g, ''),
    ]))`;

const shownRanking = (desk: Desk, title: string): Promise<Counts> =>
  desk.page.evaluate(ranking(title)) as Promise<Counts>;

const lastHour = (): object => ({
  start: new Date(Date.now() - 3_600_000),
  end: new Date(),
});

interface Ranked {
  readonly key: string;
  readonly count?: string;
  readonly total?: string;
}

const countsOf = (items: readonly Ranked[] = []): Counts =>
  Object.fromEntries(items.map(({ key, count, total }) => [key, String(count ?? total ?? 0)]));

/** Each number of the overview that stands alone, by its title. Runs in the page. */
const tiles = `Object.fromEntries([...document.querySelectorAll('main .tile')].map((one) => [
  one.querySelector('h2').textContent, one.querySelector('p').title.replace(/[^0-9.]/g, ''),
]))`;

interface Overview {
  readonly traffic?: readonly { readonly total?: string; readonly blocked?: string }[];
  readonly stats: { readonly sitesEnabled?: number; readonly nodesOnline?: number };
  readonly trafficQuality?: {
    readonly total?: string;
    readonly status5xx?: string;
    readonly durationSumMicros?: string;
    readonly durationP99Micros?: string;
  };
  readonly securityTopRules: { readonly items?: Ranked[] };
  readonly securityTopAttackers: { readonly items?: Ranked[] };
  readonly securityTopAttackTypes: { readonly items?: Ranked[] };
  readonly securityTopCountries?: { readonly items?: Ranked[] };
  readonly topPaths: { readonly items?: Ranked[] };
  readonly topSites?: readonly { readonly total?: string }[];
}

/** The same from the answer of the API. */
function tilesOf({ traffic = [], stats, trafficQuality = {} }: Overview): Counts {
  const sum = (of: (point: (typeof traffic)[number]) => string | undefined): string =>
    String(traffic.reduce((all, point) => all + Number(of(point) ?? 0), 0));
  const { total = '0', status5xx = '0', durationSumMicros = '0' } = trafficQuality;
  const meanMs = Number(total) === 0 ? 0 : Number(durationSumMicros) / Number(total) / 1000;
  return {
    Requests: sum((point) => point.total),
    Blocked: sum((point) => point.blocked),
    'Server errors': status5xx,
    'Mean response time': String(Math.round(meanMs * 10) / 10),
    'Active sites': String(stats.sitesEnabled ?? 0),
    'Nodes online': String(stats.nodesOnline ?? 0),
  };
}

async function overview(world: World) {
  const request = { timeRange: lastHour(), topKLimit: 8 };
  const answer: unknown = await world.call('SystemService/GetDashboardOverview', request);
  return answer as Overview;
}

const paths = [
  ...['/', '/attacks', '/logs', '/alerts', '/sites', '/policies', '/tuning', '/protection'],
  ...['/apis', '/certificates', '/nodes', '/access', '/settings', '/operations', '/account'],
];

interface FoundEvent {
  readonly clientIp: string;
  readonly path: string;
  readonly anomalyScore?: number;
  readonly messages?: readonly {
    readonly ruleId: string;
    readonly matchVariable: string;
    readonly matchKey?: string;
    readonly scoreContribution?: number;
  }[];
}

/** The events that the page counts: the newest 500 of the hour. */
async function newestEvents(world: World): Promise<readonly FoundEvent[]> {
  const found: FoundEvent[] = [];
  for (let cursor = ''; found.length < 500;) {
    const { items, page } = (await world.call('LogService/QuerySecurityEvents', {
      ...{ page: { pageSize: 100, cursor }, timeRange: lastHour() },
      outcome: 'SECURITY_EVENT_OUTCOME_ANY',
    })) as { items?: FoundEvent[]; page?: { hasMore?: boolean; nextCursor?: string } };
    found.push(...(items ?? []));
    if (page?.hasMore !== true) break;
    cursor = page.nextCursor ?? '';
  }
  return found;
}

/** A line for each rule and place that gave points: events, clients, paths, mean score. */
function suspectsIn(events: readonly FoundEvent[]): string[] {
  const groups = new Map<string, Set<FoundEvent>>();
  for (const event of events) {
    for (const { ruleId, matchVariable, matchKey = '', scoreContribution = 0 } of event.messages ??
      []) {
      const key = `${ruleId} ${matchVariable}${matchKey === '' ? '' : `:${matchKey}`}`;
      if (scoreContribution > 0) groups.set(key, (groups.get(key) ?? new Set()).add(event));
    }
  }
  return [...groups].map(([key, group]) => {
    const all = [...group];
    const clients = new Set(all.map(({ clientIp }) => clientIp)).size;
    const paths = new Set(all.map(({ path }) => path.split('?', 1)[0])).size;
    const score = all.reduce((sum, { anomalyScore = 0 }) => sum + anomalyScore, 0) / all.length;
    return [key, all.length, clients, paths, score.toFixed(1)].join(' ');
  });
}

/** The same of the table that is shown. Runs in the page. */
const suspectRows = `[...document.querySelectorAll('main tbody tr[role=row]')]
  .filter((row) => row.querySelector('progress') !== null)
  .map((row) => [...row.cells])
  .map(([, rule, place, ...numbers]) => [
    rule.querySelector('a').textContent, place.textContent,
    ...numbers.slice(0, 4).map((cell) => cell.textContent),
  ].join(' ').replace(/[\\u2068\\u2069]/g, ''))`;

interface ListedSite {
  readonly name: string;
  readonly primaryHost: string;
  readonly aliases?: readonly string[];
  readonly upstreams?: readonly {
    readonly inline?: { readonly url: string };
    upstreamId?: string;
  }[];
  readonly status: string;
}

const siteLine = ({ name, primaryHost, aliases, upstreams, status }: ListedSite): string =>
  [
    ...[name, [primaryHost, ...(aliases ?? [])].join(', ')],
    (upstreams ?? []).map(({ inline, upstreamId = '' }) => inline?.url ?? upstreamId).join(', '),
    status === 'RESOURCE_STATUS_ACTIVE' ? 'Active' : 'Disabled',
  ].join(' | ');

/** Runs in the page. */
const siteRows = `[...document.querySelectorAll('main tbody tr[role=row]')]
  .map((row) => [0, 1, 2, 4].map((place) => row.cells[place].textContent).join(' | '))`;

/** The table. */
export const numberTasks: readonly Task[] = [
  {
    id: 'numbers-overview',
    page: 'Overview',
    does: 'compares every number and ranking with the API',
    expects: 'all of them are those of the API; rules have names',
    run: async (desk, world) => {
      await world.refused('top-lists');
      await desk.go('/?span=1h');
      await desk.refreshes(async () => {
        const found = await overview(world);
        const p99 = Number(found.trafficQuality?.durationP99Micros) / 1000;
        const text = (await desk.page.evaluate('document.body.innerText')) as string;
        const ranked = async (title: string, items: readonly Ranked[] = []): Promise<boolean> =>
          JSON.stringify(await shownRanking(desk, title)) === JSON.stringify(countsOf(items));
        const counted = async (title: string, items: readonly Ranked[] = []): Promise<boolean> =>
          Object.values(await shownRanking(desk, title)).join() ===
          Object.values(countsOf(items)).join();
        const sites = found.topSites?.map(({ total = '0' }, at) => ({ key: `${at}.`, total }));
        return (
          (found.securityTopRules.items ?? []).length > 0 &&
          isDeepStrictEqual(await desk.page.evaluate(tiles), tilesOf(found)) &&
          (await ranked('Rules that matched most', found.securityTopRules.items)) &&
          (await ranked('Clients', found.securityTopAttackers.items)) &&
          (await ranked('Paths asked for most', found.topPaths.items)) &&
          (await counted('Kinds of attack', found.securityTopAttackTypes.items)) &&
          (await counted('Sites asked for most', sites)) &&
          (await counted('Countries of attackers', found.securityTopCountries?.items)) &&
          text.includes(`99 % within ${p99.toLocaleString('en')} ms`) &&
          text.includes('SQL Injection Attack')
        );
      });
    },
  },
  {
    id: 'numbers-attacks',
    page: 'Attacks',
    does: 'chooses a path among those attacked most, and compares the numbers with the API',
    expects: 'the events of that path alone are left, as many as the API counts',
    run: async (desk, world) => {
      const { siteId, get } = await world.refused('narrowed');
      await eventually(async () => (await get(`/narrow${attackIn('q')}`)) === 403);
      await desk.go(`/attacks?span=1h&site=${siteId}`);
      await desk.press('/narrow/', 'Paths attacked most');
      const query = { timeRange: lastHour(), siteId, path: '/narrow/' };
      await desk.refreshes(async () => {
        const all = await world.call('LogService/GetSecurityLogSummary', {
          query: { ...query, outcome: 'SECURITY_EVENT_OUTCOME_ANY' },
        });
        const { total = '0', blocked = '0' } = all as { total?: string; blocked?: string };
        const text = (await desk.page.evaluate('document.body.innerText')) as string;
        const rows = await desk.page.$$('main tbody tr[role=row]');
        const sum = `${total} events: ${blocked} blocked, 0 passed`;
        return Number(total) > 0 && text.includes(sum) && rows.length === Number(total);
      });
    },
  },
  {
    id: 'numbers-tuning',
    page: 'Tuning',
    does: 'compares the suspected false positives with the events of the API',
    expects: 'each rule and place has as many events, clients and mean points as the API lists',
    run: async (desk, world) => {
      await world.refused('suspected');
      await desk.go('/tuning?span=1h');
      await eventually(async () => {
        const wanted = suspectsIn(await newestEvents(world));
        const rows = (await desk.page.evaluate(suspectRows)) as string[];
        return wanted.length > 0 && rows.toSorted().join() === wanted.toSorted().join();
      });
    },
  },
  {
    id: 'numbers-sites',
    page: 'Sites',
    does: 'compares the list of sites with the API',
    expects: 'each site stands there once, with its hosts, its origins and its state',
    run: async (desk, world) => {
      const id = await world.site('listed');
      const { revision } = await world.siteAt(id);
      await world.call('SiteService/DisableSite', { id, revision });
      await desk.go('/sites');
      await eventually(async () => {
        const { items } = await world.call('SiteService/ListSites', { page: { pageSize: 200 } });
        const wanted = (items as ListedSite[]).map(siteLine);
        const rows = (await desk.page.evaluate(siteRows)) as string[];
        return (
          wanted.some((line) => line.endsWith('Disabled')) &&
          rows.toSorted().join('\n') === wanted.toSorted().join('\n')
        );
      });
    },
  },
  {
    id: 'private',
    page: 'All pages',
    does: 'goes through all pages',
    expects: 'no request leaves for another host; the token is in no storage, address or cookie',
    run: async (desk, world) => {
      const urls: string[] = [];
      const tokens = new Set<string>();
      const note = (request: { url(): string; headers(): Record<string, string> }): void => {
        urls.push(request.url());
        const { authorization = '' } = request.headers();
        if (authorization !== '') tokens.add(authorization.replace('Bearer ', ''));
      };
      desk.page.on('request', note);
      try {
        for (const path of paths) await desk.go(path);
      } finally {
        desk.page.off('request', note);
      }
      expect(urls.length).toBeGreaterThan(paths.length);
      expect(urls.filter((url) => !url.startsWith(`${world.url}/`))).toEqual([]);
      expect(tokens.size).toBeGreaterThan(0);
      const kept = (await desk.page.evaluate(
        `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])`,
      )) as string;
      for (const token of tokens) {
        expect(token.length).toBeGreaterThan(20);
        expect(kept).not.toContain(token);
        expect(urls.join('\n')).not.toContain(token);
        expect(world.product.output()).not.toContain(token);
      }
    },
  },
];
