/** The first page: what happened, and what needs a person. */

import { createClient } from '@connectrpc/connect';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import {
  SystemService,
  type DashboardSecurityTopK,
  type GetDashboardOverviewResponse,
} from '../../../proto/gen/waf/v1/system_pb.ts';
import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { address } from '../address.ts';
import { refreshMs, useCall } from '../call.ts';
import { attackName } from '../parts/attack-name.ts';
import { countryName } from '../parts/countries.ts';
import { CountryMap } from '../parts/country-map.tsx';
import { Link } from '../parts/link.tsx';
import { Ranking, type Rank } from '../parts/ranking.tsx';
import { siteNames, useSites } from '../parts/site-names.tsx';
import { SpanChoice } from '../parts/span-choice.tsx';
import { State } from '../parts/state.tsx';
import { TimeBars } from '../parts/time-bars.tsx';
import { isUnderAttack } from '../parts/under-attack.ts';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import {
  changeOf,
  exactNumber,
  language,
  localTime,
  pageTexts,
  percent,
  shortNumber,
  t,
} from '../text/text.ts';
import { spanOf, timeRange, type Span } from '../time-span.ts';

const system = createClient(SystemService, transport);
const w = pageTexts({
  attacked: [
    'is under attack: every client gets a challenge.',
    '遭受攻击：每个客户端都须通过验证。',
  ],
});

const ranksShown = 8;
/** The most that the API ranks: the map has a tile for each country. */
const ranksAsked = 100;
const weekMs = 7 * 24 * 3_600_000;

/** Numbers of all sites over a span, refreshed while it is looked at. */
export function Overview(): JSX.Element {
  const span = spanOf(address.value.query.get('span'));
  const found = useCall(span, (signal) =>
    system.getDashboardOverview({ timeRange: timeRange(span), topKLimit: ranksAsked }, { signal }),
  );
  const before = useCall(
    span,
    (signal) =>
      system.getDashboardOverview({ timeRange: timeRange(span, weekMs), topKLimit: 1 }, { signal }),
    6 * refreshMs,
  );
  return (
    <>
      <div class="head">
        <h1>{t('overview.title')}</h1>
        <SpanChoice />
      </div>
      <State of={found}>
        {(answer) => <Numbers answer={answer} before={before.value} span={span} />}
      </State>
    </>
  );
}

interface NumbersProps {
  readonly answer: GetDashboardOverviewResponse;
  /** The same a week before; null until it is known. */
  readonly before: GetDashboardOverviewResponse | null;
  readonly span: Span;
}

/** Requests of a span, and how many of them were blocked. */
function sumOf(answer: GetDashboardOverviewResponse | null): { total: bigint; blocked: bigint } {
  const points = answer?.traffic ?? [];
  return {
    total: points.reduce((sum, point) => sum + point.total, 0n),
    blocked: points.reduce((sum, point) => sum + point.blocked, 0n),
  };
}

function Numbers({ answer, before, span }: NumbersProps): JSX.Element {
  const { total, blocked } = sumOf(answer);
  const { stats } = answer;
  const sites = useSites();
  const countries = answer.securityTopCountries;
  const label = t('overview.trafficText', {
    total: exactNumber(total),
    blocked: exactNumber(blocked),
    from: localTime(answer.timeRange?.start),
    to: localTime(answer.timeRange?.end),
  });
  const bars = answer.traffic.map(({ bucketStart, total: all, blocked: red }) => ({
    at: bucketStart,
    total: all,
    blocked: red,
  }));
  return (
    <>
      <div class="tiles">
        <Tile
          name={t('overview.requests')}
          value={total}
          note={changeNote(total, sumOf(before).total)}
        />
        <Tile
          name={t('overview.blocked')}
          value={blocked}
          note={[
            `${percent(blocked, total)} ${t('overview.share')}`,
            changeNote(blocked, sumOf(before).blocked),
          ]
            .filter(Boolean)
            .join('; ')}
        />
        <QualityTiles answer={answer} before={before} />
        <Tile name={t('overview.sites')} value={stats?.sitesEnabled ?? 0} />
        <Tile
          name={t('overview.nodes')}
          value={stats?.nodesOnline ?? 0}
          note={t('overview.ofNodes', { count: exactNumber(stats?.nodesTotal ?? 0) })}
        />
      </div>
      <Attention answer={answer} attacked={(sites.value ?? []).filter(isUnderAttack)} />
      <section class="card wide">
        <h2>{t('overview.traffic')}</h2>
        <TimeBars
          bars={bars}
          startMs={answer.timeRange?.start ? timestampMs(answer.timeRange.start) : 0}
          endMs={answer.timeRange?.end ? timestampMs(answer.timeRange.end) : Date.now()}
          leastMs={Number(answer.trafficBucketSeconds) * 1000}
          unit={t('overview.requests')}
          label={label}
        />
        <p class="quiet">{label}</p>
      </section>
      <Rankings answer={answer} span={span} nameOf={siteNames(sites)} />
      {countries !== undefined && countries.items.length > 0 && (
        <CountryMap
          counts={countries.items}
          elsewhere={countries.otherCount}
          hrefOf={(code) => countryHref(code, span)}
        />
      )}
      {answer.coverageLimited && <p class="quiet">{t('overview.limited')}</p>}
    </>
  );
}

interface RankingsProps extends Pick<NumbersProps, 'answer' | 'span'> {
  /** Names a site by its id. */
  readonly nameOf: (id: string) => string;
}

