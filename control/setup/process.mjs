/** How set-up runs other programs and ends with a message a person can act on. */

import { spawn } from 'node:child_process';
import { root } from './paths.mjs';

const heartbeatMs = 20_000;

/** A failure whose message is written for the person at the terminal; no stack is shown. */
export class SetupError extends Error {}

/**
 * Runs a program in the checkout's folder. Resolves to {code, output}; `show` passes its output on
 * instead of collecting it, `task` names what takes long, so that its silence is broken at times.
 * Errors: SetupError when the program cannot be started.
 */
export function run(command, args, { show = false, env = {}, cwd = root, task = '' } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
    });
    let output = '';
    const collect = (chunk) => {
      output = (output + chunk).slice(-200_000);
    };
    child.stdout?.setEncoding('utf8').on('data', collect);
    child.stderr?.setEncoding('utf8').on('data', collect);
    const heartbeat = setInterval(() => task && say(`  still busy: ${task}`), heartbeatMs);
    heartbeat.unref();
    child.on('close', () => clearInterval(heartbeat));
    child.on('error', (error) => reject(new SetupError(`cannot run ${command}: ${error.message}`)));
    child.on('close', (code, signal) => resolve({ code: code ?? 128, signal, output }));
  });
}

/** The end of a program's output, where the reason stands. */
export function tail(output, lines = 40) {
  return output.trimEnd().split('\n').slice(-lines).join('\n');
}

const started = performance.now();

/** One line of progress with the seconds since the command began. */
export function say(text) {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  process.stderr.write(`${seconds}s  ${text}\n`);
}

/** Runs a command's main function; a SetupError becomes its message and exit code 1. */
export async function main(body) {
  try {
    const code = await body();
    if (typeof code === 'number') process.exitCode = code;
  } catch (error) {
    const message = error instanceof SetupError ? error.message : String(error?.stack ?? error);
    process.stderr.write(`\n${message}\n`);
    process.exitCode = 1;
  }
}
