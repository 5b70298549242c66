/** How often rules of guards decided: a column of the tables that list them. */

import { createClient } from '@connectrpc/connect';
import { timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import { GuardService, type RuleHits } from '../../../proto/gen/waf/guard/v1/guard_pb.ts';
import { useCall } from '../call.ts';
import { transport } from '../session.ts';
import { exactNumber, localTime, pageTexts, utcTime } from '../text/text.ts';
import { NotKnown } from './not-known.tsx';
import { lacking } from './rights.tsx';
import type { Column } from './table.tsx';

const guards = createClient(GuardService, transport);
const idsMax = 200;
const longMs = 30 * 24 * 3_600_000;

const w = pageTexts({
  hits: ['Hits', '命中'],
  never: ['Never', '从未'],
  last: ['last {at}', '最近 {at}'],
  long: ['none in 30 days, last {at}', '30 天内无命中，最近 {at}'],
  uncounted: [
    'An allow that skips no inspection changes nothing, and is not counted.',
    '不跳过检测的允许不改变任何处理，不计数。',
  ],
});

interface Counted {
  readonly hits: bigint;
  readonly lastHitAt?: Timestamp | undefined;
}

interface Rule {
  readonly id: string;
  readonly kind?: string;
}

/** The column for these rules. */
export function useHitsColumn<T extends Rule>(rules: readonly T[]): Column<T> {
  const ids = rules.map(({ id }) => id).slice(0, idsMax);
  const may = lacking(['log:read']) === '';
  const found = useCall(`${may} ${ids.join(' ')}`, (signal) => hitsOf(may ? ids : [], signal));
  return {
    title: w('hits'),
    number: true,
    by: ({ id }) => found.value?.get(id)?.hits,
    of: ({ id, kind = '' }) => {
      const hits = found.value?.get(id);
      if (hits !== undefined) return <Hits of={hits} allows={kind === 'allow'} />;
      return <NotKnown error={found.error} asked={ids.includes(id)} rows={idsMax} />;
    },
  };
}

async function hitsOf(
  ruleIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RuleHits>> {
  if (ruleIds.length === 0) return new Map();
  const { items } = await guards.listRuleHits({ ruleIds: [...ruleIds] }, { signal });
  return new Map(items.map((one) => [one.ruleId, one]));
}

/** Why hits of some allows are not known. */
export const hitsNotCounted = (): string => w('uncounted');

/** What is known of the hits of a rule or an entry of a list; nothing where it is not told. */
export function Hits({
  of,
  allows = false,
}: {
  readonly of: Counted | undefined;
  readonly allows?: boolean;
}): JSX.Element {
  if (of === undefined) return <>–</>;
  const { hits, lastHitAt } = of;
  if (lastHitAt === undefined) {
    return allows ? <span title={w('uncounted')}>–</span> : <span class="quiet">{w('never')}</span>;
  }
  const old = timestampMs(lastHitAt) < Date.now() - longMs;
  return (
    <span title={utcTime(lastHitAt)}>
      {exactNumber(hits)} <small>{w(old ? 'long' : 'last', { at: localTime(lastHitAt) })}</small>
    </span>
  );
}
