/** The flags of a command that stand in a settings file: the command line goes before them. */

import type { Command, Option } from 'commander';
import type { FlagDefinition } from './command.ts';
import { badConfig, type SettingsFile } from './settings.ts';

/**
 * Sets those of a command's own flags that the file gives for `words`, such as `run`, and the
 * command line does not. Keys are the long flags without dashes; `demo: false` is --no-demo. What
 * counts for every command stands at the top of the file. Errors: AppError bad_config.
 */
export function applyFileFlags(
  command: Command,
  words: string,
  own: readonly FlagDefinition[],
  file: SettingsFile,
): void {
  const options = command.options.filter((option) =>
    own.some(({ flags }) => flags === option.flags),
  );
  for (const [key, value] of Object.entries(file.commands.get(words) ?? {})) {
    const option = options.find(({ long = '' }) => nameOf(long) === key);
    if (option === undefined) {
      const known = options.map(({ long = '' }) => nameOf(long)).join(', ');
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
