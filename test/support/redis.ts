/** Starts Debian's redis-server on a free port, with a password, keeping nothing on disk. */

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { freePort } from './free-port.ts';
import { killChild } from './kill-child.ts';

/** Null when redis-server can run, else why not. */
export const missingRedis: string | null = existsSync('/usr/bin/redis-server')
  ? null
  : 'skipped: redis-server is not installed; npm test installs it';

/** A Redis that can die and come back at its port. */
export class TestRedis {
  readonly port: number;
  readonly password = 'correct horse';
  private child: ChildProcess | null = null;

  private constructor(port: number) {
    this.port = port;
  }

  static async start(): Promise<TestRedis> {
    const redis = new TestRedis(await freePort());
    await redis.begin();
    return redis;
  }

  get url(): string {
    return `redis://:${encodeURIComponent(this.password)}@127.0.0.1:${this.port}/2`;
  }

  /** Starts it, empty; resolves when it takes connections. */
  async begin(): Promise<void> {
    const where = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', tmpdir()];
    const rest = ['--save', '', '--appendonly', 'no', '--requirepass', this.password];
    const child = spawn('redis-server', [...where, ...rest], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    await new Promise<void>((resolve, reject) => {
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('Ready to accept connections')) resolve();
      });
      child.once('close', () => reject(new Error(`redis-server ended: ${output}`)));
    });
  }

  /** SIGSTOP: connections stay, nothing is answered. */
  pause(): void {
    this.child?.kill('SIGSTOP');
  }

  resume(): void {
    this.child?.kill('SIGCONT');
  }

  /** SIGKILL; what it held is gone. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = null;
    await killChild(child);
  }
}
