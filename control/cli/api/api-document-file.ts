/** Reads an API document from a file of the operator. */

import { basename } from 'node:path';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import { readInput } from '../input.ts';

/** The bytes of a document and the name of its file. Errors: AppError bad_flag. */
export function readDocumentFile(path: string): {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly fileName: string;
} {
  const bytes = readInput(path, apiDocumentLimits.sourceBytesMax);
  return { bytes, fileName: path === '-' ? 'document' : basename(path) };
}

/** By the name of the file; else a document that begins with an object is JSON, any other YAML. */
export function documentFormat(path: string, bytes: Uint8Array): 'json' | 'yaml' {
  if (/\.ya?ml$/i.test(path)) return 'yaml';
  const first = bytes.find((one) => one !== 0x20 && one !== 0x09 && one !== 0x0a && one !== 0x0d);
  return first === 0x7b ? 'json' : 'yaml';
}
