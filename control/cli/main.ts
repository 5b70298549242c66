/** The `waf` command. Composition only: the list of commands and the process's exit code. */

import { endOnClosedOutput } from './closed-output.ts';
import { loadCommands } from './commands.ts';
import { runCommandLine } from './program.ts';

endOnClosedOutput();
const argv = process.argv.slice(2);
process.exitCode = await runCommandLine(await loadCommands(argv), argv);
