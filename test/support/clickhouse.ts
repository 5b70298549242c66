/** Starts Debian's clickhouse-server on free ports of loopback, in a folder of its own. */

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { killChild } from './kill-child.ts';

/** Null when clickhouse-server can run, else why not. */
export const missingClickhouse: string | null = existsSync('/usr/sbin/clickhouse-server')
  ? null
  : 'skipped: clickhouse-server is not installed; npm test installs it';

const password = 'correct horse';

/** A ClickHouse that can die and come back at its port, with what it had. */
export class TestClickhouse {
  readonly port: number;
  private readonly folder: string;
  private child: ChildProcess | null = null;
  private databases = 0;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  static async start(): Promise<TestClickhouse> {
    const folder = mkdtempSync(join(tmpdir(), 'waf-clickhouse-'));
    const [port, nativePort] = [await freePort(), await freePort()];
    for (const name of ['data', 'tmp', 'files', 'schemas']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'config.xml'), serverConfig(folder, port, nativePort));
    writeFileSync(join(folder, 'users.xml'), userConfig);
    const server = new TestClickhouse(folder, port);
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
    const config = join(this.folder, 'config.xml');
    const child = spawn('/usr/sbin/clickhouse-server', [`--config-file=${config}`], {
      stdio: 'ignore',
    });
    this.child = child;
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`clickhouse-server ended: ${child.exitCode}`);
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
