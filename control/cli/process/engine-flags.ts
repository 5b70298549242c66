/** Flags that the commands share which start an engine. */

import { resolve } from 'node:path';
import { textFlag, type FlagDefinition, type FlagValues } from '../command.ts';

/** Where requests are inspected. */
export const inspectionFlag: FlagDefinition = {
  flags: '--inspection <where>',
  summary: 'where requests are inspected',
  choices: ['auto', 'pool', 'inline'],
};
/** What reads requests. */
export const listenerFlag: FlagDefinition = {
  flags: '--listener <kind>',
  summary: 'what reads requests: our strict parser, or uWebSockets.js (HTTP/1.1 only)',
  choices: ['strict', 'uws'],
};

/** Flags of the access log. */
export const accessLogFlags: readonly FlagDefinition[] = [
  {
    flags: '--access-log <file>',
    summary: 'write a line for each request to a file, or - for standard output',
  },
  {
    flags: '--access-log-format <form>',
    summary: 'common, combined, json, or variables of nginx: $remote_addr "$request" $status',
  },
  {
    flags: '--access-log-rotate-mb <n>',
    summary: 'set the file aside at this size; SIGUSR1 opens it anew at any time',
  },
  { flags: '--access-log-keep <n>', summary: 'files set aside at most; default is 5' },
];

/** What the engine is given of the access log's flags. */
export function accessLogArgs(flags: FlagValues): string[] {
  const named = [
    ['--access-log-format', textFlag(flags, 'accessLogFormat')],
    ['--access-log-rotate-mb', textFlag(flags, 'accessLogRotateMb')],
    ['--access-log-keep', textFlag(flags, 'accessLogKeep')],
  ] as const;
  const path = textFlag(flags, 'accessLog');
  const file = path === undefined ? [] : ['--access-log', path === '-' ? '-' : resolve(path)];
  return [...file, ...named.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]))];
}

/** Flags of PROXY headers, of a command whose listeners are set by these two flags. */
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

/** What the engine is given of the flags of PROXY headers. */
export function proxyProtocolArgs(flags: FlagValues): string[] {
  const values = [
    ['--proxy-protocol', textFlag(flags, 'proxyProtocol')],
    ['--https-proxy-protocol', textFlag(flags, 'httpsProxyProtocol')],
  ] as const;
  return values.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
}
