/**
 * Owns the body of a front thread: one front, driven by messages. The composition root's thread
 * entry calls it and says how inspectors are made; nothing of the rules is known here.
 */

import type { MessagePort } from 'node:worker_threads';
import { toAppError } from '../base/errors.ts';
import type { RequestEvent } from '../contract/events.ts';
import type { Inspector } from '../contract/inspection.ts';
import type { RoutesConfig, SiteConfig } from '../contract/site.ts';
import { EventBatcher } from './event-batcher.ts';
import { createFront, type Front, type NextGeneration } from './front.ts';
import {
  FIRST_ROUTES,
  type FromFrontThread,
  type FrontThreadData,
  type ToFrontThread,
} from './thread-messages.ts';

/** What one generation's inspection is, as the composition root makes it. */
export interface PreparedInspection {
  readonly inspectorOf: (site: SiteConfig) => Inspector | null;
  /** Frees it; called when the last request on it has finished. */
  readonly release: () => void;
}

/** What a front thread is given by the composition root. */
export interface FrontWorkerParts {
  /** Builds inspection for a generation, off the request path; may take its time. */
  readonly prepare: (routes: RoutesConfig) => Promise<PreparedInspection>;
  /** False for finished requests that nobody asks about; they stay in the thread. */
  readonly wantsEvent: (event: RequestEvent) => boolean;
  /** Binds a socket that threads share (SO_REUSEPORT); null when there is one thread only. */
  readonly openSocket: ((host: string, port: number) => { fd: number; port: number }) | null;
}

/** Runs a front until it is drained; resolves then. */
export async function runFrontWorker(
  port: MessagePort,
  data: FrontThreadData,
  parts: FrontWorkerParts,
): Promise<void> {
  const tell = (message: FromFrontThread): void => port.postMessage(message);
  const batcher = new EventBatcher((batch) => tell({ kind: 'events', batch }));
  let front: Front;
  try {
    const first = await generationFor(data.routes, parts, tell);
    front = createFront({
      ...first,
      settings: data.settings,
      listener: data.listener,
      onRequestDone: (event) => {
        if (parts.wantsEvent(event)) batcher.add(event);
      },
    });
    tell({ kind: 'listening', port: await bind(front, data, parts) });
  } catch (thrown) {
    return tell(failure(FIRST_ROUTES, thrown));
  }
  let applying: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve) => {
    port.on('message', (message: ToFrontThread) => {
      if (message.kind === 'events_taken') batcher.taken();
      else if (message.kind === 'routes') {
        // One after another: a later generation never overtakes an earlier one.
        applying = applying.then(() => apply(front, message.id, message.routes, parts, tell));
      } else void front.drain().then(resolve);
    });
  });
  batcher.flush(true);
  tell({ kind: 'drained' });
  port.close();
}

async function generationFor(
  routes: RoutesConfig,
  parts: FrontWorkerParts,
  tell: (message: FromFrontThread) => void,
): Promise<NextGeneration> {
  const { inspectorOf, release } = await parts.prepare(routes);
  const onReleased = (): void => {
    release();
    tell({ kind: 'released', revision: routes.revision });
  };
  return { routes, inspectorOf, onReleased };
}

async function apply(
  front: Front,
  id: number,
  routes: RoutesConfig,
  parts: FrontWorkerParts,
  tell: (message: FromFrontThread) => void,
): Promise<void> {
  try {
    front.swap(await generationFor(routes, parts, tell));
    tell({ kind: 'applied', id });
  } catch (thrown) {
    tell(failure(id, thrown));
  }
}

function failure(id: number, thrown: unknown): FromFrontThread {
  const { code, message } = toAppError(thrown, 'front_thread');
  return { kind: 'failed', id, code, message };
}

function bind(front: Front, data: FrontThreadData, parts: FrontWorkerParts): Promise<number> {
  const { host, port } = data.listen;
  // uWebSockets.js binds by itself, with SO_REUSEPORT.
  if (parts.openSocket === null || data.listener === 'uws') return front.listen({ host, port });
  return front.listen({ host, ...parts.openSocket(host, port) });
}
