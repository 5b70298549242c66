/**
 * Counts the connections of one entrance and closes those that keep nobody waiting but us: by
 * deadlines for handshake, head, body, answer and idleness, and by shares of an address. Deadlines
 * are looked at in a sweep and need two looks: what arrived in time during a long turn of the event
 * loop is read between them. Never looks at what a connection carries.
 */

import type { ConnectionLimits } from './connection-limits.ts';

/** What the table needs from a connection. */
export interface Peer {
  /** Bytes received so far, of whatever protocol. */
  readonly bytesRead: () => number;
  /** Ends it for good; nothing more is sent. */
  readonly destroy: () => void;
}

/** A request that is being served; times are those of the table's clock. */
export interface Exchange {
  /** False while parts of the request's body are missing. */
  readonly bodyIsComplete: () => boolean;
  /** Bytes of the answer that the client has not taken yet. */
  readonly waitingBytes: () => number;
  /** Ends this request alone where the protocol can, else the connection. */
  readonly destroy: () => void;
}

/** What a request tells the table of itself. */
export interface Tracked {
  /** It is over. */
  readonly end: () => void;
  /** Its body may come for as long as the call lasts. */
  readonly endless: () => void;
}

interface OpenExchange extends Exchange {
  readonly sinceMs: number;
  readonly bytesBefore: number;
  /** Set where a body may come for as long as it likes. */
  endless: boolean;
  waitingBefore: number;
  stalledSinceMs: number;
  overdue: boolean;
}

/** What a client proved in its TLS handshake. */
export interface NodeCertificate {
  readonly nodeId: string;
  /** Of the certificate, hex. */
  readonly sha256: string;
  readonly endMs: number;
}

/** One connection. */
export class Connection {
  readonly address: string;
  readonly peer: Peer;
  /** Somebody signed in has called over it. */
  proven: boolean;
  /** The node that it proved to be; null for none. */
  certificate: NodeCertificate | null = null;
  /** Set for HTTP/2: control frames are no requests, and goodbye is said. */
  closeKindly: (() => void) | null = null;
  phase: 'opening' | 'waiting' = 'opening';
  /** When the phase began, or the last request ended. */
  sinceMs: number;
  /** When the first bytes of a further request were seen; 0 for none. */
  headSinceMs = 0;
  bytesBefore = 0;
  served = 0;
  controlFrames = 0;
  overdue = false;
  readonly exchanges = new Set<OpenExchange>();

  constructor(address: string, peer: Peer, proven: boolean, nowMs: number) {
    this.address = address;
    this.peer = peer;
    this.proven = proven;
    this.sinceMs = nowMs;
  }
}

/** The connections of one entrance. */
export class ConnectionTable {
  readonly #limits: ConnectionLimits;
  readonly #nowMs: () => number;
  readonly #all = new Set<Connection>();
  readonly #byAddress = new Map<string, Set<Connection>>();

  constructor(limits: ConnectionLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#all.size;
  }

