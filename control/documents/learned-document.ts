/** Puts what was learned of an endpoint into an API document. Never changes what it says. Pure. */

import type { LearnedEvidence } from '../domain/documents/api-learning.ts';
import { hasOperation, withOperation, withRequestBody } from './edit-document.ts';
import { dialectOf, learnedSchema } from './learned-schema.ts';
import { below, type JsonObject } from './pointer.ts';

/** What was learned, and where. */
export interface LearnedPlace {
  readonly method: string;
  /** Path of the endpoint below the base path of its mapping. */
  readonly path: string;
  readonly evidence: LearnedEvidence;
  /** JSON pointer of the operation that a document has; '' where it has none. */
  readonly pointer: string;
}

/** The document with what was learned, or why it would say something else then. */
export type LearnedDocument =
  { readonly document: JsonObject } | { readonly problem: 'operation' | 'request_body' };

/**
 * The document, or a new one, whose operation has the learned body. `problem`: the document has the
 * operation for another host, or says something of its body already.
 */
export function learnedDocument(base: JsonObject | null, place: LearnedPlace): LearnedDocument {
  const start = base ?? newDocument;
  const { method, path, evidence } = place;
  let { pointer } = place;
  let document = start;
  if (pointer === '') {
    if (hasOperation(start, path, method)) return { problem: 'operation' };
    document = withOperation(start, path, method);
    pointer = below('', 'paths', path === '' ? '/' : path, method.toLowerCase());
  }
  const schema = learnedSchema(evidence, dialectOf(start));
  const filled = withRequestBody(document, pointer, schema);
  return filled === null ? { problem: 'request_body' } : { document: filled };
}

const newDocument: JsonObject = {
  openapi: '3.1.0',
  info: { title: 'Learned API', version: '1' },
  paths: {},
};
