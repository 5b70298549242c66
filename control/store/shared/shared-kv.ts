/**
 * The storage driver of several controllers: reads come from a local copy, writes go through a
 * shared log. A change runs at once over the copy and what waits; it is made again when others
 * appended before it got into the log. Nothing is acknowledged that is not in the log.
 */

import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, toAppError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { sharedStoreLimits, storeLimits } from '../../limits/store-limits.ts';
import { Draft, readThrough, type DraftValue } from '../draft.ts';
import type { Kv, KvEntry, KvRange, KvReader, KvWriter } from '../kv.ts';
import { isLayoutKey } from '../migrations.ts';
import { embedded, Replica } from './replica.ts';
import {
  diverged,
  type HeldLog,
  type LogEntry,
  type WriteLog,
  type WriteSet,
} from './write-log.ts';

/** What a shared store is made of. */
export interface SharedKvOptions {
  /** The local copy; empty, or a copy of this log's store. */
  readonly local: Kv;
  readonly log: WriteLog;
  readonly logger: Logger;
  /** Why the layout of what others wrote is not for this version; '' when it is. */
  readonly layoutProblem: (reader: KvReader) => string;
}

/**
 * Opens the driver; the copy has what the log has when this resolves. Errors: AppError
 * store_embedded, store_away, store_diverged, store_damaged.
 */
export async function openSharedKv(options: SharedKvOptions): Promise<Kv> {
  const shared = new SharedKv(options);
  await shared.open();
  return shared;
}

/** A transaction on its way into the log. */
interface Waiting {
  /** Makes the change again; absent for one that cannot be made again. */
  readonly run: ((writer: KvWriter) => unknown) | null;
  draft: Draft;
  result: unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

class SharedKv implements Kv {
  private readonly local: Kv;
  private readonly log: WriteLog;
  private readonly logger: Logger;
  private readonly layoutProblem: (reader: KvReader) => string;
  private readonly replica: Replica;
  /** What is not in the log yet, and shows through every reader here. */
  private readonly pending = new Draft();
  private readonly reader: KvReader;
  /** Under way into the log, and waiting to be next. */
  private group: Waiting[] = [];
  private next: Waiting[] = [];
  /** The group's entry, applied here once the commit is confirmed. */
  private made: LogEntry | null = null;
  /** In the log, and not applied here yet. */
  private readonly landed: Waiting[] = [];
  private appending: Promise<void> | null = null;
  private following = false;
  private newsCame = false;
  /** One use of the log at a time. */
  private turn: Promise<unknown> = Promise.resolve();
  private revised: (keys: Iterable<string>) => void = () => undefined;
  private closed = false;
  private refusal: AppError | null = null;

  constructor({ local, log, logger, layoutProblem }: SharedKvOptions) {
    this.local = local;
    this.log = log;
    this.logger = logger;
    this.layoutProblem = layoutProblem;
    this.replica = new Replica(local, log.storeId, (error) => {
      const reason = toAppError(error).message;
      logger.error('the local copy of the shared store could not be written', { reason });
    });
    this.reader = readThrough(this.pending, local);
  }

  get(key: string): Uint8Array | undefined {
    return this.reader.get(key);
  }

  peek(key: string): Uint8Array | undefined {
    return this.reader.peek(key);
  }

  range(range: KvRange): Iterable<KvEntry> {
    return this.reader.range(range);
  }

  async write<T>(change: (writer: KvWriter) => T): Promise<T> {
    this.checkOpen();
    const draft = new Draft();
    const result = change(writerOf(draft, this.reader));
    return (await this.add(draft, result, change)) as T;
  }

  stage(): ReturnType<Kv['stage']> {
    const draft = new Draft();
    const keep = async (): Promise<void> => {
      this.checkOpen();
      await this.add(draft, undefined, null);
    };
    return { writer: writerOf(draft, this.reader), keep };
  }

  snapshot(): ReturnType<Kv['snapshot']> {
    this.checkOpen();
    return this.local.snapshot();
  }

  onRevised(listener: (keys: Iterable<string>) => void): void {
    this.revised = listener;
  }

  async close(): Promise<void> {
    await this.appending;
    this.closed = true;
    await this.turn;
    await this.log.close();
    await this.local.close();
  }

  /** Brings the copy up to the head, and keeps it there. Errors: as `openSharedKv`. */
  async open(): Promise<void> {
    await this.moveIn();
    await this.catchUp();
    // An older layout is brought up to date next.
    this.refusal = null;
    this.log.watch(() => this.follow());
  }

