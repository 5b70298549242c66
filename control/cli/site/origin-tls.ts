/** Flags that say how https origins are verified, of pools and of sites alike. */

import { UpstreamTlsSchema } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import type { FlagValues } from '../command.ts';
import { flagsOf, readFields, type FieldFlag } from '../field-flags.ts';
import { readInputText } from '../input.ts';

const fieldFlags: readonly FieldFlag[] = [
  {
    flags: '--origin-ca <file>',
    field: 'caPem',
    summary: 'PEM of the authorities of https origins; empty for those of the system',
    read: (file) => (file === '' ? '' : readInputText(file)),
  },
  {
    flags: '--server-name <name>',
    field: 'serverName',
    summary: 'name in their certificates; empty for their hosts',
  },
  { flags: '--skip-verify <yes|no>', field: 'skipVerify', summary: 'accept any certificate' },
];

/** The flags. */
export const originTlsFlags = flagsOf(UpstreamTlsSchema, fieldFlags);

/** The fields of UpstreamTls that the flags name. Errors: AppError of an unreadable file. */
export function readOriginTls(flags: FlagValues): Record<string, unknown> {
  return readFields(UpstreamTlsSchema, fieldFlags, flags);
}
