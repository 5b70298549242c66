/**
 * Tells other nodes, through Redis, what this one counted for rate limits, and learns what they
 * did. Requests never wait for it: they are decided by the table in memory, which is exact for this
 * node; what others counted stands in it after the next exchange. Without Redis each node counts
 * for itself; what was not shared is counted and said.
 *
 * Bound: no node lets through more than the limit. Together they may let through, each time that
 * requests become free, what arrives at the others within one exchange: 100 ms and Redis's answer.
 */

import type { Clock } from '../../base/clock.ts';
import { toAppError } from '../../base/errors.ts';
import { rateExchangeLimits } from '../../base/guard-limits.ts';
import type { Logger } from '../../base/log.ts';
import { rateSpanMs, rateSpans } from '../base/rate-spans.ts';
import type { SharedUses, UseAnswer } from '../contract/bot.ts';
import type { KeyHash, RateNote, RedisAddress, SharedCounts } from '../contract/rate-limit.ts';
import type { RequestError } from '../contract/request-error.ts';
import { ChallengeUses } from './challenge-uses.ts';
import { RedisConnection, type RedisReply } from './redis-connection.ts';

const { notesPerExchange, holdsPerExchange, holdsKept, everyMs, reconnectMs } = rateExchangeLimits;

/** Bans and holds of all nodes, in the order in which they were made. */
const holdsName = 'waf:rate-holds';

/**
 * Adds a node's counts of a key, by spans, and answers what others added since it asked last. A
 * field `<span>` has the sum of all nodes, `<span>:<node>` the sum that it gave the node last.
 */
const addScript = `
local mine = {}
for at = 4, #ARGV, 2 do
  mine[ARGV[at]] = tonumber(ARGV[at + 1])
  redis.call('HINCRBY', KEYS[1], ARGV[at], ARGV[at + 1])
end
local sums, told, old = {}, {}, {}
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local span, node = string.match(all[at], '^(%d+):?(.*)$')
  if tonumber(span) < tonumber(ARGV[2]) then old[#old + 1] = all[at]
  elseif node == '' then sums[span] = tonumber(all[at + 1])
  elseif node == ARGV[1] then told[span] = tonumber(all[at + 1]) end
end
local news = {}
for span, sum in pairs(sums) do
  local count = sum - (told[span] or 0) - (mine[span] or 0)
  if count > 0 then news[#news + 1] = span; news[#news + 1] = tostring(count) end
  if sum ~= told[span] then redis.call('HSET', KEYS[1], span .. ':' .. ARGV[1], sum) end
end
if #old > 0 then redis.call('HDEL', KEYS[1], unpack(old)) end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return news
`;

/** What an exchange is given. */
export interface ExchangeOptions {
  readonly address: RedisAddress;
  /** Stands for this node; kept with its counts. */
  readonly nodeId: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when sharing ends and begins again. */
  readonly onFault: (fault: RequestError) => void;
}

/** Counts of a key in one exchange. */
interface KeyCounts {
  readonly key: KeyHash;
  readonly windowSeconds: number;
  readonly spans: Map<number, number>;
}

/** See the header. */
export class RateExchange implements SharedUses {
  /** Notes that reached Redis. */
  shared = 0;
  /** Notes that they never will be. */
  unshared = 0;
  private readonly options: ExchangeOptions;
  private readonly counts: SharedCounts;
  private connection: RedisConnection | null = null;
  private script = '';
  private readonly uses = new ChallengeUses();
  /** Null until the first exchange came to an end. */
  private sharing: boolean | null = null;
  private unsharedBefore = 0;
  private aloneBefore = 0;
  private nextConnectMs = 0;
  /** Where reading of holds continues. */
  private lastHold = '0';
  private readonly timer: NodeJS.Timeout;
  private running: Promise<void> | null = null;
  private closed = false;

  constructor(counts: SharedCounts, options: ExchangeOptions) {
    this.counts = counts;
    this.options = options;
    this.timer = setInterval(() => {
      this.running ??= this.exchange().finally(() => (this.running = null));
    }, everyMs).unref();
  }

  /** True while counts reach Redis. */
  get isSharing(): boolean {
    return this.sharing === true;
  }

  /** Uses a challenge up for all nodes; see `ChallengeUses`. */
  use(id: string, seconds: number): Promise<UseAnswer> {
    const connection = this.isSharing ? this.connection : null;
    return this.uses.use(connection, id, seconds, this.options.clock.nowMs());
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    await this.running;
    // What threads counted last.
    if (this.connection?.alive === true) await this.exchange();
    this.connection?.close();
  }

  private async exchange(): Promise<void> {
    const nowMs = this.options.clock.nowMs();
    const { notes, lost } = this.counts.takeNotes(notesPerExchange, nowMs);
    this.unshared += lost;
    try {
      const connection = await this.connected();
      if (connection === null) {
        this.unshared += notes.length;
        return;
      }
      await this.uses.tell(connection, nowMs);
      await this.tell(connection, notes, nowMs);
      this.shared += notes.length;
      this.change(true, '');
    } catch (thrown) {
      this.unshared += notes.length;
      const { message } = toAppError(thrown);
      this.connection?.close();
      this.connection = null;
      this.nextConnectMs = this.options.clock.nowMs() + reconnectMs;
      if (!this.closed) this.change(false, message);
    }
  }

