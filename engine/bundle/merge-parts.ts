/** Puts a bundle together from its index and its pieces. Pure. */

import { create, type DescField } from '@bufbuild/protobuf';
import {
  RuntimeBundleSchema,
  type RuntimeBundle,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';

/**
 * The index with the content of its pieces: lists are joined in the order of the pieces, other
 * fields come from the one that sets them. The messages in it are shared with the pieces.
 */
export function mergeParts(index: RuntimeBundle, parts: readonly RuntimeBundle[]): RuntimeBundle {
  const merged = create(RuntimeBundleSchema) as unknown as Record<string, unknown>;
  const sources = [index, ...parts] as unknown as Record<string, unknown>[];
  for (const field of RuntimeBundleSchema.fields) {
    const name = field.localName;
    const values = sources.map((source) => source[name]);
    merged[name] = field.fieldKind === 'list' ? values.flat() : oneOf(field, values);
  }
  return merged as unknown as RuntimeBundle;
}

function oneOf(field: DescField, values: readonly unknown[]): unknown {
  const unset = [undefined, '', 0, 0n, false];
  return values.find((value) => !unset.includes(value as undefined)) ?? defaultOf(field, values);
}

function defaultOf(field: DescField, values: readonly unknown[]): unknown {
  return field.fieldKind === 'message' ? undefined : values[0];
}
