/** SystemService/Version. */

import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { Uses } from '../context.ts';
import type { Method } from '../method.ts';

/** The build that runs; the engine, while it answers, adds the libraries that only it loads. */
export function version(parts: Uses<'engine' | 'build'>): Method<typeof SystemService, 'version'> {
  return async () => {
    const { version: name, commit, builtAt: buildDate, libraries } = parts.build;
    const engine = await parts.engine.status().catch(() => null);
    const all = { ...engine?.libraries, ...libraries };
    return { build: { version: name, commit, buildDate, libraries: all } };
  };
}
