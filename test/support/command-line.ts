/** Command lines as people run them, inside of the test's own process. */

import type { CommandDefinition } from '../../control/cli/command.ts';
import { runCommandLine } from '../../control/cli/program.ts';
import { keepPrinted } from './printed.ts';

/** Runs command lines against one administration socket and keeps what the last one printed. */
export class CommandLine {
  readonly #commands: readonly CommandDefinition[];
  readonly #socket: () => string;
  out = '';
  err = '';

  constructor(commands: readonly CommandDefinition[], socket: () => string) {
    this.#commands = commands;
    this.#socket = socket;
  }

  /** Resolves with the exit code. */
  async run(...words: string[]): Promise<number> {
    const printed = keepPrinted();
    const line = [...words, '--admin-socket', this.#socket()];
    const code = await runCommandLine(this.#commands, line);
    ({ out: this.out, err: this.err } = printed);
    return code;
  }

  /** Runs a line without quotes: its exit code, and what it printed or why it failed. */
  async said(line: string): Promise<string> {
    const code = await this.run(...line.split(' '));
    return `${code} ${code === 0 ? this.out : this.err}`;
  }

  /** Runs a line that must succeed, and reads its JSON. */
  async json(...words: string[]): Promise<Record<string, unknown>> {
    const code = await this.run(...words, '--output', 'json');
    if (code !== 0) throw new Error(`${words.join(' ')}: ${code} ${this.err}`);
    return JSON.parse(this.out) as Record<string, unknown>;
  }
}
