/** Proof that checks of API documents read of multipart bodies what all backends read alike. */

import { expect, test } from 'vitest';
import { readMediaType } from './media-type.ts';
import { readFormParts, type FormPart } from './multipart-parts.ts';
import {
  alikeRows,
  differentRows,
  type ClientRow,
} from '../rules/features/bodies/multipart-clients-table.ts';

/** Text around the parts and folded fields break a document, although backends pass over them. */
const stricter = new Set([
  ...['a preamble', 'a preamble with an empty line', 'an epilogue'],
  ...['an epilogue with an empty line', 'a folded Content-Type'],
]);

function partsOf({ parameters, body }: ClientRow): readonly FormPart[] | null {
  const type = readMediaType(`multipart/form-data${parameters}`);
  if (type === null) return null;
  const bytes = Buffer.from(body.replaceAll('|', '\r\n'), 'latin1');
  const read = readFormParts(bytes, type.boundary);
  return 'fault' in read ? null : read.parts;
}

test.each(alikeRows)('$title: read as all backends read it', (row) => {
  const parts = partsOf(row);
  if (stricter.has(row.title)) {
    expect(parts).toBeNull();
    return;
  }
  const [field, ...files] = parts ?? [];
  expect([field?.name, field?.isFile, field?.content.toString()]).toEqual(['a', false, 'hello']);
  for (const { name, isFile, unnamed } of files)
    expect([name, isFile, unnamed]).toEqual(['f', true, false]);
});

test.each(differentRows)('$title: breaks the document', (row) => {
  expect(partsOf(row)).toBeNull();
});
