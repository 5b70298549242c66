/** The thread entry of the thread tests: a front without inspection, on a shared port. */

import { noGuardServices } from '../../engine/guard/guard.ts';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { FrontThreadData } from '../../engine/front/threads/thread-messages.ts';
import { ScriptedInspector } from '../../engine/front/fixtures/fixture.ts';
import { runFrontWorker } from '../../engine/front/threads/worker.ts';
import { listenReusePort } from '../../engine/system/sockets.ts';

if (!isMainThread && parentPort !== null) {
  const data = workerData as FrontThreadData;
  void runFrontWorker(parentPort, data, {
    guardServices: noGuardServices,
    wantsEvent: () => true,
    openSocket: listenReusePort,
    prepare: async (routes) => {
      if (routes.revision === 'broken') throw new Error('broken');
      return {
        inspectorOf: (site) => {
          if (site.name === 'dies') setTimeout(() => process.exit(3), 0);
          return routes.revision === 'inspected' ? new ScriptedInspector({}) : null;
        },
        release: () => undefined,
      };
    },
  });
}
