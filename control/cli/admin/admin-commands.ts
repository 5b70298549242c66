/** `waf admin`: backups of the data folder, what restores one, and what checks either. */

import { join, resolve } from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { claimUnused, productVersion, requireLocal, showReport } from './admin-data.ts';
import { switchFlag, type CommandContext, type CommandDefinition } from '../command.ts';

const backup: CommandDefinition = {
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

const restore: CommandDefinition = {
  path: ['admin', 'restore'],
  summary: 'Restore a backup into the data folder',
  help: `The backup is unpacked beside what is there and checked before anything is exchanged: the
folder is as before, or as in the backup. Stop waf first. Logs that the backup does not hold stay.
Example: waf admin restore waf-20260101T030000Z.wafbackup --data /var/lib/waf`,
  arguments: [{ name: '<file>', summary: 'backup made by waf admin backup' }],
  flags: [{ flags: '--force', summary: 'replace what is in the data folder' }],
  run: async (context, [file = ''], flags) => {
    requireLocal(context);
    const { isEmptyData, restoreBackup } = await import('../../store/restore.ts');
    const { existsSync } = await import('node:fs');
    const { data } = context.options;
    const overwrite = switchFlag(flags, 'force');
    // Before the claim, which makes the folder.
    if (!overwrite && existsSync(data) && !isEmptyData(data)) {
      throw new AppError(
        'data_not_empty',
        `${data} is not empty: --force replaces what is in it, or give another --data`,
        { source: 'config' },
      );
    }
    const claim = await claimUnused(context);
    try {
      const report = await restoreBackup({
        file: resolve(file),
        data,
        overwrite,
        clock: systemClock,
      });
      const { header, sections, store } = report;
      const { createdAt, product } = header;
      context.output.line(`Restored the backup of ${createdAt} (version ${product}) to ${data}.`);
      return showReport(context, store, { header, sections });
    } finally {
      claim.release();
    }
  },
};

const verify: CommandDefinition = {
  path: ['admin', 'verify'],
  summary: 'Check the store, or a backup',
  help: `Every record decodes, indexes and counts agree with the records, the audit chain is whole; of
a backup also every checksum. Changed, removed and reordered audit rows are named. Works while waf
runs. The exit code is 1 where something is wrong.`,
  arguments: [{ name: '[file]', summary: 'a backup; left out: the store of the data folder' }],
  run: async (context, [file]) => {
    requireLocal(context);
    if (file === undefined) return verifyData(context);
    const { checkBackup } = await import('../../store/restore.ts');
    const { header, sections, store } = await checkBackup(resolve(file), systemClock);
    context.output.line(`Backup of ${header.createdAt} (version ${header.product})`);
    return showReport(context, store, { header, sections });
  },
};

/** Commands on the data folder of this machine. */
export const adminCommands: readonly CommandDefinition[] = [backup, restore, verify];

async function verifyData(context: CommandContext): Promise<number> {
  const { openLmdbKv } = await import('../../store/lmdb-kv.ts');
  const { verifyStore } = await import('../../store/verify.ts');
  const { collections } = await import('../../store/collection-list.ts');
  const folder = join(context.options.data, 'control');
  const kv = openLmdbKv({ folder, durable: true, readOnly: true });
  const snapshot = kv.snapshot();
  try {
    return showReport(context, verifyStore(snapshot, collections), {});
  } finally {
    snapshot.close();
    await kv.close();
  }
}
