/** The check that this Node can run the product. */

import { SetupError } from './process.mjs';

const oldest = [20, 19, 0];

/** Errors: SetupError that names both versions when this Node is too old. */
export function compareNode(version = process.versions.node) {
  const have = version.split('.').map(Number);
  for (let index = 0; index < oldest.length; index++) {
    if (have[index] > oldest[index]) return;
    if (have[index] < oldest[index]) {
      throw new SetupError(`Node ${oldest.join('.')} or newer is needed; this is ${version}.`);
    }
  }
}