  /**
   * A store of its own becomes the first entry of a log that has none. The entry is known by the
   * hash of its content: should the machine fail meanwhile, the next start finds it.
   */
  private async moveIn(): Promise<void> {
    const own = this.replica.own();
    if (own === null) return;
    const id = `moved-${hashOf(own)}`;
    await this.log.hold('append', async (held) => {
      if (await held.has(id)) return;
      if (held.head.seq > 0) throw embedded('has a store of its own');
      if (bytesOf(own) > sharedStoreLimits.entryBytesMax) throw tooLarge();
      await held.append(id, own);
    });
    this.replica.adopt({ seq: 1, id });
    this.logger.info('the store of the data folder was moved into PostgreSQL', { keys: own.size });
  }

  private catchUp(): Promise<void> {
    return this.alone(() => this.log.hold('read', (held) => this.reach(held)));
  }

  /** The log may have become longer. */
  private follow(): void {
    this.newsCame = true;
    if (this.following || this.closed) return;
    this.following = true;
    void this.followNews();
  }

  private async followNews(): Promise<void> {
    let said = '';
    while (this.newsCame && !this.closed) {
      this.newsCame = false;
      try {
        await this.catchUp();
      } catch (error) {
        // News come once for each change: what could not be read is asked for again.
        this.newsCame = true;
        const reason = toAppError(error).message;
        if (reason !== said) {
          this.logger.warn('changes of other controllers could not be read', { reason });
        }
        said = reason;
        await delay(sharedStoreLimits.pollMs, undefined, { ref: false });
      }
    }
    this.following = false;
  }

  private add(draft: Draft, result: unknown, run: Waiting['run']): Promise<unknown> {
    if (draft.size === 0) return Promise.resolve(result);
    if (this.refusal !== null) return Promise.reject(this.refusal);
    // While one is tried again others wait with it; what nobody tries any more fails at once.
    const problem = this.appending === null ? this.log.problem() : '';
    if (problem !== '') return Promise.reject(away(problem));
    if (bytesOf(draft) > sharedStoreLimits.entryBytesMax) return Promise.reject(tooLarge());
    return new Promise((resolve, reject) => {
      this.next.push({ run, draft, result, resolve, reject });
      addTo(this.pending, draft);
      this.appending ??= this.appendAll();
    });
  }

  private async appendAll(): Promise<void> {
    while (this.next.length > 0) {
      await this.alone(async () => {
        this.take();
        try {
          await this.appendGroup();
        } catch (error) {
          this.fail(error);
        }
      });
    }
    this.appending = null;
  }

  /** Those that wait, up to the bytes of one entry, are the next group. */
  private take(): void {
    let bytes = 0;
    const fits = (one: Waiting): boolean =>
      (bytes += bytesOf(one.draft)) <= sharedStoreLimits.entryBytesMax;
    const end = this.next.findIndex((one) => !fits(one));
    this.group = this.next.splice(0, end < 0 ? this.next.length : Math.max(end, 1));
  }

  /**
   * Appends the group as one entry. A commit that nobody answered is looked up by its id before
   * it is tried again. Errors: AppError store_away, store_unconfirmed, store_diverged.
   */
  private async appendGroup(): Promise<void> {
    const id = randomUUID();
    const deadline = performance.now() + sharedStoreLimits.writeWaitMs;
    let unconfirmed = false;
    for (;;) {
      try {
        await this.log.hold('append', (held) => this.appendOnce(held, id, unconfirmed));
        return this.acknowledge();
      } catch (error) {
        const { code } = toAppError(error);
        if (code !== 'store_away' && code !== 'store_unconfirmed') throw error;
        unconfirmed ||= code === 'store_unconfirmed';
        if (performance.now() >= deadline) throw unconfirmed ? lost() : error;
        await delay(sharedStoreLimits.retryMs);
      }
    }
  }

  private async appendOnce(held: HeldLog, id: string, unconfirmed: boolean): Promise<void> {
    this.made = null;
    if (unconfirmed && (await held.has(id))) {
      // It got there: what comes with the log now is its change.
      this.landed.push(...this.group.splice(0));
      return this.reach(held);
    }
    await this.reach(held);
    if (this.group.length === 0) return;
    const changes = mergeOf(this.group);
    await held.append(id, changes);
    this.made = { seq: held.head.seq + 1, id, changes };
  }

  private acknowledge(): void {
    if (this.made !== null) this.replica.apply([this.made]);
    this.made = null;
    const done = [...this.landed.splice(0), ...this.group];
    this.group = [];
    this.pending.clear();
    for (const one of this.next) addTo(this.pending, one.draft);
    for (const { resolve, result } of done) resolve(result);
  }

  /** What came later was made from what is not there: it fails, too. */
  private fail(error: unknown): void {
    const failed = [...this.landed.splice(0), ...this.group, ...this.next];
    this.made = null;
    this.group = [];
    this.next = [];
    const keys = [...keysOf(this.pending)];
    this.pending.clear();
    this.revised(keys);
    for (const { reject } of failed) reject(error);
  }

