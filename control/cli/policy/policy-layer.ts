/** Says what the replacement of a whole layer of a policy takes away. */

import { toJson } from '@bufbuild/protobuf';
import { PolicySchema, type Policy } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { leafPaths } from '../leaf-paths.ts';
import { noteChange } from '../list-change.ts';
import type { Output } from '../output.ts';

/** One line with the fields that the layer had and that `config` does not name. */
export function noteLayer(
  output: Output,
  layer: string,
  policy: Policy | undefined,
  config: Readonly<Record<string, unknown>>,
): void {
  if (policy === undefined) return;
  const field = layer.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
  const shown = toJson(PolicySchema, policy) as Readonly<Record<string, unknown>>;
  const before = shown[field];
  if (typeof before !== 'object' || before === null || Array.isArray(before)) return;
  const paths = leafPaths(before as Readonly<Record<string, unknown>>);
  noteChange(
    output,
    `the whole layer ${layer} was replaced; no longer set`,
    paths,
    leafPaths(config),
  );
}
