/** The `waf` command. Composition only: the list of commands and the process's exit code. */

import { commands } from './commands.ts';
import { runCommandLine } from './program.ts';

process.exitCode = await runCommandLine(commands, process.argv.slice(2));
