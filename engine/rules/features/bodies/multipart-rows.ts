/** Turns the content of one finished part into arguments and files of the transaction. */

import type { ByteString } from '../../../../base/byte-string.ts';
import { decodeCharacterReferences } from '../../../base/character-references.ts';
import { decodeEncodedWords } from '../../../base/encoded-words.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { MultipartFlags, Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { failBody, hasArgumentRoom } from './arguments.ts';
import type { Disposition } from '../../../base/multipart-disposition.ts';

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
  for (const fileName of readingsOf(tx, fileNames)) {
    const at = tx.values.appendText(fileName);
    tx.values.add(SOURCE.file, keyStart, keyEnd, at, tx.values.used);
  }
  const [fileName = ''] = fileNames;
  const field = disposition?.name ?? '';
  const leftOut = bytesLeftOut(tx, start, end);
  const sizeBytes = end - start + leftOut;
  tx.files.push({ field, fileName, sizeBytes, start, end, cut: leftOut > 0 });
  if (tx.files.length <= tx.settings.uploadFilesMax) return;
  flags.fileLimitExceeded = 1;
  reachLimit(tx, 'multipart-files');
  failBody(tx, 'Multipart: Upload file limit exceeded.');
}

/** Django opens character references in names of files, Tomcat words of mail. */
function readingsOf(tx: Transaction, fileNames: readonly ByteString[]): Iterable<ByteString> {
  if (!tx.settings.inspectsUnparsed || !fileNames.some((name) => /&|=\?/.test(name))) {
    return fileNames;
  }
  const opened = fileNames.map(decodeCharacterReferences);
  return new Set([...fileNames, ...opened, ...fileNames.map(decodeEncodedWords)]);
}

/** Bytes of the body between two offsets in the slab that are not there. Cost: a binary search. */
function bytesLeftOut(
  { filesLeftOut, bodyStart }: Transaction,
  start: number,
  end: number,
): number {
  let low = 0;
  let high = filesLeftOut.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bodyStart + filesLeftOut[2 * middle]! < start) low = middle + 1;
    else high = middle;
  }
  let bytes = 0;
  for (let at = 2 * low; at < filesLeftOut.length; at += 2) {
    if (bodyStart + filesLeftOut[at]! > end) break;
    bytes += filesLeftOut[at + 1]!;
  }
  return bytes;
}
