/** `waf admin restore`: puts a backup back into a data folder that nobody uses. */

import { resolve } from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { claimUnused, requireLocal, showReport } from './admin-data.ts';
import { switchFlag, type CommandDefinition } from '../command.ts';

/** The command. */
export const adminRestoreCommand: CommandDefinition = {
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
