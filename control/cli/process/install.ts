/** `waf install` and `waf uninstall`: the program as a service of this machine. */

import { dirname, resolve } from 'node:path';
import { readBuildInfo } from '../../../base/build-info.ts';
import { installProgram, uninstallProgram, unitNames } from '../../release/install-program.ts';
import { switchFlag, textFlag, type CommandDefinition, type FlagDefinition } from '../command.ts';

const rootFlag: FlagDefinition = {
  flags: '--root <dir>',
  summary: 'folder that stands for /, to make an image; nothing is started or added there',
  default: '/',
};

/** The command. */
export const installCommand: CommandDefinition = {
  path: ['install'],
  summary: 'Install this program as a systemd service',
  help: 'Run it from an unpacked package. Places it in /opt/waf, its unit in /etc/systemd/system and its data in /var/lib/waf; the service runs as the user waf, in a sandbox. Starts nothing.',
  flags: [{ flags: '--node', summary: 'an enrolled node instead of the whole product' }, rootFlag],
  run: (context, _args, flags) => {
    const node = switchFlag(flags, 'node');
    const placed = installProgram({
      from: dirname(context.packageFolder),
      version: readBuildInfo().version,
      root: resolve(textFlag(flags, 'root') ?? '/'),
      node,
    });
    for (const path of placed) context.output.line(`installed ${path}`);
    const unit = node ? unitNames.node : unitNames.product;
    context.output.line(`Start it: systemctl enable --now ${unit}`);
    return Promise.resolve(0);
  },
};

/** The command. */
export const uninstallCommand: CommandDefinition = {
  path: ['uninstall'],
  summary: 'Stop and remove the service and its program',
  help: 'The data folder stays unless --purge is given.',
  flags: [{ flags: '--purge', summary: 'remove /var/lib/waf as well' }, rootFlag],
  run: (context, _args, flags) => {
    const root = resolve(textFlag(flags, 'root') ?? '/');
    for (const path of uninstallProgram(root, switchFlag(flags, 'purge'))) {
      context.output.line(`removed ${path}`);
    }
    return Promise.resolve(0);
  },
};
