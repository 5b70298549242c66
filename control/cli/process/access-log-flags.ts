/** Flags of the access log, which `waf run` and `waf engine` share. */

import { resolve } from 'node:path';
import { textFlag, type FlagDefinition, type FlagValues } from '../command.ts';

/** The flags. */
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

/** What the engine is given of them. */
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
