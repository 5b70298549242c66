/** `waf completion`: scripts that make shells complete commands, flags and their values. */

import { shells, type Shell } from './completion-script.ts';
import type { CommandDefinition } from './command.ts';

/** The command. */
export const completionCommand: CommandDefinition = {
  path: ['completion'],
  summary: 'Print a completion script for a shell',
  help: `bash: source <(waf completion bash)         in ~/.bashrc
zsh:  source <(waf completion zsh)          in ~/.zshrc, after compinit
fish: waf completion fish > ~/.config/fish/completions/waf.fish`,
  arguments: [{ name: '<shell>', summary: 'which shell', choices: Object.keys(shells) }],
  run: (context, [shell = '']) => {
    process.stdout.write(shells[shell as Shell](context.commandTree()));
    return Promise.resolve(0);
  },
};
