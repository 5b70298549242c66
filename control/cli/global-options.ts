/** Owns the settings that every command understands, resolved. Plain data. */

/** Settings that every command understands, from flags, environment and the config file. */
export interface GlobalOptions {
  /** Base URL of a remote management API; undefined means the local socket. */
  readonly api: string | undefined;
  readonly token: string | undefined;
  readonly data: string;
  readonly adminSocket: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly output: 'table' | 'json';
}
