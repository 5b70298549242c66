/** What control says of itself to people who look for a fault. Read when asked. */

import { join } from 'node:path';
import {
  answerOfThread,
  folderFigures,
  kernelThreads,
  processMemory,
} from '../../../base/debug-figures.ts';
import type { DebugQuestion } from '../../../base/debug-question.ts';
import { laneStats } from '../../observe/lane-stats.ts';
import { collections } from '../../store/collection-list.ts';
import type { ApiParts, Uses } from '../context.ts';

/** The answer to everything but profiles. */
export function ownFigures(parts: ApiParts, { about, seconds }: DebugQuestion): Promise<unknown> {
  if (about === 'threads') return Promise.resolve({ kernel: kernelThreads() });
  if (about === 'event-loop') return answerOfThread({ about, seconds });
  if (about === 'memory') return memory();
  if (about === 'generations') return Promise.resolve(generations(parts));
  if (about === 'databases') return databases(parts);
  return Promise.resolve(queues(parts));
}

async function memory() {
  const main = await answerOfThread({ about: 'memory', seconds: 0 });
  return { process: processMemory(), main };
}

/** What is published, and how many nodes have it. */
function generations({ publisher, nodes }: Uses<'publisher' | 'nodes'>) {
  const current = publisher.current();
  const sha256 = current?.signed.sha256 ?? '';
  const all = nodes.list();
  return {
    revision: current?.revision ?? '0',
    sha256,
    nodes: all.length,
    connected: all.filter((node) => node.connected).length,
    serving: all.filter((node) => sha256 !== '' && node.configHash === sha256).length,
    failed: all.filter(({ apply }) => apply?.success === false).length,
  };
}

/** Records by collection, what events and evidence hold, and the files of the data folder. */
async function databases({
  store,
  events,
  evidence,
  dataFolder,
}: Uses<'store' | 'events' | 'evidence' | 'dataFolder'>) {
  return {
    records: Object.fromEntries(collections.map((one) => [one.name, store.count(one)])),
    events: events.use(),
    evidence: evidence.use(),
    files: await folderFigures(join(dataFolder, 'control')),
  };
}

/** What waits, and what became of what came, since control began. */
function queues(parts: Uses<'pipeline' | 'siem' | 'otlpQueues' | 'streams' | 'program'>) {
  const { pipeline, siem, otlpQueues, streams, program } = parts;
  return {
    lanes: laneStats(pipeline),
    siem: siem.stats(),
    otlp: otlpQueues(),
    streams: streams.count(),
    downloads: program.downloads,
  };
}
