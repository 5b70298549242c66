/**
 * The explicit list of transformations. The work is done by the native functions of the same
 * names; `none` clears the chain when rules are linked and never runs.
 */

import { setUnicodeMap, transformationIds, transformText } from '../../../match/transform.ts';
import type { TransformationDefinition } from '../../transaction/types.ts';
import { transformationTable } from './table.ts';

/** Every transformation that `t:` may name. */
export const transformations: readonly TransformationDefinition[] = transformationTable.map(
  ({ name, aliases, summary, input, output, source }) => {
    const id = name === 'none' ? -1 : (transformationIds as Record<string, number>)[name];
    if (id === undefined) throw new Error(`no native function for transformation ${name}`);
    return {
      name,
      ...(aliases ? { aliases } : {}),
      summary,
      example: `t:${name}: ${input} -> ${output}`,
      source: source ?? 'ModSecurity Reference Manual, Transformation functions',
      id,
      apply: id < 0 ? (value) => value : (value) => transformText(id, value),
    };
  },
);

/** Lets urlDecodeUni of this thread use SecUnicodeMapFile's table; null for its own best fit. */
export function selectUnicodeMap(map: Uint8Array | null): void {
  if (map === selectedMap) return;
  selectedMap = map;
  setUnicodeMap(map);
}

let selectedMap: Uint8Array | null = null;
