/** How releases of the program are shown in a table. */

import type { BinaryRelease } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { Table } from '../output.ts';
import { printable, timeText } from '../show.ts';

/** One row a release; one that was not imported has no time of import. */
export function releaseTable(releases: readonly BinaryRelease[]): Table {
  return {
    columns: ['ID', 'CHANNEL', 'BYTES', 'SHA256', 'KEY', 'IMPORTED', 'FILE'],
    rows: releases.map((one) => [
      printable(one.id),
      one.channel,
      String(one.sizeBytes),
      one.sha256,
      one.keyId,
      timeText(one.importedAt),
      one.fileStatus,
    ]),
  };
}
