/** What a command of `waf` is: data and one function. Knows nothing of the argument parser. */

import type { ApiClient } from './api-client.ts';
import type { TreeNode } from './command-tree.ts';
import type { GlobalOptions } from './global-options.ts';
import type { NamedResource } from './named-resource.ts';
import type { Output } from './output.ts';

/** A flag in the parser's usual spelling, for example `--proxy <host:port>`. */
export interface FlagDefinition {
  readonly flags: string;
  readonly summary: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** May be given several times; its value is a list. */
  readonly repeatable?: boolean;
  readonly required?: boolean;
  /** Its values are ids or names of these. */
  readonly resource?: NamedResource;
  /** Its values are pairs; those of these names hold ids or names of what stands here. */
  readonly pairResources?: Readonly<Record<string, NamedResource>>;
}

/** A positional argument, for example `<file>` or `[name]`. */
export interface ArgumentDefinition {
  readonly name: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  /** Other spellings of choices; help and completion leave them out. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Its value is the id or name of one of these. */
  readonly resource?: NamedResource;
}

/** What a command works with. */
export interface CommandContext {
  readonly options: GlobalOptions;
  readonly output: Output;
  /** Folder that holds package.json. */
  readonly packageFolder: string;
  /** Every command, as the parser knows them. */
  commandTree(): TreeNode;
  /** Opens the management API; loaded only when asked for. */
  api(): Promise<ApiClient>;
}

/** Values of a command's own flags by camelCase name. */
export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** One command. `run` resolves to the exit code. */
export interface CommandDefinition {
  /** Words that name it, for example ['site', 'create']. */
  readonly path: readonly string[];
  readonly summary: string;
  /** Longer text and examples, shown by --help. */
  readonly help?: string;
  readonly arguments?: readonly ArgumentDefinition[];
  readonly flags?: readonly FlagDefinition[];
  /** Changes what nodes serve: the command ends when the built-in one does, or says why not. */
  readonly published?: boolean;
  /** Shows the warnings of answers itself; those of other commands are printed as they come. */
  readonly showsWarnings?: boolean;
  run(context: CommandContext, args: readonly string[], flags: FlagValues): Promise<number>;
}

/** Text of a flag; undefined when it was not given. */
export function textFlag(flags: FlagValues, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

/** Values of a repeatable flag. */
export function listFlag(flags: FlagValues, name: string): readonly string[] {
  const value = flags[name];
  return typeof value === 'object' ? value : [];
}

/** Whether a switch is on. */
export function switchFlag(flags: FlagValues, name: string): boolean {
  return flags[name] === true;
}