  /**
   * Takes a connection in; another one may have to go for it. Null when there is no place: then the
   * caller closes it. `address` is empty for the socket, whose users are not counted one by one.
   */
  admit(address: string, peer: Peer): Connection | null {
    if (!this.#makePlace(address)) return null;
    const connection = new Connection(address, peer, address === '', this.#nowMs());
    this.#all.add(connection);
    const same = this.#byAddress.get(address) ?? new Set();
    this.#byAddress.set(address, same.add(connection));
    return connection;
  }

  /** Forgets a connection that is closed. */
  remove(connection: Connection): void {
    this.#all.delete(connection);
    const same = this.#byAddress.get(connection.address);
    same?.delete(connection);
    if (same?.size === 0) this.#byAddress.delete(connection.address);
  }

  /** Its handshake begins: that it waited for its turn is not its own fault. */
  begun(connection: Connection): void {
    connection.sinceMs = this.#nowMs();
    connection.overdue = false;
  }

  /** The connection can carry requests now. */
  opened(connection: Connection): void {
    connection.phase = 'waiting';
    connection.sinceMs = this.#nowMs();
    connection.bytesBefore = connection.peer.bytesRead();
  }

  /** A request's head is complete. Returns what ends it and what takes the bound off its body. */
  begin(connection: Connection, exchange: Exchange): Tracked {
    const open: OpenExchange = {
      bodyIsComplete: exchange.bodyIsComplete,
      waitingBytes: exchange.waitingBytes,
      destroy: exchange.destroy,
      sinceMs: this.#nowMs(),
      bytesBefore: connection.peer.bytesRead(),
      endless: false,
      waitingBefore: 0,
      stalledSinceMs: 0,
      overdue: false,
    };
    connection.exchanges.add(open);
    connection.served++;
    return {
      end: () => {
        connection.exchanges.delete(open);
        connection.sinceMs = this.#nowMs();
        connection.headSinceMs = 0;
        connection.bytesBefore = connection.peer.bytesRead();
      },
      endless: () => void (open.endless = true),
    };
  }

  /** Counts a frame that is no request; too many of them end the connection. */
  noteControlFrame(connection: Connection): void {
    if (++connection.controlFrames > this.#limits.controlFramesPerSweepMax) {
      connection.peer.destroy();
    }
  }

  /** Closes what is overdue at the second look. Called about once a second. */
  sweep(): void {
    const nowMs = this.#nowMs();
    for (const own of this.#byAddress.values()) this.#trim(own, nowMs);
    for (const connection of this.#all) {
      connection.controlFrames = 0;
      if (connection.exchanges.size > 0) {
        connection.overdue = false;
        for (const exchange of connection.exchanges) this.#sweepExchange(connection, exchange);
        continue;
      }
      if (!this.#isOverdue(connection, nowMs)) connection.overdue = false;
      else if (connection.overdue) connection.peer.destroy();
      else {
        connection.overdue = true;
        connection.closeKindly?.();
      }
    }
  }

  /** Ends all. */
  close(): void {
    for (const connection of this.#all) connection.peer.destroy();
  }

  #isOverdue(connection: Connection, nowMs: number): boolean {
    const { handshakeTimeoutMs, headTimeoutMs, idleTimeoutMs } = this.#limits;
    const silentMs = nowMs - connection.sinceMs;
    if (connection.phase === 'opening') return silentMs >= handshakeTimeoutMs;
    if (connection.served === 0) return silentMs >= headTimeoutMs;
    // Frames of HTTP/2 that belong to no request are not the begin of one.
    if (connection.closeKindly === null) {
      const begun = connection.peer.bytesRead() > connection.bytesBefore;
      if (begun && connection.headSinceMs === 0) connection.headSinceMs = nowMs;
      if (begun && nowMs - connection.headSinceMs >= headTimeoutMs) return true;
    }
    return silentMs >= idleTimeoutMs;
  }

  #sweepExchange(connection: Connection, exchange: OpenExchange): void {
    const nowMs = this.#nowMs();
    const overdue =
      this.#bodyIsLate(connection, exchange, nowMs) || this.#answerIsStuck(exchange, nowMs);
    if (overdue && exchange.overdue) exchange.destroy();
    exchange.overdue = overdue;
  }

  #bodyIsLate(connection: Connection, exchange: OpenExchange, nowMs: number): boolean {
    if (exchange.endless || exchange.bodyIsComplete()) return false;
    const { bodyTimeoutMs, bodyBytesPerSecondMin, bodyLongestMs } = this.#limits;
    const received = connection.peer.bytesRead() - exchange.bytesBefore;
    const earnedMs = (received / bodyBytesPerSecondMin) * 1000;
    return nowMs - exchange.sinceMs >= Math.min(bodyTimeoutMs + earnedMs, bodyLongestMs);
  }

  #answerIsStuck(exchange: OpenExchange, nowMs: number): boolean {
    const waiting = exchange.waitingBytes();
    if (waiting === 0 || waiting < exchange.waitingBefore) exchange.stalledSinceMs = 0;
    else if (exchange.stalledSinceMs === 0) exchange.stalledSinceMs = nowMs;
    exchange.waitingBefore = waiting;
    const { stalledSinceMs } = exchange;
    return stalledSinceMs !== 0 && nowMs - stalledSinceMs >= this.#limits.answerTimeoutMs;
  }

  /** Takes an address back to its shares after a burst. */
  #trim(own: ReadonlySet<Connection>, nowMs: number): void {
    const { strangersPerAddressMax, connectionsPerAddressMax, silentGraceMs } = this.#limits;
    if (own.size <= strangersPerAddressMax) return;
    const silent = [...own].filter(
      ({ address, sinceMs }) => address !== '' && nowMs - sinceMs >= silentGraceMs,
    );
    const strangers = silent.filter(({ proven }) => !proven);
    for (let over = strangers.length - strangersPerAddressMax; over > 0; over--) {
      this.#closeOne(strangers.filter((one) => this.#all.has(one)));
    }
    for (let over = own.size - connectionsPerAddressMax; over > 0; over--) {
      this.#closeOne(silent.filter((one) => this.#all.has(one)));
    }
  }

  /** Evicts from the new connection's own address first, then from the address that holds most. */
  #makePlace(address: string): boolean {
    const { connectionsMax, connectionsPerAddressMax, strangersPerAddressMax } = this.#limits;
    const own = this.#byAddress.get(address);
    if (address !== '' && own !== undefined && own.size >= strangersPerAddressMax) {
      // Many at once are a burst of calls: only connections that stayed silent for long are closed.
      const before = this.#nowMs() - this.#limits.silentGraceMs;
      const silent = [...own].filter(({ sinceMs }) => sinceMs <= before);
      const strangers = silent.filter(({ proven }) => !proven);
      const many = own.size - silent.length + strangers.length;
      if (many >= strangersPerAddressMax) this.#closeOne(strangers);
      else if (own.size >= connectionsPerAddressMax) this.#closeOne(silent);
    }
    if (this.#all.size < connectionsMax) return true;
    const strangers = [...this.#all].filter(({ proven }) => !proven);
    return this.#closeOne(this.#ofGreediest(strangers)) || this.#closeOne(this.#ofGreediest());
  }

  /** Of the given connections those of the address that has most of them. */
  #ofGreediest(from: Iterable<Connection> = this.#all): Connection[] {
    const groups = new Map<string, Connection[]>();
    let most: Connection[] = [];
    for (const connection of from) {
      const group = groups.get(connection.address) ?? [];
      groups.set(connection.address, group);
      group.push(connection);
      if (group.length > most.length) most = group;
    }
    return most;
  }

  /** Closes the one that is of least use; false when all of them are at work. */
  #closeOne(from: Iterable<Connection>): boolean {
    let least: Connection | null = null;
    for (const one of from) {
      if (rankOf(one) === 0) continue;
      if (least === null || isLess(one, least)) least = one;
    }
    if (least === null) return false;
    least.peer.destroy();
    this.remove(least);
    return true;
  }
}

function isLess(one: Connection, other: Connection): boolean {
  const ranks = rankOf(one) - rankOf(other);
  return ranks === 0 ? one.sinceMs < other.sinceMs : ranks > 0;
}

/** What a connection is good for, the least useful highest; 0 may not be closed for another. */
function rankOf({ proven, exchanges }: Connection): number {
  if (exchanges.size === 0) return proven ? 2 : 3;
  if (proven) return 0;
  for (const exchange of exchanges) if (exchange.bodyIsComplete()) return 0;
  return 1;
}
