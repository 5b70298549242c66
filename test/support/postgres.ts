/** Starts Debian's PostgreSQL on a free port of loopback, in a folder of its own. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { connectPostgres } from '../../control/store/shared/postgres-connection.ts';
import { readStoreAddress } from '../../control/store/shared/store-option.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { killChild } from './kill-child.ts';

const versions = '/usr/lib/postgresql';
const version = existsSync(versions) ? (readdirSync(versions).sort().at(-1) ?? '') : '';
const programs = join(versions, version, 'bin');

/** Null when PostgreSQL can run, else why not. */
export const missingPostgres: string | null =
  version !== '' && existsSync(join(programs, 'postgres'))
    ? null
    : 'skipped: postgresql is not installed; npm test installs it';

const user = 'waf';

/** A PostgreSQL that can die and come back at its port, with what it had. */
export class TestPostgres {
  readonly port: number;
  private readonly folder: string;
  private readonly as: { readonly uid?: number; readonly gid?: number };
  private child: ChildProcess | null = null;
  private databases = 0;

  private constructor(port: number, folder: string, as: TestPostgres['as']) {
    this.port = port;
    this.folder = folder;
    this.as = as;
  }

  static async start(): Promise<TestPostgres> {
    const as = otherThanRoot();
    // Not in the run's own folder, which other users cannot enter.
    const folder = mkdtempSync('/tmp/waf-postgres-');
    if (as.uid !== undefined) chownSync(folder, as.uid, as.gid ?? as.uid);
    chmodSync(folder, 0o700);
    const data = join(folder, 'data');
    const made = spawnSync(
      join(programs, 'initdb'),
      ['-D', data, '-U', user, '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'],
      { ...as, cwd: '/', encoding: 'utf8' },
    );
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
    const server = new TestPostgres(await freePort(), folder, as);
    await server.begin();
    return server;
  }

  /** The address of a database that is new and empty. */
  async freshUrl(port = this.port): Promise<string> {
    const name = `waf_${++this.databases}`;
    await this.ask('postgres', `CREATE DATABASE ${name}`);
    return `postgres://${user}@127.0.0.1:${port}/${name}`;
  }

  /** Rows of one statement, asked in a database by its address. */
  async rows(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
    return this.ask(new URL(url).pathname.slice(1), statement);
  }

  /** Resolves when it answers. */
  async begin(): Promise<void> {
    const sockets = join(this.folder, 'sockets');
    mkdirSync(sockets, { recursive: true });
    if (this.as.uid !== undefined) chownSync(sockets, this.as.uid, this.as.gid ?? this.as.uid);
    const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${sockets}`].concat([
      'shared_buffers=16MB',
      'max_wal_size=64MB',
      'autovacuum_naptime=10s',
    ]);
    const child = spawn(
      join(programs, 'postgres'),
      ['-D', join(this.folder, 'data'), '-p', String(this.port)].concat(
        settings.flatMap((setting) => ['-c', setting]),
      ),
      { ...this.as, cwd: '/', stdio: 'ignore' },
    );
    this.child = child;
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`postgres ended: ${child.exitCode}`);
      return this.ask('postgres', 'SELECT 1').then(
        () => true,
        () => false,
      );
    });
  }

  /** SIGKILL of the server, whose connections end with it; what it has on disk stays. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = null;
    await killChild(child);
  }

  /** Ends it, and removes what it had. */
  async stop(): Promise<void> {
    await this.kill();
    await eventually(() => {
      rmSync(this.folder, { recursive: true, force: true });
      return !existsSync(this.folder);
    });
  }

  private async ask(database: string, statement: string): Promise<Record<string, unknown>[]> {
    const url = `postgres://${user}@127.0.0.1:${this.port}/${database}`;
    const client = await connectPostgres(readStoreAddress(url, 'the test')!);
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end();
    }
  }
}

/** PostgreSQL refuses to run as root: then it runs as the user that its package made. */
function otherThanRoot(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const numberOf = (option: string): number =>
    Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: numberOf('-u'), gid: numberOf('-g') };
}
