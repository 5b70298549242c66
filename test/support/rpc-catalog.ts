/** Reads the list of RPCs and their permissions that the contract is held against. */

import { readFileSync } from 'node:fs';

const file = new URL('../../proto/permissions.txt', import.meta.url);

/** A line an RPC: `Service/Method` and `public`, `session` or the codes that it needs. */
export function catalog(): string[] {
  return readFileSync(file, 'utf8').trim().split('\n');
}

const fieldsFile = new URL('catalog-fields.txt', import.meta.url);

/** The fields that the specification names, as `Message.field`; a line of the file is a message. */
export function catalogFields(): string[] {
  return readFileSync(fieldsFile, 'utf8')
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [message = '', fields = ''] = line.split(': ');
      return fields.split(' ').map((field) => `${message}.${field}`);
    });
}
