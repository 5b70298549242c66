/** Reads CSV files of entries and sends them in batches. */

import { timestampFromMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import type { IpList } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { commandLineLimits } from '../../limits/command-limits.ts';
import type { CommandContext } from '../command.ts';
import { badFlag, readInputText } from '../input.ts';

/** One entry of a file. */
export interface FileEntry {
  readonly value: string;
  readonly note: string;
  readonly expiresAt?: Timestamp;
}

/** Sends the entries of a file; the list as it is then. Errors: AppError bad_flag. */
export async function importCsv(
  context: CommandContext,
  id: string,
  file: string,
  replace: boolean,
): Promise<IpList | undefined> {
  const entries = await readCsvEntries(readInputText(file));
  if (entries.length === 0 && !replace) throw badFlag(`${file} has no entries`);
  const { ipLists } = await context.api();
  const size = commandLineLimits.importBatchEntries;
  let list: IpList | undefined;
  for (let at = 0; at === 0 || at < entries.length; at += size) {
    const batch = entries.slice(at, at + size);
    const answer =
      replace && at === 0
        ? await ipLists.replaceIpListEntries({ id, entries: batch })
        : await ipLists.addEntries({ ipListId: id, entries: batch });
    list = answer.ipList;
    if (entries.length > size) {
      context.output.note(`${Math.min(at + size, entries.length)} of ${entries.length} entries`);
    }
  }
  return list;
}

/** Entries of CSV: columns by their header, else value, note, expires_at. Errors: bad_flag. */
export async function readCsvEntries(text: string): Promise<FileEntry[]> {
  const { parse } = await import('csv-parse/sync');
  let rows: string[][];
  try {
    rows = parse(text, {
      bom: true,
      trim: true,
      comment: '#',
      comment_no_infix: true,
      skip_empty_lines: true,
      relax_column_count: true,
      record_delimiter: ['\r\n', '\n', '\r'],
    });
  } catch (error) {
    const { lines = 0 } = error as { lines?: number };
    throw badFlag(`the file is no CSV at line ${lines}`);
  }
  const names = (rows[0] ?? []).map((name) => name.toLowerCase());
  const hasHeader = names.includes('value');
  const columns = hasHeader
    ? ['value', 'note', 'expires_at'].map((name) => names.indexOf(name))
    : [0, 1, 2];
  return rows.slice(hasHeader ? 1 : 0).map((row, index) => {
    const [value = '', note = '', ends = ''] = columns.map((at) => row[at] ?? '');
    const endsMs = Date.parse(ends);
    if (ends !== '' && Number.isNaN(endsMs)) {
      throw badFlag(`record ${index + 1}: expires_at must be a time such as 2030-01-31T12:00:00Z`);
    }
    return { value, note, ...(ends === '' ? {} : { expiresAt: timestampFromMs(endsMs) }) };
  });
}
