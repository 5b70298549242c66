/** Adds events up in ClickHouse: totals, a trend, rankings; what comes twice counts once. */

import type { SecuritySummaryDimensionJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { attackSeverities } from '../security-event.ts';
import { ruleTextSeparator } from '../security-terms.ts';
import { emptyTrend, type SecuritySummary, type TopEntry } from '../summary.ts';
import type { RankingQuestion, SummaryQuestion } from '../events/event-questions.ts';
import { fieldOfDimension, type Ranked } from '../events/event-sums.ts';
import type { AnswerRow } from './clickhouse-client.ts';
import type { Asking } from './event-days.ts';
import { conditionsOf, literalOf } from './conditions.ts';
import { tableOf } from './event-tables.ts';

const blocked = "outcome = 'blocked'";
const attack = `(${blocked} OR severity IN (${attackSeverities.map(literalOf).join(', ')}))`;

/** Adds security events up. */
export async function readSummary(
  asking: Asking,
  { filter, wanted, topLimit, withTrend }: SummaryQuestion,
): Promise<SecuritySummary> {
  const from = `FROM ${tableOf(asking.address, 'security')} FINAL`;
  const where = `WHERE ${conditionsOf('security', filter, '')}`;
  const [sums = {}] = await ask(
    asking,
    `SELECT count() AS total, sum(${blocked}) AS stopped, min(at) AS first, max(at) AS last ` +
      `${from} ${where}`,
  );
  const total = numberOf(sums, 'total');
  const top = new Map<SecuritySummaryDimensionJson, readonly TopEntry[]>();
  for (const dimension of wanted) {
    const field = fieldOfDimension[dimension];
    if (field === undefined) continue;
    top.set(dimension, await readTop(asking, field, `${from} ${where}`, topLimit));
  }
  const trend = emptyTrend(
    ...(withTrend && total > 0
      ? [Math.floor(numberOf(sums, 'first') / 1000), Math.floor(numberOf(sums, 'last') / 1000)]
      : []),
  );
  const [first] = trend;
  if (first !== undefined) {
    const stepMs = (trend[1]?.atMs ?? first.atMs + 1000) - first.atMs;
    const rows = await ask(
      asking,
      `SELECT intDiv(at - ${first.atMs}, ${stepMs}) AS step, count() AS events, ` +
        `sum(${blocked}) AS stopped ${from} ${where} GROUP BY step`,
    );
    for (const row of rows) {
      const step = trend[numberOf(row, 'step')];
      if (step === undefined) continue;
      step.count = numberOf(row, 'events');
      step.blocked = numberOf(row, 'stopped');
    }
  }
  return { total, blocked: numberOf(sums, 'stopped'), trend, top, limited: [] };
}

/** Rules are ranked by what matched, the others by attacks. */
async function readTop(
  asking: Asking,
  field: string,
  from: string,
  limit: number,
): Promise<TopEntry[]> {
  const order = `GROUP BY value ORDER BY events DESC, value ASC LIMIT ${limit}`;
  if (field !== 'rule_text') {
    const only = `AND ${attack} AND ${field} != ''`;
    const statement = `SELECT ${field} AS value, count() AS events ${from} ${only} ${order}`;
    return (await ask(asking, statement)).map((row) => entryOf(row, ''));
  }
  const id = `substring(text, 1, position(text, ${literalOf(ruleTextSeparator)}) - 1)`;
  const statement =
    `SELECT ${id} AS value, any(text) AS label, count() AS events ` +
    `FROM (SELECT arrayJoin(rule_text) AS text ${from}) ${order}`;
  return (await ask(asking, statement)).map((row) => {
    const label = (row['label'] as string | undefined) ?? '';
    return entryOf(row, label.slice(label.indexOf(ruleTextSeparator) + 1));
  });
}

/** Ranks the values of one field of events. */
export async function readRanking(
  asking: Asking,
  { kind, filter, field, limit }: RankingQuestion,
): Promise<Ranked> {
  const from = `FROM ${tableOf(asking.address, kind)} FINAL`;
  const where = `WHERE ${conditionsOf(kind, filter, '')}`;
  const [sums = {}] = await ask(asking, `SELECT count() AS total ${from} ${where}`);
  const rows = await ask(
    asking,
    `SELECT toString(${field}) AS value, count() AS events ${from} ${where} ` +
      `AND value != '' GROUP BY value ORDER BY events DESC, value ASC LIMIT ${limit}`,
  );
  const entries = rows.map((row) => entryOf(row, ''));
  return { entries, events: numberOf(sums, 'total'), limited: false };
}

function ask({ server, signal }: Asking, statement: string): Promise<readonly AnswerRow[]> {
  return server.rows(statement, signal);
}

function entryOf(row: AnswerRow, label: string): TopEntry {
  const value = row['value'] as string | number | undefined;
  return { key: String(value ?? ''), count: BigInt(numberOf(row, 'events')), label };
}

function numberOf(row: AnswerRow, name: string): number {
  return Number(row[name] ?? 0);
}