  /** Null while it is too early to try again. Errors: `redis_unavailable`, `redis_refused`. */
  private async connected(): Promise<RedisConnection | null> {
    if (this.connection?.alive === true) return this.connection;
    if (this.options.clock.nowMs() < this.nextConnectMs) return null;
    this.connection = await RedisConnection.open(this.options.address);
    const [name] = await this.connection.send([['SCRIPT', 'LOAD', addScript]]);
    this.script = textOf(name);
    return this.connection;
  }

  private async tell(
    connection: RedisConnection,
    notes: readonly RateNote[],
    nowMs: number,
  ): Promise<void> {
    const keys = countsOf(notes);
    const read = ['XREAD', 'COUNT', String(holdsPerExchange), 'STREAMS', holdsName, this.lastHold];
    const replies = await connection.send([
      ...keys.map((one) => this.addCommand(one, nowMs)),
      read,
      ...holdCommands(notes),
    ]);
    keys.forEach(({ key, windowSeconds }, at) => {
      const news = list(replies[at]);
      for (let pair = 0; pair + 1 < news.length; pair += 2) {
        const [span, count] = [Number(news[pair]), Number(news[pair + 1])];
        this.counts.addOthers(key, windowSeconds, span, count, nowMs);
      }
    });
    this.takeHolds(list(replies[keys.length]), nowMs);
  }

  private addCommand({ key, windowSeconds, spans }: KeyCounts, nowMs: number): string[] {
    const spanMs = rateSpanMs(windowSeconds);
    const eldest = Math.floor(nowMs / spanMs) - rateSpans + 1;
    const keptMs = spanMs * (rateSpans + 1);
    const command = ['EVALSHA', this.script, '1', `waf:rate:${nameOf(key)}`, this.options.nodeId];
    command.push(String(eldest), String(keptMs));
    for (const [span, count] of spans) command.push(String(span), String(count));
    return command;
  }

  private takeHolds(streams: readonly RedisReply[], nowMs: number): void {
    for (const stream of streams) {
      for (const entry of list(list(stream)[1])) {
        const [id, fields] = list(entry);
        const [, name, , until] = list(fields);
        const key = keyOf(textOf(name));
        if (key !== null) this.counts.holdAsOthers(key, Number(until) || 0, nowMs);
        this.lastHold = textOf(id);
      }
    }
  }

  private change(sharing: boolean, why: string): void {
    if (sharing === this.sharing) return;
    const first = this.sharing === null;
    this.sharing = sharing;
    const { log, onFault } = this.options;
    if (!sharing) {
      this.unsharedBefore = this.unshared;
      log.warn('rate limits are counted by this node alone', { why });
      onFault(faultOf('rate_limits_alone', `${aloneText} Cause: ${why}.`));
      return;
    }
    const unshared = this.unshared - this.unsharedBefore;
    const challenges = this.uses.alone - this.aloneBefore;
    this.aloneBefore = this.uses.alone;
    log.info('rate limits are shared through Redis', { unshared, challenges });
    if (first) return;
    const message = `Rate limits are shared again. Requests that other nodes will not know of: ${unshared}. Challenges that were used meanwhile: ${challenges}.`;
    onFault(faultOf('rate_limits_shared', message));
  }
}

const aloneText =
  'Redis cannot be reached: rate limits hold on this node alone, and other nodes do not know ' +
  'what it counts. Check WAF_RATE_LIMIT_REDIS and Redis.';

function faultOf(reason: string, message: string): RequestError {
  return { level: 'warn', logger: 'engine', reason, message };
}

function countsOf(notes: readonly RateNote[]): KeyCounts[] {
  const keys = new Map<string, KeyCounts>();
  for (const note of notes) {
    if (note.kind !== 'count') continue;
    const { key, windowSeconds, atMs } = note;
    const name = nameOf(key);
    let counts = keys.get(name);
    if (counts === undefined) keys.set(name, (counts = { key, windowSeconds, spans: new Map() }));
    const span = Math.floor(atMs / rateSpanMs(windowSeconds));
    counts.spans.set(span, (counts.spans.get(span) ?? 0) + 1);
  }
  return [...keys.values()];
}

function holdCommands(notes: readonly RateNote[]): string[][] {
  const add = ['XADD', holdsName, 'MAXLEN', '~', String(holdsKept), '*'];
  return notes.flatMap((note) => {
    if (note.kind !== 'hold') return [];
    return [[...add, 'key', nameOf(note.key), 'until', String(note.untilS)]];
  });
}

function nameOf({ low, high }: KeyHash): string {
  return [high, low].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function keyOf(name: string): KeyHash | null {
  if (!/^[0-9a-f]{16}$/.test(name)) return null;
  return { high: parseInt(name.slice(0, 8), 16) | 0, low: parseInt(name.slice(8), 16) | 0 };
}

function textOf(reply: RedisReply | undefined): string {
  return typeof reply === 'string' ? reply : '';
}

function list(reply: RedisReply | undefined): readonly RedisReply[] {
  return Array.isArray(reply) ? (reply as readonly RedisReply[]) : [];
}
