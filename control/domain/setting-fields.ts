/** Fields of settings that are JSON objects: what each is without, and what it may be. Pure. */

import { invalidField } from './errors.ts';

/** What stands in place of a secret wherever settings are shown; sent back, it keeps the secret. */
export const secretShown = 'configured';

/** Errors: invalid_argument under `at`. */
export type Check = (value: unknown, at: string) => void;
/** Fields by name. */
export type Fields = Readonly<Record<string, readonly [standard: unknown, check: Check]>>;

/** A value with what was left out filled in. */
export function filled(value: unknown, fields: Fields): Record<string, unknown> {
  const standard = Object.entries(fields).map(([name, [without]]) => [name, without] as const);
  return { ...Object.fromEntries(standard), ...(value as Record<string, unknown>) };
}

/** Checks a JSON object of such fields. Errors: invalid_argument naming the field. */
export function checkFields(value: unknown, fields: Fields, at: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidField(at, 'must be a JSON object');
  }
  for (const [name, one] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      throw invalidField(at, `Unknown key. Allowed: ${Object.keys(fields).join(', ')}.`);
    }
    field[1](one, `${at}.${name}`);
  }
}

/** True or false. */
export function boolean(value: unknown, at: string): void {
  if (typeof value !== 'boolean') throw invalidField(at, 'must be true or false');
}

/** Text of a bounded number of characters. */
export function text(min: number, max: number): Check {
  return (value, at) => {
    if (typeof value === 'string' && value.length >= min && value.length <= max) return;
    throw invalidField(at, `must be text of ${min} to ${max} characters`);
  };
}

/** Text of a form; `message` says which. */
export function pattern(wanted: RegExp, message: string): Check {
  return (value, at) => {
    if (typeof value !== 'string' || !wanted.test(value)) throw invalidField(at, message);
  };
}

/** One of some words. */
export function oneOf(...wanted: readonly string[]): Check {
  return (value, at) => {
    if (typeof value === 'string' && wanted.includes(value)) return;
    throw invalidField(at, `must be one of ${wanted.join(', ')}`);
  };
}

/** A whole number within bounds. */
export function whole(min: number, max: number): Check {
  return (value, at) => {
    if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return;
    throw invalidField(at, `must be a whole number between ${min} and ${max}`);
  };
}

/** A list of texts, each of one character or more. */
export function texts(countMax: number, charactersMax: number): Check {
  return (value, at) => {
    if (!Array.isArray(value) || value.length > countMax) {
      throw invalidField(at, `must be a list of at most ${countMax}`);
    }
    value.forEach((one: unknown, index) => text(1, charactersMax)(one, `${at}[${index}]`));
  };
}

/** A host name or an address. */
export function hostName(value: unknown, at: string): void {
  if (typeof value === 'string' && /^[A-Za-z0-9.:_-]{1,253}$/.test(value)) return;
  throw invalidField(at, 'must be a host name or an address');
}

/** https, or http on this machine, where nobody listens in between. */
export function webAddress(value: unknown, at: string): void {
  let url: URL | null;
  try {
    url = typeof value === 'string' && value.length <= 2048 ? new URL(value) : null;
  } catch {
    url = null;
  }
  const local = ['127.0.0.1', '[::1]', 'localhost'].includes(url?.hostname ?? '');
  const fine = url?.protocol === 'https:' || (url?.protocol === 'http:' && local);
  if (!fine || url?.username !== '' || url.hash !== '') {
    throw invalidField(at, 'must be an https address; http is for this machine only');
  }
}
