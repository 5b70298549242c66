/** The paging flags of list commands. */

import { AppError } from '../../base/errors.ts';
import { textFlag, type FlagDefinition, type FlagValues } from './command.ts';
import type { Output } from './output.ts';

/** Flags of every command that lists. */
export const pageFlags: readonly FlagDefinition[] = [
  { flags: '--page <n>', summary: 'page number', default: '1' },
  { flags: '--page-size <n>', summary: 'items on a page', default: '50' },
];

/** Page request of the flags. Errors: AppError bad_flag. */
export function readPage(flags: FlagValues): { page: number; pageSize: number } {
  return {
    page: readCount(flags, 'page', '--page'),
    pageSize: readCount(flags, 'pageSize', '--page-size'),
  };
}

/** A whole number from 1 on. Errors: AppError bad_flag names the flag. */
export function readCount(flags: FlagValues, name: string, flag: string): number {
  const value = Number(textFlag(flags, name));
  if (Number.isInteger(value) && value > 0) return value;
  throw new AppError('bad_flag', `${flag} wants a whole number from 1 on`, { source: 'config' });
}

/** Says when there is more than what is shown. */
export function notePage(output: Output, shown: number, total: bigint | undefined): void {
  if (total !== undefined && total > BigInt(shown)) output.note(`${shown} of ${total}`);
}
