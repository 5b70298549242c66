/** Reads what an operator hands in: a file, or standard input for `-`. Bounded. */

import { readFileSync, statSync } from 'node:fs';
import { AppError } from '../../base/errors.ts';
import { commandLineLimits } from '../limits/command-limits.ts';
import { readYamlObject } from '../documents/yaml-text.ts';

/** The bytes of a file; `-` is standard input. Errors: AppError bad_flag. */
export function readInput(
  path: string,
  inputBytesMax: number = commandLineLimits.inputBytesMax,
): Uint8Array<ArrayBuffer> {
  try {
    if (path !== '-' && statSync(path).size > inputBytesMax) throw new Error('too large');
    const bytes = new Uint8Array(readFileSync(path === '-' ? 0 : path));
    if (bytes.length > inputBytesMax) throw new Error('too large');
    return bytes;
  } catch (error) {
    const name = path === '-' ? 'standard input' : path;
    const reason = error instanceof Error && error.message === 'too large';
    throw badFlag(
      reason ? `${name} is larger than ${inputBytesMax} bytes` : unreadableText(name, error),
    );
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EAGAIN: 'nothing can be read from it now',
};

/** The error for something that cannot be read, with the system's reason if there is one. */
export function unreadableText(name: string, error: unknown): string {
  const reason = reasons[(error as NodeJS.ErrnoException | null)?.code ?? ''];
  return reason === undefined ? `cannot read ${name}` : `cannot read ${name}: ${reason}`;
}

/** The text of a file; `-` is standard input. Errors: AppError bad_flag. */
export function readInputText(path: string): string {
  return new TextDecoder().decode(readInput(path));
}

/** A mapping in a file of JSON or YAML. Errors: AppError bad_flag, yaml_invalid. */
export function readInputObject(path: string): Record<string, unknown> {
  const text = readInputText(path);
  // Large files are JSON mostly, and reading that is quick.
  const json = text.trimStart().startsWith('{') ? parsedJson(text) : null;
  return json ?? readYamlObject(text, path === '-' ? 'standard input' : path);
}

/** The object of a JSON text; null for what is none. */
function parsedJson(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** Reads `name=value` pairs of a repeatable flag. Errors: AppError bad_flag names the flag. */
export function readPairs(pairs: readonly string[], flag: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const cut = pair.indexOf('=');
      if (cut <= 0) throw badFlag(`${flag} wants name=value`);
      return [pair.slice(0, cut), pair.slice(cut + 1)];
    }),
  );
}

/** A whole number, within what its field takes where that is said. Errors: AppError bad_flag. */
export function wholeNumber(
  text: string,
  flag: string,
  bounds?: { readonly min: number; readonly max: number },
): number {
  const { min = 0, max = Infinity } = bounds ?? {};
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const range = bounds === undefined ? '' : ` from ${min} to ${max}`;
  throw badFlag(`${flag} wants a whole number${range}`);
}

/** A command line that cannot be carried out as it stands. */
export function badFlag(message: string): AppError {
  return new AppError('bad_flag', message, { source: 'config' });
}

/** Seconds of a span such as 30m. Errors: AppError bad_flag. */
export function readSeconds(text: string, flag: string): number {
  const found = /^(\d{1,6})([smhd])$/.exec(text);
  if (found === null) throw badFlag(`${flag} wants a time such as 30m, 2h or 1d`);
  return Number(found[1]) * { s: 1, m: 60, h: 3_600, d: 86_400 }[found[2] as 's' | 'm' | 'h' | 'd'];
}
