/**
 * The driver that keeps events in ClickHouse. A batch is acknowledged when the server has it; while
 * it has not, nodes keep their spools. Batches that were taken are noted beside the counts, and
 * one that still comes again makes rows equal to the first ones: the table keeps one of each.
 */

import { crc32c } from '../../../base/crc32c.ts';
import { toAppError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { Kv } from '../../store/kv.ts';
import { accessKind } from '../access-event.ts';
import type { EventStore, KeptSince } from '../event-store.ts';
import { eventLanes, type EventLane } from '../events/event-kind.ts';
import { EventListeners } from '../events/event-listeners.ts';
import {
  firstTime,
  passOn,
  wasSeen,
  type IncomingBatch,
  type IngestResult,
  type LaneUse,
} from '../events/event-log.ts';
import type { AnswerOf, KindName, Question } from '../events/event-questions.ts';
import { entriesOf } from '../events/tail.ts';
import { ClickhouseServer } from './clickhouse-client.ts';
import type { ClickhouseAddress } from './clickhouse-option.ts';
import { readDays, useOfDays, type Asking } from './event-days.ts';
import { readOne, readPage, readPart } from './event-pages.ts';
import { atWholeDays, changeRows, dropDays, textOfRetention } from './event-removal.ts';
import { kindOf, withStableIds, writeRows } from './event-rows.ts';
import { hasIndexes, kindOfLane, tableOf, tableStatements } from './event-tables.ts';
import { readRanking, readSummary } from './event-totals.ts';
import { InsertQueue } from './insert-queue.ts';
import { RowWriter } from './row-binary.ts';

/** What it works with. */
export interface ClickhouseParts {
  readonly address: ClickhouseAddress;
  /** Notes which batches were taken. */
  readonly kv: Kv;
  readonly logger: Logger;
  /** How long batches wait for others; tests do not wait. */
  readonly insertDelayMs?: number;
}

/** Opens the events. The server may come later: it is asked whenever something is to be done. */
export function openClickhouseEvents(parts: ClickhouseParts): EventStore {
  return new ClickhouseEvents(parts);
}

class ClickhouseEvents implements EventStore {
  readonly #parts: ClickhouseParts;
  readonly #server: ClickhouseServer;
  readonly #listeners = new EventListeners();
  readonly #queues: Readonly<Record<KindName, InsertQueue>>;
  /** Batches on their way: one that comes twice is inserted once. */
  readonly #taking = new Map<string, Promise<IngestResult>>();
  readonly #ended = new AbortController();
  readonly #forgotten = new Map<EventLane, string>();
  #tables: Promise<void> | null = null;
  #use: Record<EventLane, LaneUse> = useOfDays([]);
  /** Ends without an error. What is taken waits for it: it would count twice. */
  #measuring: Promise<void>;
  #problem = '';

  constructor(parts: ClickhouseParts) {
    this.#parts = parts;
    this.#server = new ClickhouseServer(parts.address);
    this.#queues = {
      security: this.#queueOf('security'),
      access: this.#queueOf('access'),
      error: this.#queueOf('error'),
    };
    // What fails is logged; the next batch or question tries again.
    this.#measuring = this.#measureUse().catch(() => undefined);
  }

  async ingest(lane: EventLane, batch: IncomingBatch, version: number): Promise<IngestResult> {
    const { schemaVersion, timeField } = kindOf(kindOfLane(lane));
    if (version !== schemaVersion) return 'schema';
    if (crc32c(batch.payload) !== batch.crc32c) return 'crc';
    const { agentId, tenantId, bootId, batchSeq } = batch;
    const found = entriesOf({ agentId, tenantId, number: 0 }, batch.payload, timeField);
    if (found === null) return 'schema';
    if (wasSeen(this.#parts.kv, streamOf(lane), batch)) return 'repeated';
    const name = [lane, agentId, bootId, batchSeq].join('\u0000');
    const before = this.#taking.get(name);
    if (before !== undefined) return before.then(() => 'repeated');
    const entries = withStableIds(lane, batch, found);
    const taking = this.#take(lane, batch, entries).finally(() => this.#taking.delete(name));
    this.#taking.set(name, taking);
    return taking;
  }

  passAccess(batch: IncomingBatch, schemaVersion: number): Promise<IngestResult> {
    return passOn(this.#parts.kv, 'access_export', accessKind, batch, schemaVersion, (entries) =>
      this.#listeners.tell('access', entries),
    );
  }

  async ask<Q extends Question>(question: Q, signal?: AbortSignal): Promise<AnswerOf<Q>> {
    signal?.throwIfAborted();
    return this.#noted(async () => {
      await this.#ready();
      return (await answer(this.#asking(signal), question)) as AnswerOf<Q>;
    }, signal);
  }

  subscribe: EventStore['subscribe'] = (listener) => this.#listeners.subscribe(listener);
  onFacts: EventStore['onFacts'] = (listener) => this.#listeners.onFacts(listener);
  problem = (): string => this.#problem;
  count = (): number => this.#use.security.events;
  use = (): Readonly<Record<EventLane, LaneUse>> => this.#use;

  async forget(since: KeptSince): Promise<void> {
    await this.#noted(async () => {
      await this.#ready();
      const asking = this.#asking(this.#ended.signal);
      const days = await readDays(asking);
      for (const lane of eventLanes) {
        const retention = atWholeDays(since[lane]);
        await dropDays(asking, lane, days, retention);
        const text = textOfRetention(retention);
        if (this.#forgotten.get(lane) === text) continue;
        await changeRows(asking, lane, retention);
        this.#forgotten.set(lane, text);
      }
      await this.#measure();
    }, this.#ended.signal);
  }

  async settled(): Promise<void> {
    await this.#measuring;
    for (const queue of Object.values(this.#queues)) await queue.settled();
    await Promise.allSettled(this.#taking.values());
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await this.settled();
    await this.#server.close();
    await this.#parts.kv.close();
  }

  async #take(
    lane: EventLane,
    batch: IncomingBatch,
    entries: ReturnType<typeof withStableIds>,
  ): Promise<IngestResult> {
    await this.#measuring;
    const kind = kindOfLane(lane);
    const writer = new RowWriter();
    const count = writeRows(writer, lane, batch, entries);
    const rows = writer.finish();
    if (count > 0) await this.#noted(() => this.#queues[kind].add(rows, count));
    const first = await this.#parts.kv.write((row) => firstTime(row, streamOf(lane), batch));
    if (!first) return 'repeated';
    const { events, bytes } = this.#use[lane];
    this.#use = { ...this.#use, [lane]: { events: events + count, bytes: bytes + rows.length } };
    if (lane === 'security' || lane === 'error') this.#listeners.tell(lane, entries);
    return 'stored';
  }

  #queueOf(kind: KindName): InsertQueue {
    const { address, insertDelayMs } = this.#parts;
    return new InsertQueue({
      insert: async (rows) => {
        await this.#ready();
        await this.#server.insert(tableOf(address, kind), rows);
      },
      nowMs: () => performance.now(),
      ...(insertDelayMs === undefined ? {} : { delayMs: insertDelayMs }),
    });
  }

  /** The tables are there. Errors: AppError events_unwritable, or events_refused. */
  #ready(): Promise<void> {
    this.#tables ??= this.#makeTables().catch((error: unknown) => {
      this.#tables = null;
      throw error;
    });
    return this.#tables;
  }

  async #makeTables(): Promise<void> {
    const indexed = hasIndexes(await this.#server.version());
    const [database = '', ...tables] = tableStatements(this.#parts.address, indexed);
    // Who may not make databases has one already, or the next statement says what is wrong.
    await this.#server.command(database).catch(() => undefined);
    for (const statement of tables) await this.#server.command(statement);
  }

  /** Measures what the tables hold, while nothing is taken. */
  #measure(): Promise<void> {
    const taking = [...this.#taking.values()];
    const measured = Promise.allSettled(taking).then(() => this.#measureUse());
    this.#measuring = measured.catch(() => undefined);
    return measured;
  }

  async #measureUse(): Promise<void> {
    await this.#noted(async () => {
      await this.#ready();
      this.#use = useOfDays(await readDays(this.#asking(this.#ended.signal)));
    }, this.#ended.signal);
  }

  #asking(signal: AbortSignal | undefined): Asking {
    return { server: this.#server, address: this.#parts.address, signal };
  }

  /** Notes whether the server does what is asked; logs when that changes. */
  async #noted<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      const result = await work();
      if (this.#problem !== '') this.#parts.logger.info('ClickHouse takes events again');
      this.#problem = '';
      return result;
    } catch (thrown) {
      const { message, source } = toAppError(thrown);
      if (signal?.aborted !== true && source === 'storage') this.#noteProblem(message);
      throw thrown;
    }
  }

  #noteProblem(reason: string): void {
    if (this.#problem === '') {
      this.#parts.logger.error('events cannot be kept or read: nodes keep new ones', { reason });
    }
    this.#problem = reason;
  }
}

/** Streams that were kept elsewhere before have notes of their own. */
function streamOf(lane: EventLane): string {
  return `clickhouse ${lane}`;
}

function answer(asking: Asking, question: Question): Promise<AnswerOf<Question>> {
  switch (question.ask) {
    case 'page':
      return readPage(asking, question);
    case 'part':
      return readPart(asking, question);
    case 'get':
      return readOne(asking, question.kind, question.id);
    case 'summary':
      return readSummary(asking, question);
    case 'ranking':
      return readRanking(asking, question);
  }
}
