/** How many events name a rule: a column of the tables that list rules. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { LogService, SecurityEventOutcome } from '../../../proto/gen/waf/v1/log_pb.ts';
import { refreshMs, useCall } from '../call.ts';
import { transport } from '../session.ts';
import { exactNumber, pageTexts } from '../text/text.ts';
import { timeRange } from '../time-span.ts';
import { Link } from './link.tsx';
import { NotKnown } from './not-known.tsx';
import { lacking } from './rights.tsx';
import type { Column } from './table.tsx';

const logs = createClient(LogService, transport);
/** Rules that are asked for. */
const rulesMax = 100;

const w = pageTexts({
  events: ['Events in 30 days', '30 天内事件'],
  never: ['Never', '从未'],
});

/** The column for these items; `ruleOf` names an item's rule, '' where it has none. */
export function useRuleEvents<T>(items: readonly T[], ruleOf: (item: T) => string): Column<T> {
  const rules = [...new Set(items.map(ruleOf))].filter((rule) => rule !== '').slice(0, rulesMax);
  const may = lacking(['log:read']) === '';
  const found = useCall(
    `${may} ${rules.join(' ')}`,
    (signal) => eventsOf(may ? rules : [], signal),
    6 * refreshMs,
  );
  return {
    title: w('events'),
    number: true,
    by: (item) => found.value?.get(ruleOf(item)),
    of: (item) => {
      const rule = ruleOf(item);
      const count = found.value?.get(rule);
      if (count !== undefined) return <Events rule={rule} count={count} />;
      const asked = rule === '' || rules.includes(rule);
      return <NotKnown error={rule === '' ? '' : found.error} asked={asked} rows={rulesMax} />;
    },
  };
}

/** Events of a month by rule. */
async function eventsOf(
  rules: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, bigint>> {
  const counts = rules.map(async (rule) => {
    const outcome = SecurityEventOutcome.ANY;
    const query = { timeRange: timeRange('30d'), ruleIds: [rule], outcome };
    const { total } = await logs.getSecurityLogSummary({ query }, { signal });
    return [rule, total] as const;
  });
  return new Map(await Promise.all(counts));
}

/** How often a rule matched, as the way to these events. */
function Events({ rule, count }: { readonly rule: string; readonly count: bigint }): JSX.Element {
  if (count === 0n) return <span class="quiet">{w('never')}</span>;
  return <Link href={`/attacks?span=30d&rule=${rule}`}>{exactNumber(count)}</Link>;
}
