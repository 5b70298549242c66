/** Owns the flags of a command that stand in a settings file: the command line goes before them. */

import type { Command, Option } from 'commander';
import { badConfig, type SettingsFile } from './settings.ts';

/**
 * Sets the flags that the file gives for `words`, such as `run`, and the command line does not.
 * Keys are the long flags without dashes; `demo: false` is --no-demo. Errors: AppError bad_config.
 */
export function applyFileFlags(command: Command, words: string, file: SettingsFile): void {
  for (const [key, value] of Object.entries(file.commands.get(words) ?? {})) {
    const option = command.options.find(({ long = '' }) => nameOf(long) === key);
    if (option === undefined) {
      const known = command.options.map(({ long = '' }) => nameOf(long)).join(', ');
      throw badConfig(file.path, `unknown key ${words}.${key}; known: ${known}`);
    }
    const name = option.attributeName();
    if (command.getOptionValueSource(name) === 'cli') continue;
    const wrong = (why: string): Error => badConfig(file.path, `${words}.${key} ${why}`);
    command.setOptionValueWithSource(name, readValue(option, value, wrong), 'config');
  }
}

const nameOf = (long: string): string => long.replace(/^--(?:no-)?/, '');

function readValue(option: Option, value: unknown, wrong: (why: string) => Error): unknown {
  if (option.isBoolean() || option.negate) {
    if (typeof value === 'boolean') return value;
    throw wrong('wants true or false');
  }
  if (typeof value !== 'string' && typeof value !== 'number') throw wrong('wants a text');
  const text = String(value);
  const { argChoices } = option;
  if (argChoices === undefined || argChoices.includes(text)) return text;
  throw wrong(`wants one of: ${argChoices.join(', ')}`);
}
