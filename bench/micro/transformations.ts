/** The timing of each SecLang transformation on values of three sizes. */

import { transformationNames, transformText } from '../../engine/match/transform.ts';
import type { MicroGroup } from './group.ts';

/** Contains something for every transformation to do. */
const piece = "SELECT /* x */ a%20b%u0041 &lt;b&gt; \\x41 ../etc//passwd 0x414243 caf\xe9 'Q'  ";
const callsPerRun = 256;

/** One task for each transformation and size. */
export function transformationGroup(): MicroGroup {
  const tasks = [16, 256, 4096].flatMap((size) => {
    const value = piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
    // The names stand in the order of their numbers.
    return transformationNames.map((name, id) => {
      const run = (): void => {
        for (let i = 0; i < callsPerRun; i++) transformText(id, value);
      };
      return { name: `${name}, ${size} bytes`, run, calls: callsPerRun };
    });
  });
  return { name: 'transformations', title: 'Transformations of one value', tasks };
}