  /** Applies what others appended, and makes anew what waits. */
  private async reach(held: HeldLog): Promise<void> {
    for (let place = this.replica.place(); place.seq < held.head.seq;) {
      const entries = await held.entriesAfter(place);
      if (entries === null) this.replaceAll(await held.snapshot());
      else this.applyAll(entries);
      const reached = this.replica.place();
      if (reached.seq <= place.seq) throw new Error('the shared log has a gap');
      place = reached;
    }
    const { seq, id } = this.replica.place();
    if (seq !== held.head.seq || id !== held.head.id) throw diverged();
  }

  private applyAll(entries: readonly LogEntry[]): void {
    this.replica.apply(entries);
    this.settle(new Set(entries.flatMap(({ changes }) => [...changes.keys()])));
  }

  private replaceAll(snapshot: Awaited<ReturnType<HeldLog['snapshot']>>): void {
    const before = this.replica.replace(snapshot);
    this.settle(new Set([...before, ...snapshot.changes.keys()]));
  }

  /** Readers see other values under `keys` now. */
  private settle(keys: ReadonlySet<string>): void {
    if ([...keys].some(isLayoutKey)) {
      const problem = this.layoutProblem(this.local);
      this.refusal = problem === '' ? null : otherLayout(problem);
    }
    const before = [...keysOf(this.pending)];
    this.pending.clear();
    this.revised([...keys, ...before]);
    this.group = this.group.filter((one) => this.isMadeAgain(one));
    this.next = this.next.filter((one) => this.isMadeAgain(one));
  }

  private isMadeAgain(one: Waiting): boolean {
    try {
      if (one.run === null) throw conflict();
      const draft = new Draft();
      one.result = one.run(writerOf(draft, this.reader));
      one.draft = draft;
    } catch (error) {
      one.reject(error);
      return false;
    }
    addTo(this.pending, one.draft);
    this.revised(keysOf(one.draft));
    return true;
  }

  private alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.turn.then(work);
    this.turn = run.catch(() => undefined);
    return run;
  }

  private checkOpen(): void {
    if (this.closed) {
      throw new AppError('store_closed', 'the store is closed', { source: 'storage' });
    }
  }
}

function writerOf(draft: Draft, reader: KvReader): KvWriter {
  return {
    ...readThrough(draft, reader),
    put: (key, value) => draft.set(checked(key), value),
    remove: (key) => draft.set(checked(key), null),
  };
}

/** Errors: AppError store_key. */
function checked(key: string): string {
  if (Buffer.byteLength(key, 'utf8') <= storeLimits.storeKeyBytesMax) return key;
  throw new AppError('store_key', 'a key of the store is too long', { source: 'internal' });
}

function addTo(all: Draft, draft: Draft): void {
  for (const [key, value] of draft.entries()) all.set(key, value);
}

function* keysOf(draft: Draft): Generator<string> {
  for (const [key] of draft.entries()) yield key;
}

function mergeOf(group: readonly Waiting[]): WriteSet {
  const merged = new Map<string, DraftValue>();
  for (const { draft } of group) for (const [key, value] of draft.entries()) merged.set(key, value);
  return merged;
}

/** SHA-256 over keys and values in order, hexadecimal. */
function hashOf(all: WriteSet): string {
  const hash = createHash('sha256');
  for (const [key, value] of all) {
    hash.update(`${Buffer.byteLength(key)} ${value?.length ?? 0} ${key}`).update(value ?? '');
  }
  return hash.digest('hex');
}

function bytesOf(changes: Draft | WriteSet): number {
  let bytes = 0;
  for (const [key, value] of changes.entries()) bytes += key.length + (value?.length ?? 0);
  return bytes;
}

function away(reason: string): AppError {
  const message = `the shared store cannot be reached (${reason}): nothing was changed; try again`;
  return new AppError('store_away', message, { source: 'storage', retryable: true });
}

function lost(): AppError {
  const message = 'the shared store did not confirm the change: look whether it was made';
  return new AppError('store_unconfirmed', message, { source: 'storage' });
}

function tooLarge(): AppError {
  const mebibytes = sharedStoreLimits.entryBytesMax / 1024 / 1024;
  const message = `a change of more than ${mebibytes} MiB does not fit into a shared store`;
  return new AppError('resource_exhausted', message, { source: 'client' });
}

function otherLayout(problem: string): AppError {
  const message = `another controller runs another version (${problem}): run the same everywhere`;
  return new AppError('store_layout', message, { source: 'storage' });
}

/** Others appended meanwhile: whoever made the change in steps makes it again. */
function conflict(): AppError {
  const message = 'others changed the store meanwhile: try again';
  return new AppError('store_conflict', message, { source: 'storage', retryable: true });
}
