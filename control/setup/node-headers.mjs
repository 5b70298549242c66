/** Where native builds find Node's headers: beside this Node, else node-gyp fetches them. */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Environment for npm and node-gyp; empty when there are no headers or the caller named some. */
export function headersEnvironment() {
  if (process.env.npm_config_nodedir) return {};
  const prefix = dirname(dirname(process.execPath));
  const found = existsSync(join(prefix, 'include', 'node', 'node.h'));
  return found ? { npm_config_nodedir: prefix } : {};
}
