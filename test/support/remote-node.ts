/** Enrolled nodes for end-to-end tests: each has a data folder, a port and a process. */

import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityFile, readNodeIdentity } from '../../base/node-identity.ts';
import { shareDatabases } from './databases.ts';
import { freePort } from './free-port.ts';
import { root, runWaf, type Product } from './product.ts';

const commandLine = join(root, '.build', 'control', 'cli', 'main.js');

/** An enrolled node that runs. */
export interface TestNode {
  readonly id: string;
  readonly name: string;
  readonly port: number;
  readonly data: string;
  readonly child: ChildProcess;
  output(): string;
}

/** What a controller printed for a new node. */
export interface Enrollment {
  readonly controller: string;
  readonly token: string;
  readonly pin: string;
  /** The whole script. */
  readonly printed: string;
}

/** Has a controller make a token for `count` nodes. Throws without one. */
export function makeEnrollment(waf: Product, count: number): Enrollment {
  const controller = `https://127.0.0.1:${waf.managementPort}`;
  const install = ['agent', 'install', '--controller', controller, '--nodes', String(count)];
  const printed = waf.waf(...install, '--print', 'foreground-script').stdout;
  const token = /WAF_TOKEN=(\S+)/.exec(printed)?.[1];
  const pin = /--ca-sha256 ([0-9a-f]{64})/.exec(printed)?.[1];
  if (token === undefined || pin === undefined) throw new Error(`no token in: ${printed}`);
  return { controller, token, pin, printed };
}

/** Enrolls a folder; what the command printed. */
export function enroll(
  data: string,
  { controller, token, pin }: Omit<Enrollment, 'printed'>,
  ...more: string[]
): { code: number; stdout: string; stderr: string } {
  const file = join(data, 'token');
  writeFileSync(file, `${token}\n`);
  const words = ['agent', 'enroll', '--controller', controller, '--token-file', file];
  return runWaf([...words, '--ca-sha256', pin, '--data', data, ...more]);
}

/** Starts an enrolled folder with one front thread. `env`: beside that of this process. */
export async function startNode(
  data: string,
  env: Readonly<Record<string, string>> = {},
): Promise<TestNode> {
  shareDatabases(data);
  const { name, agentId: id } = readNodeIdentity(identityFile(data));
  const port = await freePort();
  const args = ['agent', 'run', '--data', data, '--https', 'off', '--workers', '1'];
  const line = [commandLine, ...args, '--proxy', `127.0.0.1:${port}`, '--log-level', 'debug'];
  const child = spawn(process.execPath, line, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  return { id, name, port, data, child, output: () => output };
}

/** Ends a node and removes its folder. */
export async function endNode({ child, data }: TestNode): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.kill('SIGTERM');
    await closed;
  }
  rmSync(data, { recursive: true, force: true });
}
