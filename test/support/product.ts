/** Starts the compiled product for end-to-end tests, on ports and a folder of its own. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, runCommandBeside, type CommandResult } from './command-thread.ts';
import { shareDatabases } from './databases.ts';
import { keepPackages, lendPackages } from './program-packages.ts';

/** The folder that holds package.json. */
export const root = join(import.meta.dirname, '..', '..');

const commandLine = join(root, '.build', 'control', 'cli', 'main.js');

/** Null when the product is compiled, else why an end-to-end test cannot run. */
export const missingBuild: string | null = [
  commandLine,
  join(root, '.build', 'engine', 'main.js'),
  join(root, '.build', 'control', 'main.js'),
].every((path) => existsSync(path))
  ? null
  : 'skipped: not compiled; npm test compiles first';

/** A running product. */
export interface Product {
  readonly proxyPort: number;
  readonly managementPort: number;
  readonly data: string;
  /** What it printed so far. */
  output(): string;
  /** Pid of the supervisor's child whose command line holds `text`; 0 when there is none. */
  childPid(text: string): number;
  /** Pid of the supervisor. */
  readonly pid: number;
  /** Runs a `waf` command line against its administration socket, in a thread of this process. */
  waf(...args: string[]): CommandResult;
  /** As `waf`, while this process continues; resolves with what it printed. Errors: a failure. */
  wafBeside(...args: string[]): Promise<string>;
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number>;
}

/** Runs one `waf` command line in a thread of this process. */
export function runWaf(args: readonly string[]): CommandResult {
  return runCommand(args);
}

/** Runs one `waf` command line in a process of its own, as people do. */
export function runWafProcess(args: readonly string[]): CommandResult {
  const options = { encoding: 'utf8', cwd: root, maxBuffer: 64 << 20 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [commandLine, ...args], options);
  return { code: status ?? 128, stdout, stderr };
}

/** Starts `waf run` and resolves when it says that it is ready. Errors: what it printed. */
export async function startProduct(...args: string[]): Promise<Product> {
  const data = mkdtempSync(join(tmpdir(), 'waf-e2e-'));
  shareDatabases(data);
  lendPackages(data);
  const addresses = [
    ['--proxy', '127.0.0.1:0'],
    ['--https', 'off'],
    ['--management', '127.0.0.1:0'],
  ];
  const line = [commandLine, 'run', '--data', data, ...addresses.flat(), ...args];
  const child = spawn(process.execPath, line, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  await waitForReady(child, () => output);
  return {
    proxyPort: portAfter(output, 'Proxy'),
    managementPort: portAfter(output, 'Management API'),
    data,
    output: () => output,
    pid: child.pid ?? 0,
    childPid: (text) => findChild(child.pid ?? 0, text),
    waf: (...words) => runWaf([...words, '--data', data]),
    wafBeside: async (...words) => {
      const { code, stdout, stderr } = await runCommandBeside([...words, '--data', data]);
      if (code !== 0) throw new Error(`waf ${words.join(' ')}: ${code} ${stderr}`);
      return stdout;
    },
    stop: async () => {
      const closed = new Promise<number>((resolve) => {
        child.once('close', (code) => resolve(code ?? 128));
      });
      if (child.exitCode === null) child.kill('SIGTERM');
      const code = child.exitCode ?? (await closed);
      keepPackages(data);
      rmSync(data, { recursive: true, force: true });
      return code;
    },
  };
}

/** The port of an address that the product prints when it is ready. Errors: there is none. */
function portAfter(output: string, name: string): number {
  const port = new RegExp(`^ +${name} +https?://127\\.0\\.0\\.1:(\\d+)$`, 'm').exec(output)?.[1];
  if (port === undefined) throw new Error(`no address of "${name}" in:\n${output}`);
  return Number(port);
}

function waitForReady(child: ChildProcess, output: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', () => {
      // The last line of the addresses: text comes in pieces.
      if (/Ready in[^]*Local socket .*\n/.test(output())) resolve();
    });
    child.once('close', (code) => reject(new Error(`exit code ${code}:\n${output()}`)));
  });
}

/** Looks through /proc for a child of `parent`. */
function findChild(parent: number, text: string): number {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parentPid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      if (parentPid !== parent) continue;
      if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text)) return Number(name);
    } catch {
      // It ended while we looked.
    }
  }
  return 0;
}
