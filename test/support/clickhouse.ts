/**
 * Starts ClickHouse on free ports of loopback, in a folder of its own: Debian's clickhouse-server,
 * the oldest that is supported, or chDB, a current one, where WAF_TEST_CHDB names an installation.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { killChild } from './kill-child.ts';

/** A ClickHouse that can be started. */
export interface ClickhouseProgram {
  readonly name: string;
  /** Null when it can run, else why not. */
  readonly missing: string | null;
  /** Writes what it needs into an empty folder. Returns the words of its command. */
  readonly prepare: (folder: string, port: number) => Promise<readonly string[]>;
}

const debianServer = '/usr/sbin/clickhouse-server';
/** A folder in which `npm install chdb` ran; half a gigabyte, so `npm test` does not install it. */
const chdbFolder = process.env['WAF_TEST_CHDB'] ?? '';

/** ClickHouse 18.16. */
export const oldClickhouse: ClickhouseProgram = {
  name: 'ClickHouse 18.16',
  missing: existsSync(debianServer)
    ? null
    : 'skipped: clickhouse-server is not installed; npm test installs it',
  prepare: async (folder, port) => {
    for (const name of ['data', 'tmp', 'files', 'schemas']) mkdirSync(join(folder, name));
    const config = join(folder, 'config.xml');
    writeFileSync(config, serverConfig(folder, port, await freePort()));
    writeFileSync(join(folder, 'users.xml'), userConfig);
    return [debianServer, `--config-file=${config}`];
  },
};

/** The version of the installed chDB. */
export const currentClickhouse: ClickhouseProgram = {
  name: 'a current ClickHouse',
  missing:
    chdbFolder !== '' && existsSync(join(chdbFolder, 'node_modules', 'chdb'))
      ? null
      : 'skipped: WAF_TEST_CHDB names no folder in which `npm install chdb` ran',
  prepare: (folder, port) => {
    const script = join(import.meta.dirname, 'chdb-server.mjs');
    return Promise.resolve([process.execPath, script, chdbFolder, join(folder, 'data'), `${port}`]);
  },
};

const password = 'correct horse';

/** A ClickHouse that can die and come back at its port, with what it had. */
export class TestClickhouse {
  readonly port: number;
  private readonly folder: string;
  private readonly command: readonly string[];
  private child: ChildProcess | null = null;
  private databases = 0;

  private constructor(folder: string, port: number, command: readonly string[]) {
    this.folder = folder;
    this.port = port;
    this.command = command;
  }

  static async start(program = oldClickhouse): Promise<TestClickhouse> {
    const folder = mkdtempSync(join(tmpdir(), 'waf-clickhouse-'));
    const port = await freePort();
    const server = new TestClickhouse(folder, port, await program.prepare(folder, port));
    await server.begin();
    return server;
  }

  /** A value of WAF_EVENTS_CLICKHOUSE whose database is not there yet. */
  freshUrl(parameters = ''): string {
    const user = `waf:${encodeURIComponent(password)}`;
    return `http://${user}@127.0.0.1:${this.port}/waf_test_${++this.databases}${parameters}`;
  }

  /** Resolves when it answers. */
  async begin(): Promise<void> {
    const [program = '', ...words] = this.command;
    const child = spawn(program, words, { stdio: 'ignore' });
    this.child = child;
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended: ${child.exitCode}`);
      const answer = await fetch(`http://127.0.0.1:${this.port}/ping`).catch(() => null);
      return answer !== null && (await answer.text()).startsWith('Ok');
    });
  }

  /** SIGKILL; what it has on disk stays. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = null;
    await killChild(child);
  }

  /** Ends it, and removes what it had. */
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const serverConfig = (
  folder: string,
  port: number,
  nativePort: number,
): string => `<?xml version="1.0"?>
<yandex>
  <logger>
    <level>warning</level>
    <log>${folder}/server.log</log><errorlog>${folder}/error.log</errorlog>
  </logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${port}</http_port>
  <tcp_port>${nativePort}</tcp_port>
  <path>${folder}/data/</path>
  <tmp_path>${folder}/tmp/</tmp_path>
  <user_files_path>${folder}/files/</user_files_path>
  <format_schema_path>${folder}/schemas/</format_schema_path>
  <users_config>users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <timezone>UTC</timezone>
  <mark_cache_size>16777216</mark_cache_size>
  <uncompressed_cache_size>8388608</uncompressed_cache_size>
</yandex>
`;

const userConfig = `<?xml version="1.0"?>
<yandex>
  <profiles><default></default></profiles>
  <users>
    <waf>
      <password>${password}</password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </waf>
  </users>
  <quotas><default></default></quotas>
</yandex>
`;
