/** `waf admin verify`: checks the store of the data folder, or a backup. */

import { join, resolve } from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import { requireLocal, showReport } from './admin-data.ts';
import type { CommandContext, CommandDefinition } from '../command.ts';

/** The command. */
export const adminVerifyCommand: CommandDefinition = {
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
