/** Checks the files of a multipart body against the requirements of a body control. */

import type { ArrayNames } from '../contract/array-names.ts';
import type { ApiUpload } from '../contract/body-control.ts';
import { notEvaluated, violation, type Constraint, type Finding } from './finding.ts';
import { isListed } from './media-type.ts';
import { readFormParts, type FormPart } from './multipart-parts.ts';
import { OriginNames } from './origin-names.ts';

/**
 * What is wrong with a body; null where nothing is. `body` null: it is longer than may be;
 * `arrayNames`: how the origin reads names of fields.
 */
export function checkUpload(
  upload: ApiUpload,
  body: Buffer | null,
  boundary: string,
  location: Constraint,
  arrayNames: ArrayNames = 'none',
): Finding | null {
  if (body === null || body.length > upload.bodyBytes) {
    return violation(location, 'size', '/upload/bodyBytes');
  }
  const read = readFormParts(body, boundary);
  if (!('fault' in read)) return checkFiles(upload, read.parts, location, arrayNames);
  // More parts than are looked at say nothing of the files.
  return read.fault === 'size'
    ? notEvaluated(location, 'size', '/upload')
    : violation(location, read.fault, '/upload');
}

function checkFiles(
  upload: ApiUpload,
  parts: readonly FormPart[],
  location: Constraint,
  arrayNames: ArrayNames,
): Finding | null {
  const wrong = (keyword: string): Finding => violation(location, keyword, `/upload/${keyword}`);
  // Browsers send a field without a chosen file as an empty file without a name.
  const files = parts.filter((part) => part.isFile && !(part.unnamed && part.content.length === 0));
  if (files.length < upload.minFiles) return wrong('minFiles');
  if (files.length > upload.maxFiles) return wrong('maxFiles');
  if (!areDeclared(upload.fields, files, arrayNames)) return wrong('fields');
  let total = 0;
  for (const { contentType, content } of files) {
    // RFC 7578 section 4.4: without a type a part is text.
    if (!isListed(upload.contentTypes, contentType || 'text/plain')) return wrong('contentTypes');
    if (content.length > upload.fileBytes) return wrong('fileBytes');
    total += content.length;
  }
  return total > upload.totalFileBytes ? wrong('totalFileBytes') : null;
}

/** Whether the origin finds files in no other fields than these: one each, or a list. */
function areDeclared(
  fields: readonly string[],
  files: readonly FormPart[],
  arrayNames: ArrayNames,
): boolean {
  if (fields.length === 0) return true;
  const names = new OriginNames(arrayNames, fields);
  const { byName, written } = names.group(files.map((file) => [file.name, file] as const));
  for (const name of byName.keys()) {
    if (!fields.includes(name) || (written.get(name) ?? 'list') !== 'list') return false;
  }
  return true;
}
