/** What a front needs of its listener; the kinds are in `listener-*.ts`. */

/** Where to listen: an address, or a socket that is bound already (`host` and `port` inform). */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly fd?: number;
  /** Clients speak TLS. */
  readonly secure?: boolean;
  /** With `secure`: the port by which clients reach it, where that is another. */
  readonly publicPort?: number;
  /** Networks, as keys, whose clients begin with a PROXY header; absent or empty for nobody. */
  readonly proxyHeaderFrom?: readonly string[];
}

/** Accepts clients, whatever library reads their bytes. */
export interface Listener {
  /** Open client connections. */
  readonly connections: number;
  /**
   * Binds and serves; resolves with the port. May be called once for plain clients and once for
   * those that speak TLS. Errors: `listen_failed`.
   */
  open(address: ListenAddress): Promise<number>;
  /** Stops accepting and lets running requests finish; resolves when nobody is left. */
  drain(): Promise<void>;
  /** Closes everything at once. */
  close(): void;
}