/** What was asked for and found most. */
function Rankings({ answer, span, nameOf }: RankingsProps): JSX.Element {
  return (
    <div class="columns few">
      <Ranking
        title={t('overview.topRules')}
        ranks={ranksOf(answer.securityTopRules, 'rule', span)}
      />
      <Ranking
        title={t('overview.topTypes')}
        ranks={ranksOf(answer.securityTopAttackTypes, 'type', span)}
      />
      <Ranking
        title={t('overview.topAttackers')}
        ranks={ranksOf(answer.securityTopAttackers, 'client', span)}
      />
      <Ranking
        title={t('overview.topPaths')}
        ranks={(answer.topPaths?.items ?? []).slice(0, ranksShown).map(({ key, total: count }) => ({
          key,
          count,
          href: `/logs?${new URLSearchParams({ span, path: key }).toString()}`,
        }))}
      />
      <Ranking
        title={t('overview.topSites')}
        ranks={answer.topSites.slice(0, ranksShown).map(({ siteId, total: count }) => ({
          key: nameOf(siteId),
          count,
          href: `/attacks?${new URLSearchParams({ span, site: siteId }).toString()}`,
        }))}
      />
      <Ranking
        title={t('overview.topCountries')}
        ranks={(answer.securityTopCountries?.items ?? [])
          .slice(0, ranksShown)
          .map(({ key, count }) => ({
            key: countryName(key, language.value),
            count,
            href: countryHref(key, span),
          }))}
      />
    </div>
  );
}

/** Errors that clients got, and how long answers took. */
function QualityTiles({
  answer: { trafficQuality: now },
  before,
}: Pick<NumbersProps, 'answer' | 'before'>): JSX.Element {
  const { total = 0n, status5xx = 0n, durationSumMicros = 0n, durationP99Micros = 0n } = now ?? {};
  const meanMs = total === 0n ? 0 : Number(durationSumMicros) / Number(total) / 1000;
  const earlier = before?.trafficQuality?.status5xx ?? 0n;
  return (
    <>
      <Tile
        name={t('overview.errors')}
        value={status5xx}
        note={[percent(status5xx, total), changeNote(status5xx, earlier)]
          .filter(Boolean)
          .join('; ')}
      />
      <Tile
        name={t('overview.duration')}
        value={Math.round(meanMs * 10) / 10}
        note={
          durationP99Micros === 0n ? t('overview.ms') : p99Note(Number(durationP99Micros) / 1000)
        }
      />
    </>
  );
}

/** The largest class of durations has no upper bound. */
const largestMs = 10_000;

function p99Note(ms: number): string {
  const text = exactNumber(ms);
  return t(ms < largestMs ? 'overview.p99' : 'overview.p99Over', { ms: text });
}

function changeNote(now: bigint, earlier: bigint): string {
  const change = changeOf(now, earlier);
  return change === '' ? '' : t('overview.change', { change });
}

function Tile({
  name,
  value,
  note = '',
}: {
  readonly name: string;
  readonly value: bigint | number;
  readonly note?: string;
}): JSX.Element {
  return (
    <section class="card tile">
      <h2>{name}</h2>
      <p title={exactNumber(value)}>
        <span class="large">{shortNumber(value)}</span> <small>{note}</small>
      </p>
    </section>
  );
}

/** A ranking of security events; each line leads to the events that it counts. */
function ranksOf(ranking: DashboardSecurityTopK | undefined, filter: string, span: Span): Rank[] {
  return (ranking?.items ?? []).slice(0, ranksShown).map(({ key, count, label }) => ({
    key,
    count,
    ...(filter === 'type' ? { name: attackName(key) } : { label }),
    href: `/attacks?${new URLSearchParams({ span, [filter]: key }).toString()}`,
  }));
}

/** The events of a country. */
function countryHref(code: string, span: Span): string {
  return `/attacks?${new URLSearchParams({ span, country: code }).toString()}`;
}

/** What waits for somebody, each with the place to go to. */
function Attention({
  answer,
  attacked,
}: {
  readonly answer: GetDashboardOverviewResponse;
  /** Sites that challenge every client. */
  readonly attacked: readonly Site[];
}): JSX.Element {
  const { stats, freshness } = answer;
  const offline = (stats?.nodesTotal ?? 0) - (stats?.nodesOnline ?? 0);
  const lines = [
    (stats?.certsExpiring14d ?? 0) > 0 && t('overview.certs', { count: stats!.certsExpiring14d }),
    (stats?.acmeRenewalsFailed24h ?? 0) > 0 &&
      t('overview.acme', { count: stats!.acmeRenewalsFailed24h }),
    offline > 0 && t('overview.offline', { count: offline }),
    freshness?.observationDegraded === true && t('overview.degraded'),
  ].filter((line) => line !== false);
  const noSite = (stats?.sitesEnabled ?? 0) === 0;
  const calm = lines.length === 0 && !noSite && attacked.length === 0;
  return (
    <section class="card wide attention">
      <h2>{t('overview.attention')}</h2>
      {calm && <p class="quiet">{t('overview.calm')}</p>}
      {!calm && (
        <ul>
          {attacked.map(({ id, name }) => (
            <li>
              <Link href={`/sites/${id}`}>
                <VisibleText text={name} />
              </Link>{' '}
              {w('attacked')}
            </li>
          ))}
          {lines.map((line) => (
            <li>{line}</li>
          ))}
          {noSite && (
            <li>
              {t('overview.noSite')} <Link href="/sites">{t('overview.createSite')}</Link>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}
