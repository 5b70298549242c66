/** A request that a person describes with flags, as TestPolicy takes it. */

import type { FlagDefinition, FlagValues } from '../command.ts';
import { listFlag, textFlag } from '../command.ts';
import { badFlag, readInput } from '../input.ts';

/** All flags but `--url`, which commands require or not. */
export const requestFlags: readonly FlagDefinition[] = [
  { flags: '--method <method>', summary: 'request method', default: 'GET' },
  { flags: '--header <name: value>', summary: 'header; repeatable', repeatable: true },
  { flags: '--body <text>', summary: 'body; @FILE reads a file, - standard input' },
  { flags: '--protocol <version>', summary: 'for example HTTP/1.0' },
  { flags: '--client-ip <address>', summary: 'address that the rules see' },
  { flags: '--peer-ip <address>', summary: 'address that the connection comes from' },
];

/** What the flags describe. Errors: AppError bad_flag. */
export function describedRequest(flags: FlagValues) {
  return {
    method: textFlag(flags, 'method') ?? 'GET',
    url: textFlag(flags, 'url') ?? '/',
    headers: readHeaders(listFlag(flags, 'header')),
    body: readBody(textFlag(flags, 'body')),
    protocol: textFlag(flags, 'protocol') ?? '',
    clientIp: textFlag(flags, 'clientIp') ?? '',
    peerIp: textFlag(flags, 'peerIp') ?? '',
  };
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const cut = line.indexOf(':');
      if (cut <= 0) throw badFlag('--header wants "Name: value"');
      return [line.slice(0, cut).trim(), line.slice(cut + 1).trim()];
    }),
  );
}

function readBody(text: string | undefined): Uint8Array<ArrayBuffer> {
  if (text === undefined) return new Uint8Array();
  if (text === '-') return readInput('-');
  return text.startsWith('@') ? readInput(text.slice(1)) : new TextEncoder().encode(text);
}
