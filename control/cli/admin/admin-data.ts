/** What the `waf admin` commands share: they work on the data folder itself, not on the API. */

import { counted } from '../../../base/counted.ts';
import { createConnection } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import { claimDataFolder, type DataFolder } from '../../supervisor/data-folder.ts';
import type { StoreReport } from '../../store/verify.ts';
import type { CommandContext } from '../command.ts';

/** Errors: AppError bad_flag where another machine's API was asked for. */
export function requireLocal({ options }: CommandContext): void {
  if (options.api === undefined) return;
  throw new AppError(
    'bad_flag',
    'this works on the data folder of this machine: leave out --api and give --data',
    { source: 'config' },
  );
}

/** This package's version. */
export function productVersion({ packageFolder }: CommandContext): string {
  const text = readFileSync(join(packageFolder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Claims a data folder that nobody uses. Errors: AppError data_in_use. */
export async function claimUnused({ options }: CommandContext): Promise<DataFolder> {
  if (await answers(options.adminSocket)) {
    throw new AppError(
      'data_in_use',
      `waf is running on ${options.data} (${options.adminSocket} answers): stop it first`,
      { source: 'config' },
    );
  }
  return claimDataFolder(options.data, options.adminSocket);
}

/** Whether somebody accepts connections on a socket. */
export function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    const settle = (found: boolean): void => {
      socket.destroy();
      resolve(found);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

/** Shows what a check of a store found; the exit code is 1 where something is wrong. */
export function showReport(context: CommandContext, report: StoreReport, extra: object): number {
  const { output } = context;
  const { problems, problemCount, notes, collections, auditRows, auditHash, blobs } = report;
  const records = Object.values(collections).reduce((sum, count) => sum + count, 0);
  const healthy = problemCount === 0;
  if (output.format !== 'table') {
    output.result({ healthy, ...extra, ...report }, { columns: [], rows: [] });
    return healthy ? 0 : 1;
  }
  const kinds = Object.keys(collections).length;
  const parts = [counted(blobs, 'blob'), counted(auditRows, 'audit row')];
  output.line(`${counted(records, 'record')} of ${counted(kinds, 'kind')}, ${parts.join(', ')}`);
  output.line(`last audit hash ${auditHash}`);
  for (const note of notes) output.note(`note: ${note}`);
  if (healthy) output.line('No problems.');
  else {
    output.result(problems, {
      columns: ['KIND', 'WHERE', 'WHAT'],
      rows: problems.map(({ kind, where, what }) => [kind, where, what]),
    });
    output.note(`${problemCount} problems; waf admin restore brings a backup back`);
  }
  return healthy ? 0 : 1;
}
