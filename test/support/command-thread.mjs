/**
 * Runs `waf` command lines inside of one thread, each as if it had a process of its own: what it
 * prints and the environment that it sees are its own. The code is the compiled command line.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { parentPort, workerData } from 'node:worker_threads';

const { runCommandLine } = await import(new URL('program.js', workerData.folder).href);
const { loadCommands } = await import(new URL('commands.js', workerData.folder).href);

/** What the command line that is running has printed. */
const printing = new AsyncLocalStorage();

for (const name of ['stdout', 'stderr']) {
  const write = process[name].write.bind(process[name]);
  process[name].write = (text, ...more) => {
    const printed = printing.getStore();
    if (printed === undefined) return write(text, ...more);
    printed[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
    for (const done of more) if (typeof done === 'function') queueMicrotask(done);
    return true;
  };
}

/** An error that nobody caught ends a process; here it ends the command lines that are running. */
const running = new Set();
const crash = (error) => {
  if (running.size === 0) throw error;
  for (const end of running) end(error);
};
process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);

async function runLine(argv) {
  const printed = { stdout: '', stderr: '' };
  let end;
  const crashed = new Promise((resolve) => {
    end = (error) => {
      printed.stderr += `${error?.stack ?? error}\n`;
      resolve(1);
    };
  });
  running.add(end);
  const done = printing.run(printed, async () => runCommandLine(await loadCommands(argv), argv));
  const code = await Promise.race([done, crashed]);
  running.delete(end);
  return { code, ...printed };
}

async function answer({ argv, env, port, bell }) {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  const result = await runLine(argv).catch((error) => ({
    ...{ code: 1, stdout: '', stderr: `${error?.stack ?? error}\n` },
  }));
  port.postMessage(result);
  port.close();
  Atomics.store(bell, 0, 1);
  Atomics.notify(bell, 0);
}

parentPort.on('message', (asked) => void answer(asked));
