/** The parser's commands as plain data, as completion and documentation read them. */

import type { Command } from 'commander';

/** What the value of a flag or an argument can be. */
export interface ValueHint {
  readonly choices: readonly string[];
  /** Names a file or folder. */
  readonly isPath: boolean;
}

/** A flag with every spelling it has. */
export interface TreeFlag {
  /** For example ['-c', '--config']. */
  readonly names: readonly string[];
  /** As help shows it: `-c, --config <path>`. */
  readonly spelled: string;
  readonly summary: string;
  /** Null for a switch. */
  readonly value: ValueHint | null;
}

/** A command, or a group of commands. */
export interface TreeNode {
  /** Words after `waf`; empty for `waf` itself. */
  readonly path: readonly string[];
  readonly summary: string;
  /** The summary and what help says after it. */
  readonly description: string;
  /** What follows the path on a command line. */
  readonly usage: string;
  readonly children: readonly TreeNode[];
  readonly flags: readonly TreeFlag[];
  readonly arguments: readonly ValueHint[];
}

/** Reads the tree off the parser. */
export function readTree(command: Command, path: readonly string[] = []): TreeNode {
  return {
    path,
    summary: command.summary() || command.description(),
    description: command.description(),
    usage: command.usage(),
    children: command.commands.map((child) => readTree(child, [...path, child.name()])),
    flags: [
      ...command.options
        .filter((option) => !option.hidden)
        .map(({ short, long, description, flags, argChoices }) => ({
          names: [short, long].filter((name) => name !== undefined),
          spelled: flags,
          summary: description,
          value: /[<[]/.test(flags) ? hint(flags, argChoices) : null,
        })),
      {
        names: ['-h', '--help'],
        spelled: '-h, --help',
        summary: 'display help for command',
        value: null,
      },
    ],
    arguments: command.registeredArguments.map((one) => hint(one.name(), one.argChoices)),
  };
}

function hint(name: string, choices: readonly string[] | undefined): ValueHint {
  const isPath = /\b(?:file|path|dir|folder|manifest|bundle)\b/.test(name.replace(/^.*[<[]/, ''));
  return { choices: choices ?? [], isPath };
}

/** Every node of a tree, parents first. */
export function* walkTree(node: TreeNode): Generator<TreeNode> {
  yield node;
  for (const child of node.children) yield* walkTree(child);
}
