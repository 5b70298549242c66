/** `waf admin backup`: a consistent copy of the data folder, also while waf runs. */

import { resolve } from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import { productVersion, requireLocal } from './admin-data.ts';
import { switchFlag, type CommandDefinition } from '../command.ts';

/** The command. */
export const adminBackupCommand: CommandDefinition = {
  path: ['admin', 'backup'],
  summary: 'Back up the data folder, also while waf runs',
  help: `In it: the store (configuration, users, audit chain), keys, certificates and API documents;
with --with-events also events, counts and evidence. Never in it: what the engine rebuilds
(databases of rules, facts on their way), events in ClickHouse, and keys of evidence outside of the
data folder. It is as secret as the data folder: it is made with mode 0600; keep it so.
A folder as target gets a file named by the time.
Example: waf admin backup /var/backups/ --with-events`,
  arguments: [{ name: '<file|dir>', summary: 'file to write, or folder to write it in' }],
  flags: [
    { flags: '--with-events', summary: 'events, counts and evidence, too' },
    { flags: '--logs', summary: 'the same as --with-events' },
    { flags: '--force', summary: 'replace a file that is there' },
  ],
  run: async (context, [target = ''], flags) => {
    requireLocal(context);
    const { writeBackup } = await import('../../store/backup.ts');
    const logs = switchFlag(flags, 'withEvents') || switchFlag(flags, 'logs');
    const isFolder = target.endsWith('/');
    const made = await writeBackup({
      data: context.options.data,
      target: resolve(target) + (isFolder ? '/' : ''),
      logs,
      overwrite: switchFlag(flags, 'force'),
      product: productVersion(context),
      nowMs: systemClock.nowMs(),
    });
    context.output.result(made, {
      columns: ['FILE', 'BYTES', 'STORES'],
      rows: [[made.file, String(made.bytes), made.stores.join(' ')]],
    });
    const without = 'events, counts and evidence are not in this backup: --with-events takes them';
    if (!logs) context.output.note(without);
    return 0;
  },
};
