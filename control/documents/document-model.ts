/**
 * The operations of an API document, whichever version it has, with what they say of requests still
 * as the document spells it. Local references are followed; what does not fit becomes a diagnostic.
 */

import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { below, isObject, listOf, objectOf, resolved, textOf, type JsonObject } from './pointer.ts';

/** The families and versions that are read. */
export type DocumentVersion = '2.0' | '3.0' | '3.1' | '3.2';

/** Something that a reader of the document should know. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info';
  readonly code: string;
  /** JSON pointer into the document. */
  readonly pointer: string;
  /** Without any text of the document. */
  readonly message: string;
}

/** An object of the document with its place. */
export interface Placed {
  readonly value: JsonObject;
  readonly pointer: string;
}

/** One method of one path. */
export interface DocumentOperation {
  readonly method: string;
  /** As the document spells it. */
  readonly path: string;
  readonly pointer: string;
  readonly operationId: string;
  /** Server URLs in force, variables not filled in; [''] where the document names none. */
  readonly servers: readonly string[];
  /** Those of the path and of the operation; the latter win. */
  readonly parameters: readonly Placed[];
  /** Of OpenAPI 3; null for none. */
  readonly requestBody: Placed | null;
  /** Of Swagger 2: media types of bodies. */
  readonly consumes: readonly string[];
  /** What the document wants of query parameters that it does not name. */
  readonly unknownQuery: 'allow' | 'violation';
}

/** A document that was read. */
export interface DocumentModel {
  readonly version: DocumentVersion;
  /** As the document spells it. */
  readonly versionText: string;
  readonly document: JsonObject;
  readonly operations: readonly DocumentOperation[];
  readonly diagnostics: readonly Diagnostic[];
}

const versions: readonly DocumentVersion[] = ['2.0', '3.0', '3.1', '3.2'];
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
/** Set by documents that allow only the query parameters that they name. */
const unknownQueryKey = 'x-unknown-query-parameters';

/** The version of a document; null where it is none that is read. */
export function versionOf(document: JsonObject): DocumentVersion | null {
  const text = textOf(document['openapi'] ?? document['swagger']);
  const found = versions.find((one) => text === one || text.startsWith(`${one}.`)) ?? null;
  return (found === '2.0') === (document['swagger'] !== undefined) ? found : null;
}

/** Reads the operations. The document has a version that is read. */
export function readModel(document: JsonObject, version: DocumentVersion): DocumentModel {
  const reader = new Reader(document, version);
  reader.read();
  return {
    version,
    versionText: textOf(document['openapi'] ?? document['swagger']),
    document,
    operations: reader.operations,
    diagnostics: reader.diagnostics,
  };
}

class Reader {
  readonly operations: DocumentOperation[] = [];
  readonly diagnostics: Diagnostic[] = [];
  readonly #document: JsonObject;
  readonly #version: DocumentVersion;

  constructor(document: JsonObject, version: DocumentVersion) {
    this.#document = document;
    this.#version = version;
  }

  read(): void {
    for (const [path, item] of Object.entries(objectOf(this.#document['paths']))) {
      if (path.startsWith('x-')) continue;
      const pointer = below('/paths', path);
      if (!path.startsWith('/')) this.#add('error', 'bad_path', pointer, 'must begin with a slash');
      else this.#path(path, item, pointer);
    }
  }

  #add(severity: Diagnostic['severity'], code: string, pointer: string, message: string): void {
    this.diagnostics.push({ severity, code, pointer, message });
  }

  /** The object that references lead to; null with a diagnostic where there is none. */
  #object(value: unknown, pointer: string): Placed | null {
    const found = resolved(this.#document, value, pointer);
    if ('problem' in found) {
      this.#add('error', found.code, pointer, found.problem);
      return null;
    }
    if (isObject(found.value)) return { value: found.value, pointer: found.pointer };
    this.#add('error', 'not_an_object', pointer, 'must be an object');
    return null;
  }

  #path(path: string, value: unknown, pointer: string): void {
    const item = this.#object(value, pointer);
    if (item === null) return;
    const known: [string, unknown, string][] = methods.map((name) => [
      name,
      item.value[name],
      below(item.pointer, name),
    ]);
    if (this.#version === '3.2') {
      known.push(['query', item.value['query'], below(item.pointer, 'query')]);
      const more = below(item.pointer, 'additionalOperations');
      for (const [name, one] of Object.entries(objectOf(item.value['additionalOperations']))) {
        known.push([name, one, below(more, name)]);
      }
    }
    for (const [method, one, at] of known) {
      if (one === undefined) continue;
      if (this.operations.length >= apiDocumentLimits.operationsMax) {
        const most = apiDocumentLimits.operationsMax;
        this.#add('error', 'too_many_operations', at, `is past the bound of ${most} operations`);
        return;
      }
      const operation = this.#object(one, at);
      if (operation !== null) this.#operation(path, method.toUpperCase(), item, operation);
    }
  }

