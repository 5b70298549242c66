/** Flags of PROXY headers, which `waf run` and `waf engine` share. */

import { textFlag, type FlagDefinition, type FlagValues } from '../command.ts';

/** The flags of a command whose listeners are set by these two flags. */
export function proxyProtocolFlags(plain: string, secure: string): readonly FlagDefinition[] {
  return [
    {
      flags: '--proxy-protocol <networks>',
      summary: `load balancers that send PROXY headers to ${plain}, commas between`,
    },
    {
      flags: '--https-proxy-protocol <networks>',
      summary: `load balancers that send PROXY headers to ${secure}, commas between`,
    },
  ];
}

/** What the engine is started with. */
export function proxyProtocolArgs(flags: FlagValues): string[] {
  const values = [
    ['--proxy-protocol', textFlag(flags, 'proxyProtocol')],
    ['--https-proxy-protocol', textFlag(flags, 'httpsProxyProtocol')],
  ] as const;
  return values.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
}
