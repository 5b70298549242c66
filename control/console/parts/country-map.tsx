/**
 * Countries as tiles, each about where it lies on a map: the more events, the stronger its color,
 * and each leads to its events. What has no place of its own stands below.
 */

import type { JSX } from 'preact';
import { exactNumber, language, pageTexts } from '../text/text.ts';
import { countryName } from './countries.ts';
import { Link } from './link.tsx';

const w = pageTexts({
  title: ['Where attacks came from', '攻击来源'],
  elsewhere: [
    '{count} more from countries that are not shown or not known.',
    '另有 {count} 个来自未显示或未知的国家/地区。',
  ],
});

/** Rows from north to south; a dot is an empty place. */
const layout = [
  '. . . . . . GL . . . . IS . . NO SE FI . . . . . . . . .',
  '. CA . . . . . . . . . FO . DK . LV EE RU . . . . . . . .',
  '. US . . . . . . . . IE GB NL DE PL LT BY . KZ . . MN . . . .',
  '. . . BM . . . . . . . BE LU CZ SK UA MD GE UZ KG . CN KP . JP .',
  '. MX . BS . . . . . . FR CH LI AT HU RO . AM AZ TM TJ . KR . . .',
  '. GT BZ CU TC . . . . AD MC IT SI HR RS BG TR . IR AF . . HK TW . .',
  '. SV HN JM HT DO PR . PT ES SM VA BA ME MK . SY IQ . PK NP BT MO . PH .',
  '. NI . KY . KN AG . GI . . MT AL GR . CY LB JO KW . IN BD MM LA VN .',
  '. CR PA . CW DM LC . . MA DZ TN LY EG IL PS SA BH QA . LK . TH KH . GU',
  '. . CO VE GD VC BB . EH MR ML NE TD SD ER DJ YE AE OM . MV . MY BN . PW',
  '. . EC . TT GP MQ . CV SN BF NG CF SS ET SO . . . . . SG ID TL PG MH',
  '. . PE BR GY SR GF . GM GN CI GH CM UG KE . . SC . . . . . . SB NR',
  '. . BO PY . . . . GW SL LR TG BJ GA CD RW TZ . KM . . . AU . VU TV',
  '. . CL UY . . . . . . ST GQ CG AO ZM BI MW MZ MG MU . . . NC FJ WS',
  '. . AR . . . . . . . . . . NA BW ZW SZ . . RE . . . NZ TO PF',
  '. . FK . . . . . . . . . . . ZA LS . . . . . . . . . .',
].map((row) => row.split(' '));
const columns = 26;

/** Row and column of each country, from 1 on. */
const places: ReadonlyMap<string, Place> = new Map(
  layout.flatMap((codes, row) =>
    codes.flatMap((code, column) =>
      code === '.' ? [] : [[code, { row: row + 1, column: column + 1 }] as const],
    ),
  ),
);

interface Place {
  readonly row: number;
  readonly column: number;
}

/** Colors of the least and the most events: text stays legible on both. */
const shares = { least: 12, most: 45 } as const;

interface CountryMapProps {
  /** Events by the code of their country. */
  readonly counts: readonly { readonly key: string; readonly count: bigint }[];
  /** Events of no country among these. */
  readonly elsewhere: bigint;
  readonly hrefOf: (code: string) => string;
}

/** The map. */
export function CountryMap({ counts, elsewhere, hrefOf }: CountryMapProps): JSX.Element {
  const most = Math.max(...counts.map(({ count }) => Number(count)));
  const named = new Set(counts.map(({ key }) => key));
  const others = [...places].filter(([code]) => !named.has(code));
  const apart = counts.filter(({ key }) => !places.has(key)).map(({ key }) => key);
  return (
    <section class="card wide">
      <h2>{w('title')}</h2>
      <ul class="country-map" aria-label={w('title')}>
        {counts.map(({ key, count }) => (
          <li key={key} style={areaOf(places.get(key) ?? placeBelow(apart.indexOf(key)))}>
            <Tile code={key} count={count} most={most} href={hrefOf(key)} />
          </li>
        ))}
        {others.map(([code, place]) => (
          <li key={code} style={areaOf(place)} aria-hidden="true">
            {code}
          </li>
        ))}
      </ul>
      {elsewhere > 0n && <p class="quiet">{w('elsewhere', { count: exactNumber(elsewhere) })}</p>}
    </section>
  );
}

interface TileProps {
  readonly code: string;
  readonly count: bigint;
  readonly most: number;
  readonly href: string;
}

/** Counts differ by orders of magnitude: the color goes by the logarithm. */
function Tile({ code, count, most, href }: TileProps): JSX.Element {
  const part = Math.log1p(Number(count)) / Math.log1p(most);
  const share = shares.least + Math.round((shares.most - shares.least) * part);
  const words = `${countryName(code, language.value)}: ${exactNumber(count)}`;
  return (
    <Link href={href} label={words} style={{ '--share': `${share}%` }}>
      {code}
    </Link>
  );
}

const areaOf = ({ row, column }: Place): { gridArea: string } => ({
  gridArea: `${row} / ${column}`,
});

/** Where a country without a place of its own stands. */
function placeBelow(at: number): Place {
  return { row: layout.length + 2 + Math.floor(at / columns), column: 1 + (at % columns) };
}
