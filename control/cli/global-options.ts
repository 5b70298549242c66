/** The settings that every command understands, resolved. Plain data. */

/** Settings that every command understands, from flags, environment and the config file. */
export interface GlobalOptions {
  /** Base URL of a remote management API; undefined means the local socket. */
  readonly api: string | undefined;
  readonly token: string | undefined;
  /** PEM file of an authority that `api` may be certified by, beside the public ones. */
  readonly caFile: string | undefined;
  /** Takes any certificate of `api`. */
  readonly insecure: boolean;
  readonly data: string;
  readonly adminSocket: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** How log lines look; text when standard error is a terminal. */
  readonly logFormat: 'json' | 'text';
  readonly output: 'table' | 'json' | 'yaml';
  /** File with the sessions of `waf auth login`. */
  readonly credentials: string;
}
