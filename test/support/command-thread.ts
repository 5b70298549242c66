/**
 * The thread in which tests run `waf` command lines: one that is loaded once costs a fiftieth of a
 * process for each. `test/e2e/product.test.ts` proves the process itself.
 */

import { once } from 'node:events';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const folder = path.join(import.meta.dirname, '..', '..', '.build', 'control', 'cli', path.sep);
/** Longer than any command of a test; what hangs gets a name. */
const patienceMs = 240_000;

/** What a command line printed, and its exit code. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let thread: Worker | undefined;

/** Runs a command line while this thread waits. Errors: it does not end. */
export function runCommand(argv: readonly string[]): CommandResult {
  const { port, bell } = begin(argv);
  const ended = Atomics.wait(bell, 0, 0, patienceMs) !== 'timed-out';
  const received = ended ? receiveMessageOnPort(port) : undefined;
  port.close();
  if (received === undefined) throw new Error(`waf ${argv.join(' ')}: does not end`);
  return received.message as CommandResult;
}

/** As `runCommand`, while this thread continues. */
export async function runCommandBeside(argv: readonly string[]): Promise<CommandResult> {
  const { port, worker } = begin(argv);
  const died = new AbortController();
  const gone = (): void => died.abort();
  worker.once('exit', gone);
  try {
    const [result] = (await once(port, 'message', { signal: died.signal })) as [CommandResult];
    return result;
  } finally {
    worker.off('exit', gone);
    port.close();
  }
}

function begin(argv: readonly string[]): {
  port: MessagePort;
  bell: Int32Array;
  worker: Worker;
} {
  thread ??= startThread();
  const { port1, port2 } = new MessageChannel();
  const bell = new Int32Array(new SharedArrayBuffer(4));
  thread.postMessage({ argv, env: { ...process.env }, port: port2, bell }, [port2]);
  return { port: port1, bell, worker: thread };
}

function startThread(): Worker {
  const started = new Worker(new URL('command-thread.mjs', import.meta.url), {
    workerData: { folder: pathToFileURL(folder).href },
    execArgv: [],
  });
  started.once('exit', () => (thread = undefined));
  // It ends with the process.
  started.unref();
  return started;
}
