/** Asks a person: a line, or a secret that is not shown. */

import { createInterface } from 'node:readline/promises';
import { AppError } from '../../base/errors.ts';
import { commandLineLimits } from '../limits/command-limits.ts';

const interrupt = '\u0003';
const endOfInput = '\u0004';

/** One line. Errors: AppError no_terminal where nobody can be asked, aborted. */
export async function askLine(question: string, flag: string): Promise<string> {
  requireTerminal(flag);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Keys that stop the question end the interface; whether it rejects then is up to Node.
  const stopped = new Promise<never>((_resolve, reject) => {
    lines.once('close', () => reject(aborted()));
  });
  stopped.catch(() => undefined);
  try {
    const answer = lines.question(question).catch(() => Promise.reject(aborted()));
    return (await Promise.race([answer, stopped])).trim();
  } catch (error) {
    process.stderr.write('\n');
    throw error;
  } finally {
    lines.close();
  }
}

/** One line that is not echoed. Errors: AppError no_terminal, aborted. */
export function askSecret(question: string, flag: string): Promise<string> {
  requireTerminal(flag);
  const { stdin, stderr } = process;
  // Echo goes off before anybody is asked to type.
  stdin.setRawMode(true);
  stderr.write(question);
  stdin.setEncoding('utf8');
  stdin.resume();
  return new Promise<string>((resolve, reject) => {
    let typed = '';
    const finish = (end: () => void): void => {
      stdin.off('data', read);
      stdin.off('end', ended);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
      end();
    };
    const read = (text: string): void => {
      for (const one of text) {
        if (one === interrupt) return finish(() => reject(aborted()));
        if (one === '\r' || one === '\n' || one === endOfInput) {
          return finish(() => resolve(typed));
        }
        if (one === '\u007f' || one === '\b') typed = [...typed].slice(0, -1).join('');
        else if (one >= ' ' && typed.length < commandLineLimits.typedCharactersMax) typed += one;
      }
    };
    const ended = (): void => finish(() => reject(aborted()));
    stdin.on('data', read);
    stdin.on('end', ended);
  });
}

/** The first line of standard input, for `--password-stdin`. Errors: AppError bad_input. */
export async function readSecretLine(): Promise<string> {
  let text = '';
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin as AsyncIterable<string>) {
    text += chunk;
    if (text.length > commandLineLimits.typedCharactersMax || text.includes('\n')) break;
  }
  const line = text.split(/\r?\n/, 1)[0] ?? '';
  if (line !== '') return line;
  throw new AppError('bad_input', '--password-stdin: standard input holds no line', {
    source: 'config',
  });
}

/** A new password: from standard input, or asked for twice. Errors: AppError bad_input. */
export async function readNewPassword(fromStdin: boolean, question: string): Promise<string> {
  if (fromStdin) return readSecretLine();
  const first = await askSecret(`${question}: `, '--password-stdin');
  if (first === (await askSecret('Repeat it: ', '--password-stdin'))) return first;
  throw new AppError('bad_input', 'the two passwords differ', { source: 'config' });
}

function requireTerminal(flag: string): void {
  if (process.stdin.isTTY) return;
  throw new AppError('no_terminal', `Run this in an interactive terminal, or give ${flag}.`, {
    source: 'config',
  });
}

function aborted(): AppError {
  return new AppError('aborted', 'stopped', { source: 'client' });
}
