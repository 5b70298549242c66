/** `waf release deb`: this program as a Debian package. */

import { readBuildInfo } from '../../../base/build-info.ts';
import { builtInCrsFolder, readRulesetFolder } from '../../publish/rulesets/ruleset-folder.ts';
import { buildDebian } from '../../release/debian/debian-package.ts';
import { textFlag, type CommandDefinition } from '../command.ts';
import type { TreeNode } from '../command-tree.ts';
import { shells } from '../completion-script.ts';
import { manPages } from '../man-page.ts';

/** The command. */
export const releaseDebCommand: CommandDefinition = {
  path: ['release', 'deb'],
  summary: 'Make a Debian package of this program, with the Node runtime',
  help:
    'Asks no controller. The package needs neither npm nor a compiler where it is installed. The ' +
    'same files give the same bytes. Install it: apt install ./waf_VERSION_ARCH.deb',
  flags: [
    { flags: '--out <dir>', summary: 'folder that the package is written to', default: '.' },
    {
      flags: '--compression <how>',
      summary: 'xz, or none for a package that is made at once',
      choices: ['xz', 'none'],
      default: 'xz',
    },
  ],
  run: (context, _args, flags) => {
    const { version } = readBuildInfo();
    const { path, sha256, bytes } = buildDebian({
      program: context.packageFolder,
      version,
      out: textFlag(flags, 'out') ?? '.',
      rules: readRulesetFolder(builtInCrsFolder).files,
      documents: documentsOf(context.commandTree(), version),
      compression: textFlag(flags, 'compression') === 'none' ? 'none' : 'xz',
    });
    context.output.line(`wrote ${path}: ${bytes} bytes, SHA-256 ${sha256}`);
    return Promise.resolve(0);
  },
};

/** Manual pages and completions of all commands, where Debian looks for them. */
function documentsOf(tree: TreeNode, version: string): ReadonlyMap<string, string> {
  const pages = [...manPages(tree, version)].map(
    ([name, text]) => [`usr/share/man/man1/${name}`, text] as const,
  );
  return new Map([
    ...pages,
    ['usr/share/bash-completion/completions/waf', shells.bash(tree)],
    ['usr/share/zsh/vendor-completions/_waf', shells.zsh(tree)],
    ['usr/share/fish/vendor_completions.d/waf.fish', shells.fish(tree)],
  ]);
}
