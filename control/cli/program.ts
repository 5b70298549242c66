/** Owns the way from the list of commands to a command line: parser, help, exit codes. */

import { Argument, Command, CommanderError, Option } from 'commander';
import { AppError } from '../../engine/base/errors.ts';
import { readTree } from './command-tree.ts';
import type {
  ArgumentDefinition,
  CommandContext,
  CommandDefinition,
  FlagDefinition,
  FlagValues,
} from './command.ts';
import { createOutput } from './output.ts';
import { findPackageFolder, resolveSettings, type GlobalFlags } from './settings.ts';

/** Exit codes: 0 done, 1 the answer is no or it failed, 2 the command line was wrong. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** Runs one command line (without `node` and script). Resolves to the exit code. */
export async function runCommandLine(
  commands: readonly CommandDefinition[],
  argv: readonly string[],
): Promise<number> {
  let code: number = EXIT.done;
  const program = buildProgram(commands, (exitCode) => {
    code = exitCode;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    process.stderr.write(`waf: ${describeError(error)}\n`);
    return EXIT.failed;
  }
}

/** The parser for `commands`. Errors: a plain Error for two commands of one name. */
export function buildProgram(
  commands: readonly CommandDefinition[],
  onExit: (code: number) => void,
): Command {
  const program = new Command('waf')
    .description('Reverse proxy with a built-in web application firewall')
    .exitOverride()
    .showHelpAfterError()
    .enablePositionalOptions();
  addGlobalFlags(program);
  for (const definition of commands) addCommand(program, definition, onExit);
  return program;
}

function addGlobalFlags(command: Command): void {
  command
    .option('--api <url>', 'remote management API; default is the local socket (WAF_API)')
    .option('--token <token>', 'access token for --api (WAF_TOKEN)')
    .option('--ca-file <path>', 'PEM of the authority behind --api (WAF_CA_FILE)')
    .option('--insecure', 'take any certificate of --api')
    .option('--admin-socket <path>', 'local administration socket (WAF_ADMIN_SOCKET)')
    .option('-c, --config <path>', 'YAML file with any of these settings')
    .option('--log-level <level>', 'debug, info, warn or error')
    .option('--output <format>', 'table, json or yaml')
    .option('--data <dir>', 'data folder; default is var/ in the package (WAF_DATA)');
}

function addCommand(
  program: Command,
  definition: CommandDefinition,
  onExit: (code: number) => void,
): void {
  let parent = program;
  for (const word of definition.path.slice(0, -1)) {
    const group = parent.commands.find((one) => one.name() === word);
    parent = group ?? parent.command(word).description(`commands on ${word}`).exitOverride();
  }
  const name = definition.path.at(-1) ?? '';
  if (parent.commands.some((one) => one.name() === name)) {
    throw new Error(`two commands are called ${definition.path.join(' ')}`);
  }
  const command = parent.command(name).summary(definition.summary).exitOverride();
  command.description(`${definition.summary}\n\n${definition.help}`.trim());
  for (const one of definition.arguments) command.addArgument(toArgument(one));
  for (const flag of definition.flags) command.addOption(toOption(flag));
  addGlobalFlags(command);
  command.action(async () => {
    const flags = { ...program.opts(), ...command.opts() };
    const context = await createContext(flags as GlobalFlags, program);
    try {
      onExit(await definition.run(context, command.args, flags as FlagValues));
    } catch (error) {
      throw await explain(error, context);
    }
  });
}

/** Failed calls get a sentence; the client is loaded by then, so this costs nothing. */
async function explain(error: unknown, { options }: CommandContext): Promise<Error> {
  const known = error instanceof Error && error.name === 'ConnectError';
  const found = known ? (await import('./api-client.ts')).explainCallError(error, options) : error;
  return found instanceof Error ? found : new Error(String(found));
}

function toArgument({ name, summary, choices }: ArgumentDefinition): Argument {
  const argument = new Argument(name, summary);
  return choices === undefined ? argument : argument.choices(choices);
}

function toOption(flag: FlagDefinition): Option {
  const option = new Option(flag.flags, flag.summary);
  if (flag.default !== undefined) option.default(flag.default);
  if (flag.choices !== undefined) option.choices(flag.choices);
  if (flag.required === true) option.makeOptionMandatory();
  if (flag.repeatable === true) {
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  }
  return option;
}

async function createContext(flags: GlobalFlags, program: Command): Promise<CommandContext> {
  const packageFolder = findPackageFolder();
  const options = await resolveSettings(flags, process.env, packageFolder);
  const toYaml = options.output === 'yaml' ? (await import('yaml')).stringify : undefined;
  return {
    options,
    packageFolder,
    commandTree: () => readTree(program),
    output: createOutput(options.output, undefined, undefined, toYaml),
    api: async () => (await import('./api-client.ts')).createApiClient(options),
  };
}

/** A sentence for the terminal; a stack only for what is our own mistake. */
export function describeError(error: unknown): string {
  if (error instanceof AppError) return error.message;
  if (error instanceof Error) return error.stack ?? error.message;
  return String(error);
}
