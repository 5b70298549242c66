/**
 * Reads the bytes of an uploaded document: strict UTF-8, strict JSON or YAML with bounds, a version
 * that is known. Faults of the text end it with line and column; faults of the content are
 * diagnostics.
 */

import { Validator } from '@seriousme/openapi-schema-validator';
import { AppError } from '../../base/errors.ts';
import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { readYamlObject } from './yaml-text.ts';
import { readModel, versionOf, type Diagnostic, type DocumentModel } from './document-model.ts';
import { readStrictJson } from './strict-json.ts';
import { isObject, type JsonObject } from './pointer.ts';

/** How the bytes are written. */
export type SourceFormat = 'json' | 'yaml';

/** Reads and validates. Errors: AppError document_invalid, whose message names line and column. */
export async function readDocument(
  bytes: Uint8Array,
  format: SourceFormat,
): Promise<DocumentModel> {
  const model = modelOf(parseDocument(bytes, format));
  const found = await validate(model.document);
  return { ...model, diagnostics: [...model.diagnostics, ...found] };
}

/** The model of a document that was read before. Errors: document_invalid for another version. */
export function modelOf(document: JsonObject): DocumentModel {
  const version = versionOf(document);
  if (version !== null) return readModel(document, version);
  const message = 'source:1:1: is no OpenAPI 3.0, 3.1 or 3.2 and no Swagger 2.0 document';
  throw new AppError('document_invalid', message, { source: 'client' });
}

function parseDocument(bytes: Uint8Array, format: SourceFormat): JsonObject {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new AppError('document_invalid', 'source:1:1: is not UTF-8', { source: 'client', cause });
  }
  if (text.startsWith('\ufeff')) throw invalid('source:1:1: begins with a byte order mark');
  if (format === 'yaml') return yamlObject(text);
  const value = readStrictJson(text);
  if (isObject(value)) return value;
  throw invalid('source:1:1: must hold one object');
}

function yamlObject(text: string): JsonObject {
  try {
    return readYamlObject(text, 'source');
  } catch (error) {
    if (error instanceof AppError && error.code === 'yaml_invalid') throw invalid(error.message);
    throw error;
  }
}

function invalid(message: string): AppError {
  return new AppError('document_invalid', message, { source: 'client' });
}

/** What the specification of OpenAPI says against the document. */
async function validate(document: JsonObject): Promise<Diagnostic[]> {
  // The validator may add members of its own.
  const result = await new Validator().validate({ ...document });
  if (result.valid) return [];
  if (typeof result.errors === 'string' || result.errors === undefined) {
    const message = 'does not follow the specification of OpenAPI';
    return [{ severity: 'error', code: 'not_openapi', pointer: '', message }];
  }
  const errors = result.errors as readonly { instancePath?: string; keyword?: string }[];
  return errors.slice(0, apiDocumentLimits.diagnosticsMax).map(({ instancePath, keyword }) => ({
    severity: 'warning',
    code: 'not_openapi',
    pointer: instancePath ?? '',
    message: `does not follow the specification of OpenAPI (${keyword ?? 'unknown'})`,
  }));
}
