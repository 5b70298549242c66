/** The way from the list of commands to a command line: parser, help, exit codes. */

import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { stringify } from 'yaml';
import { AppError } from '../../base/errors.ts';
import type { ApiClient } from './api-client.ts';
import { groupSummaries } from './command-groups.ts';
import { readTree } from './command-tree.ts';
import type {
  ArgumentDefinition,
  CommandContext,
  CommandDefinition,
  FlagDefinition,
  FlagValues,
} from './command.ts';
import { createOutput } from './output.ts';
import { applyFileFlags } from './file-flags.ts';
import {
  findPackageFolder,
  readSettingsFile,
  resolveSettings,
  type GlobalFlags,
  type SettingsFile,
} from './settings.ts';

/** Exit codes: 0 done, 1 the answer is no or it failed, 2 the command line was wrong. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** Runs one command line (without `node` and script). Resolves to the exit code. */
export async function runCommandLine(
  commands: readonly CommandDefinition[],
  argv: readonly string[],
): Promise<number> {
  let code: number = EXIT.done;
  const onExit = (exitCode: number): void => void (code = exitCode);
  const program = buildProgram(commandsMeant(commands, argv), onExit, commands);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    process.stderr.write(`waf: ${describeError(error)}\n`);
    return EXIT.failed;
  }
}

/**
 * The commands that a line may mean: as far as its words lead, so that one command needs one parser
 * and not hundreds; all of them where it begins with no command.
 */
function commandsMeant(
  commands: readonly CommandDefinition[],
  argv: readonly string[],
): readonly CommandDefinition[] {
  let meant = commands;
  for (const [at, word] of argv.entries()) {
    const found = meant.filter(({ path }) => path[at] === word);
    if (found.length === 0) break;
    meant = found;
  }
  return meant;
}

/**
 * The parser for `commands`; `all` are those that are shown as the tree of commands. Errors: a
 * plain Error for two commands of one name. Cost: a tenth of a millisecond a command.
 */
export function buildProgram(
  commands: readonly CommandDefinition[],
  onExit: (code: number) => void,
  all = commands,
): Command {
  const program = new Command('waf')
    .description('Reverse proxy with a built-in web application firewall')
    .exitOverride()
    .showHelpAfterError('(waf --help lists the commands)')
    .enablePositionalOptions();
  addGlobalFlags(program);
  const tree = () => readTree(all === commands ? program : buildProgram(all, onExit));
  for (const definition of commands) addCommand(program, definition, onExit, tree);
  return program;
}

function addGlobalFlags(command: Command): void {
  command
    .option('--api <url>', 'remote management API; default is the local socket (WAF_API)')
    .option('--token <token>', 'access token for --api (WAF_TOKEN)')
    .option('--ca-file <path>', 'CA certificate for --api, PEM (WAF_CA_FILE)')
    .option('--insecure', 'accept any certificate of --api (no verification)')
    .option('--admin-socket <path>', 'local administration socket (WAF_ADMIN_SOCKET)')
    .option('-c, --config <path>', 'YAML file with any of these settings (WAF_CONFIG)')
    .option('--log-level <level>', 'debug, info, warn or error')
    .option('--log-format <format>', 'json or text; default is text on a terminal, json elsewhere')
    .option('--output <format>', 'table, json or yaml')
    .option('--data <dir>', 'data folder; default is var/ in the package (WAF_DATA)');
}

function addCommand(
  program: Command,
  definition: CommandDefinition,
  onExit: (code: number) => void,
  commandTree: CommandContext['commandTree'],
): void {
  let parent = program;
  for (const word of definition.path.slice(0, -1)) {
    const group = parent.commands.find((one) => one.name() === word);
    parent = group ?? addGroup(parent, word);
  }
  const name = definition.path.at(-1) ?? '';
  if (parent.commands.some((one) => one.name() === name)) {
    throw new Error(`two commands are called ${definition.path.join(' ')}`);
  }
  const command = parent.command(name).summary(definition.summary).exitOverride();
  command.description(`${definition.summary}\n\n${unwrapped(definition.help ?? '')}`.trim());
  command.showHelpAfterError(`(waf ${definition.path.join(' ')} --help says how it is used)`);
  for (const one of definition.arguments ?? []) command.addArgument(toArgument(one));
  for (const flag of definition.flags ?? []) command.addOption(toOption(flag));
  if (definition.published === true) {
    command.option('--no-wait', 'do not wait until the built-in node serves the change');
  }
  addGlobalFlags(command);
  command.action(async () => {
    const given = { ...program.opts(), ...command.opts() } as GlobalFlags;
    const file = await readSettingsFile(given, process.env);
    if (file !== null)
      applyFileFlags(command, definition.path.join(' '), definition.flags ?? [], file);
    const flags = { ...program.opts(), ...command.opts() };
    const context = createContext(given, commandTree, definition, file);
    try {
      onExit(await runDefinition(definition, context, command.args, flags as FlagValues));
    } catch (error) {
      throw await explain(error, context);
    }
  });
}

