/** A controller of a shared store as a process of its own, without an engine. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreAddress } from '../../control/store/shared/store-option.ts';
import { adminCall, type AdminAnswer } from './admin-call.ts';
import { freePort } from './free-port.ts';
import { killChild } from './kill-child.ts';

const build = new URL('../../.build/', import.meta.url).href;
const script = join(import.meta.dirname, '..', 'fault', 'control-alone.mjs');

/** The store that controllers share. */
export interface SharedPlace {
  readonly store: StoreAddress;
  readonly storeKeyFile: string;
}

/** One controller, which can end and start again in its folder and at its port. */
export class ControllerProcess {
  readonly folder: string;
  private readonly options: string;
  private readonly port: number;
  private child: ChildProcess | null = null;

  private constructor(folder: string, port: number, place: SharedPlace) {
    this.folder = folder;
    this.port = port;
    this.options = JSON.stringify({ ...place, management: { host: '127.0.0.1', port } });
  }

  /** Makes a data folder and a tiny ruleset, and starts. */
  static async start(place: SharedPlace): Promise<ControllerProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'waf-controller-'));
    mkdirSync(join(folder, 'crs', 'rules'), { recursive: true });
    const rule = `SecRule ARGS "@contains x" "id:942999,phase:2,deny,ver:'OWASP_CRS/4.9.1'"\n`;
    writeFileSync(join(folder, 'crs', 'rules', 'REQUEST-942.conf'), rule);
    const made = new ControllerProcess(folder, await freePort(), place);
    await made.begin();
    return made;
  }

  /** Starts it; resolves when it answers. Errors: it ended before. */
  async begin(): Promise<void> {
    const child = spawn(process.execPath, [script, this.folder, build, this.options], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.child = child;
    const ended = once(child, 'close').then(([code]) => {
      throw new Error(`the controller ended: ${String(code)}`);
    });
    await Promise.race([once(child.stdout, 'data'), ended]);
    // Later ends are wanted.
    ended.catch(() => undefined);
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = null;
    await killChild(child);
  }

  /** It hangs from now on. */
  suspend(): void {
    this.child?.kill('SIGSTOP');
  }

  /** It continues where it hung. */
  resume(): void {
    this.child?.kill('SIGCONT');
  }

  /** A call of the administration socket; status 0 where the connection broke. */
  call(rpc: string, body: object): Promise<AdminAnswer> {
    return adminCall(this.folder, rpc, body);
  }

  /** A call over the network; status and what it came back with. */
  async callAs(token: string, rpc: string, body: object): Promise<AdminAnswer> {
    const answer = await fetch(`http://127.0.0.1:${this.port}/waf.v1.${rpc}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }
}
