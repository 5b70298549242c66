/** Flags that say how https origins are verified, of pools and of sites alike. */

import type { FlagDefinition, FlagValues } from '../command.ts';
import { textFlag } from '../command.ts';
import { readInputText } from '../input.ts';

/** The flags. */
export const originTlsFlags: readonly FlagDefinition[] = [
  {
    flags: '--origin-ca <file>',
    summary: 'PEM of the authorities of https origins; empty for those of the system',
  },
  { flags: '--server-name <name>', summary: 'name in their certificates; empty for their hosts' },
  { flags: '--skip-verify <yes|no>', summary: 'accept any certificate', choices: ['yes', 'no'] },
];

/** The fields of UpstreamTls that the flags name. Errors: AppError of an unreadable file. */
export function readOriginTls(flags: FlagValues): Record<string, unknown> {
  const tls: Record<string, unknown> = {};
  const file = textFlag(flags, 'originCa');
  if (file !== undefined) tls['caPem'] = file === '' ? '' : readInputText(file);
  const name = textFlag(flags, 'serverName');
  if (name !== undefined) tls['serverName'] = name;
  const skip = textFlag(flags, 'skipVerify');
  if (skip !== undefined) tls['skipVerify'] = skip === 'yes';
  return tls;
}
