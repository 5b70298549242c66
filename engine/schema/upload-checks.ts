/** Checks the files of a multipart body against the requirements of a body control. */

import type { ApiUpload } from '../contract/body-control.ts';
import { notEvaluated, violation, type Constraint, type Finding } from './finding.ts';
import { isListed } from './media-type.ts';
import { readFormParts, type FormPart } from './multipart-parts.ts';

/** What is wrong with a body; null where nothing is. `body` null: it is longer than may be. */
export function checkUpload(
  upload: ApiUpload,
  body: Buffer | null,
  boundary: string,
  location: Constraint,
): Finding | null {
  if (body === null || body.length > upload.bodyBytes) {
    return violation(location, 'size', '/upload/bodyBytes');
  }
  const read = readFormParts(body, boundary);
  if (!('fault' in read)) return checkFiles(upload, read.parts, location);
  // More parts than are looked at say nothing of the files.
  return read.fault === 'size'
    ? notEvaluated(location, 'size', '/upload')
    : violation(location, read.fault, '/upload');
}

function checkFiles(
  upload: ApiUpload,
  parts: readonly FormPart[],
  location: Constraint,
): Finding | null {
  const wrong = (keyword: string): Finding => violation(location, keyword, `/upload/${keyword}`);
  // Browsers send a field without a chosen file as an empty file without a name.
  const files = parts.filter((part) => part.isFile && !(part.unnamed && part.content.length === 0));
  if (files.length < upload.minFiles) return wrong('minFiles');
  if (files.length > upload.maxFiles) return wrong('maxFiles');
  let total = 0;
  for (const { name, contentType, content } of files) {
    if (upload.fields.length > 0 && !upload.fields.includes(name)) return wrong('fields');
    // RFC 7578 section 4.4: without a type a part is text.
    if (!isListed(upload.contentTypes, contentType || 'text/plain')) return wrong('contentTypes');
    if (content.length > upload.fileBytes) return wrong('fileBytes');
    total += content.length;
  }
  return total > upload.totalFileBytes ? wrong('totalFileBytes') : null;
}
