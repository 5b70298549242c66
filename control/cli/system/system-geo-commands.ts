/** `waf system geo-…`: data sets that map addresses to countries, cities and networks. */

import type { GeoDatabase } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { CommandDefinition } from '../command.ts';
import { textFlag } from '../command.ts';
import { readInput } from '../input.ts';
import type { Table } from '../output.ts';
import { callCommand, deleteCommand } from '../regular-commands.ts';
import { only, timeText } from '../show.ts';

const kindArgument = { name: '<kind>', summary: 'country, city or asn' };

/** Commands on geo databases. */
export const systemGeoCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['system', 'geo-list'],
    summary: 'List geo databases and whether nodes use them',
    call: ({ system }) => system.listGeoDatabases({}),
    table: ({ items }) => geoTable(items),
  }),
  callCommand({
    path: ['system', 'geo-upload'],
    summary: 'Upload and replace a geo database',
    help: 'Example: waf system geo-upload country country.mmdb.gz. A request takes 16 MiB: pack it.',
    arguments: [kindArgument, { name: '<file>', summary: '.mmdb, plain or gzip; - reads stdin' }],
    flags: [{ flags: '--version-name <text>', summary: 'version; default is the build date' }],
    published: true,
    call: ({ system }, [kind = '', file = ''], flags) => {
      const version = textFlag(flags, 'versionName') ?? '';
      return system.uploadGeoDatabase({ kind, version, payload: readInput(file) });
    },
    table: ({ database }) => geoTable(only(database)),
  }),
  callCommand({
    path: ['system', 'geo-download'],
    summary: 'Download and replace a geo database',
    help:
      'From the setting geo.download_url, by default the free data sets of DB-IP (CC BY 4.0).\n' +
      'Example: waf system geo-download country --month 2026-09',
    arguments: [kindArgument],
    flags: [{ flags: '--month <YYYY-MM>', summary: 'which one; default is the latest' }],
    published: true,
    call: ({ system }, [kind = ''], flags) => {
      const month = textFlag(flags, 'month') ?? '';
      return system.downloadGeoDatabase({ kind, month }, { timeoutMs: 0 });
    },
    table: ({ database }) => geoTable(only(database)),
  }),
  deleteCommand({
    path: ['system', 'geo-delete'],
    summary: 'Remove an uploaded geo database; countries return to the built-in one',
    arguments: [kindArgument],
    published: true,
    kind: 'geo database',
    call: ({ system }, id) => system.deleteGeoDatabase({ kind: id }),
  }),
];

function geoTable(databases: readonly GeoDatabase[]): Table {
  return {
    columns: ['KIND', 'VERSION', 'SOURCE', 'BYTES', 'ACTIVATION', 'ACTIVATED', 'ERROR'],
    rows: databases.map((one) => [
      one.kind,
      one.version,
      one.source,
      String(one.sizeBytes),
      one.activationStatus,
      timeText(one.activatedAt),
      one.lastActivationError,
    ]),
  };
}