/** Joins the lines of a paragraph; the terminal's width wraps it. */
function unwrapped(help: string): string {
  return help.replace(/([^\n]{60,}[^\n.:|])\n(?=\S)/g, '$1 ');
}

function addGroup(parent: Command, word: string): Command {
  const summary = groupSummaries[word];
  if (summary === undefined) throw new Error(`the group ${word} has no summary`);
  const group = parent.command(word).description(summary).exitOverride();
  return group.showHelpAfterError(`(waf ${word} --help lists its commands)`);
}

/** Names become ids before the command runs; afterwards a change is followed to the node. */
async function runDefinition(
  definition: CommandDefinition,
  context: CommandContext,
  args: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { arguments: argumentsOf = [], flags: flagsOf = [] } = definition;
  const named =
    argumentsOf.some((one) => one.resource) ||
    flagsOf.some((one) => one.resource ?? one.pairResources);
  const waits =
    definition.published === true && flags['wait'] !== false && flags['dryRun'] !== true;
  if (!named && !waits) return definition.run(context, args, flags);
  const { resolveArguments, resolveFlags } = await import('./resolve-names.ts');
  const { awaitServing, readServing } = await import('./await-serving.ts');
  const api = () => context.api();
  const before = waits ? await readServing(await api()) : null;
  const ids = await resolveArguments(api, argumentsOf, args);
  const values = await resolveFlags(api, flagsOf, flags);
  const code = await definition.run(context, ids, values);
  if (waits && code === EXIT.done) await awaitServing(await api(), context.output, before);
  return code;
}

/** Failed calls get a sentence; the client is loaded by then, so this costs nothing. */
async function explain(error: unknown, { options }: CommandContext): Promise<Error> {
  const known = error instanceof Error && error.name === 'ConnectError';
  const found = known ? (await import('./api-client.ts')).explainCallError(error, options) : error;
  return found instanceof Error ? found : new Error(String(found));
}

function toArgument({ name, summary, choices, aliases }: ArgumentDefinition): Argument {
  const argument = new Argument(name, summary);
  if (choices === undefined) return argument;
  argument.choices(choices);
  if (aliases === undefined) return argument;
  // Choices are shown; their other spellings are only taken.
  return argument.argParser((value: string) => {
    const word = aliases[value] ?? value;
    if (choices.includes(word)) return word;
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
  });
}

function toOption(flag: FlagDefinition): Option {
  const required = flag.required === true ? `${flag.summary} (required)` : flag.summary;
  const option = new Option(flag.flags, required);
  if (flag.default !== undefined) option.default(flag.default);
  if (flag.choices !== undefined) option.choices(flag.choices);
  if (flag.required === true) option.makeOptionMandatory();
  if (flag.repeatable === true) {
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  }
  return option;
}

function createContext(
  flags: GlobalFlags,
  commandTree: CommandContext['commandTree'],
  { showsWarnings }: CommandDefinition,
  file: SettingsFile | null,
): CommandContext {
  const packageFolder = findPackageFolder();
  const options = resolveSettings(flags, process.env, packageFolder, file);
  const output = createOutput(options.output, undefined, undefined, stringify);
  const warn =
    showsWarnings === true ? undefined : (text: string) => output.note(`warning: ${text}`);
  let client: ApiClient | undefined;
  return {
    options,
    packageFolder,
    commandTree,
    output,
    // One client a command line: each warning is said once.
    api: async () => (client ??= (await import('./api-client.ts')).createApiClient(options, warn)),
  };
}

/** A sentence for the terminal; a stack only for what is our own mistake. */
export function describeError(error: unknown): string {
  if (error instanceof AppError) return error.message;
  if (error instanceof Error) return error.stack ?? error.message;
  return String(error);
}
