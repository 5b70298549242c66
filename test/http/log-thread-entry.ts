/**
 * The thread entry of the tests of log policies: an inspector that blocks `/attack`, a log policy
 * that chooses, and parts that fail for the requests that ask for it.
 */

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { ScriptedInspector, blockWith } from '../../engine/front/fixtures/fixture.ts';
import { ExemplarQuota } from '../../engine/front/facts/exemplar-quota.ts';
import { LogSampler } from '../../engine/front/facts/log-sampler.ts';
import type { FrontThreadData } from '../../engine/front/threads/thread-messages.ts';
import { runFrontWorker } from '../../engine/front/threads/worker.ts';
import { passVerdict } from '../../engine/contract/verdict.ts';
import { noGuardServices } from '../../engine/guard/guard.ts';
import { listenReusePort } from '../../engine/system/sockets.ts';

if (!isMainThread && parentPort !== null) {
  const data = workerData as FrontThreadData;
  const sampler = new LogSampler(new ExemplarQuota(data.quota));
  const inspector = new ScriptedInspector({
    head: (line) => (line.includes(' /attack') ? blockWith(403, 1) : passVerdict),
  });
  void runFrontWorker(parentPort, data, {
    guardServices: noGuardServices,
    samples: true,
    sampler: {
      use: (config) => sampler.use(config),
      select: (event, access) => {
        if (event.target.startsWith('/faulty-policy')) throw new Error('planted');
        return sampler.select(event, access);
      },
    },
    wantsEvent: (event) => {
      if (event.target.startsWith('/faulty-event')) throw new Error('planted');
      return event.blocked;
    },
    openSocket: listenReusePort,
    prepare: async () => ({ inspectorOf: () => inspector, release: () => undefined }),
  });
}