  #operation(path: string, method: string, item: Placed, { value, pointer }: Placed): void {
    const body =
      value['requestBody'] === undefined || this.#version === '2.0'
        ? null
        : this.#object(value['requestBody'], below(pointer, 'requestBody'));
    const consumes = value['consumes'] ?? this.#document['consumes'];
    const unknown = value[unknownQueryKey] ?? this.#document[unknownQueryKey];
    if (value['callbacks'] !== undefined) {
      this.#add(
        'info',
        'callbacks',
        below(pointer, 'callbacks'),
        'callbacks are requests that the origin sends: declare those that this site receives as paths',
      );
    }
    this.operations.push({
      method,
      path,
      pointer,
      operationId: textOf(value['operationId']),
      servers: this.#servers(value, item.value),
      parameters: this.#parameters(item, { value, pointer }),
      requestBody: body,
      consumes: listOf(consumes).map(textOf),
      unknownQuery: unknown === 'reject' ? 'violation' : 'allow',
    });
  }

  #parameters(item: Placed, operation: Placed): Placed[] {
    const found = new Map<string, Placed>();
    for (const { value, pointer } of [item, operation]) {
      for (const [at, one] of listOf(value['parameters']).entries()) {
        const place = below(pointer, 'parameters', at);
        const parameter = this.#object(one, place);
        if (parameter === null) continue;
        const name = textOf(parameter.value['name']);
        const where = textOf(parameter.value['in']);
        if (name === '' && where !== 'body') {
          this.#add('error', 'bad_parameter', place, 'needs a name and a place');
          continue;
        }
        found.set(`${where} ${where === 'header' ? name.toLowerCase() : name}`, parameter);
      }
    }
    const all = [...found.values()];
    if (all.length > apiDocumentLimits.parametersMax) {
      const most = apiDocumentLimits.parametersMax;
      const message = `has more than ${most} parameters: the rest is not checked`;
      this.#add('warning', 'too_many_parameters', operation.pointer, message);
    }
    return all.slice(0, apiDocumentLimits.parametersMax);
  }

  #servers(operation: JsonObject, item: JsonObject): string[] {
    if (this.#version === '2.0') return swaggerServers(this.#document, operation);
    const own = [operation, item, this.#document]
      .map((one) => listOf(one['servers']))
      .find((list) => list.length > 0);
    const urls = (own ?? []).map((one) => textOf(objectOf(one)['url']));
    return urls.length === 0 ? [''] : [...new Set(urls)];
  }
}

function swaggerServers(document: JsonObject, operation: JsonObject): string[] {
  const host = textOf(document['host']);
  const basePath = textOf(document['basePath']);
  if (host === '') return [basePath === '/' ? '' : basePath];
  const schemes = listOf(operation['schemes'] ?? document['schemes']).map(textOf);
  return (schemes.length === 0 ? ['https'] : schemes).map((one) => `${one}://${host}${basePath}`);
}

/** Server URLs that a document names, with the defaults of their variables. */
export function serversOf({ document, operations }: DocumentModel): {
  readonly url: string;
  readonly variables: Readonly<Record<string, string>>;
}[] {
  const urls = new Set(operations.flatMap(({ servers }) => servers));
  const known = listOf(document['servers']).map(objectOf);
  return [...urls].map((url) => {
    const server = known.find((one) => one['url'] === url);
    const entries = Object.entries(objectOf(server?.['variables']));
    return {
      url,
      variables: Object.fromEntries(
        entries.map(([name, one]) => [name, textOf(objectOf(one)['default'])]),
      ),
    };
  });
}
