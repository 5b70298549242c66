/** Turns the content of one finished part into arguments and files of the transaction. */

import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { MultipartFlags, Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { failBody, hasArgumentRoom } from './arguments.ts';
import type { Disposition } from './multipart-disposition.ts';

/** A part's name and content as offsets into the slab. */
export interface PartContent {
  /** null for a part without a Content-Disposition header. */
  readonly disposition: Disposition | null;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly start: number;
  readonly end: number;
}

/** Adds the content as an argument, under every name that a backend may give it. */
export function addPartArguments(tx: Transaction, content: PartContent): void {
  const { disposition, keyStart, keyEnd, start, end } = content;
  const { values } = tx;
  if (hasArgumentRoom(tx)) values.add(SOURCE.argPost, keyStart, keyEnd, start, end);
  for (const name of disposition?.otherNames ?? []) {
    if (!hasArgumentRoom(tx)) return;
    const at = values.appendText(name);
    values.add(SOURCE.argPost, at, values.used, start, end);
  }
}

/** Adds the content as a file, where the part names one. Errors: too many files. */
export function addPartFile(tx: Transaction, flags: MultipartFlags, content: PartContent): void {
  const { disposition, keyStart, keyEnd, start, end } = content;
  const names = [disposition?.fileName ?? '', disposition?.extendedFileName ?? ''];
  const fileNames = names.filter((name) => name !== '');
  if (fileNames.length === 0) return;
  for (const fileName of fileNames) {
    const at = tx.values.appendText(fileName);
    tx.values.add(SOURCE.file, keyStart, keyEnd, at, tx.values.used);
  }
  const [fileName = ''] = fileNames;
  const field = disposition?.name ?? '';
  tx.files.push({ field, fileName, sizeBytes: end - start, start, end });
  if (tx.files.length <= tx.settings.uploadFilesMax) return;
  flags.fileLimitExceeded = 1;
  reachLimit(tx, 'multipart-files');
  failBody(tx, 'Multipart: Upload file limit exceeded.');
}
