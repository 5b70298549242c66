/**
 * The source of a subscribed IP list in documents. Values of its headers are never written:
 * `configured` stands for the value that is stored.
 */

import { IpListSourceSchema, type IpListSourceJson } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import type { ManifestDocument } from './manifest-documents.ts';
import { invalid, list, object, text, type Spec } from './manifest-fields.ts';
import { filled, readMessage } from './manifest-specs.ts';

/** Stands for a secret that is stored and not shown. */
export const storedSecret = 'configured';

/** A source as documents state it; '' or `configured` as a header's value keeps the stored one. */
export interface SourceSpec {
  readonly source: IpListSourceJson;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

/** The source of the document; undefined for a list that is filled by hand. */
export function readSourceSpec({ spec, where }: ManifestDocument): SourceSpec | undefined {
  if (spec['source'] === undefined) return undefined;
  if (spec['entries'] !== undefined) {
    throw invalid(where, 'spec.source: excludes entries: the source fills the list');
  }
  const { headers: _headers, ...rest } = object(spec['source'], where, 'spec.source');
  for (const field of ['id', 'generation']) {
    if (rest[field] !== undefined) {
      throw invalid(where, `spec.source.${field}: is given by the service`);
    }
  }
  const given = object(spec['source'], where, 'spec.source');
  const headers = list(given, 'headers', where, 'spec.source.').map((one, at) => {
    const field = `spec.source.headers[${at}]`;
    const header = object(one, where, field);
    const name = text(header, 'name', where, `${field}.`);
    return { name, value: text(header, 'value', where, `${field}.`) };
  });
  const source = readMessage<IpListSourceJson>(IpListSourceSchema, rest, where, 'spec.source');
  return { source, headers };
}

/** A source as documents state it. */
export function sourceSpec(source: IpListSourceJson): Spec {
  const { id: _id, generation: _generation, headers = [], ...rest } = source;
  return filled({
    ...rest,
    headers: headers.map(({ name }) => ({ name, value: storedSecret })),
  });
}
