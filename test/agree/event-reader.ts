/** Reads the engine's event file while it grows, by a key of each event. */

import { closeSync, openSync, readSync } from 'node:fs';

/** An event as it stands in the file. */
export type EventJson = Readonly<Record<string, unknown>>;

/** The events that nobody took yet. */
export interface EventReader {
  /** The event with this key, once it is there. Rejects when it does not come. */
  take(key: string): Promise<EventJson>;
  close(): void;
}

const eventTimeoutMs = 120_000;
const lookAgainMs = 4;

interface Taker {
  readonly deadline: number;
  readonly resolve: (event: EventJson) => void;
  readonly reject: (error: Error) => void;
}

/** Opens the file; `keyOf` gives the key of an event. */
export function openEvents(file: string, keyOf: (event: EventJson) => string): EventReader {
  const handle = openSync(file, 'r');
  const buffer = Buffer.alloc(1 << 20);
  const waiting = new Map<string, EventJson>();
  const takers = new Map<string, Taker>();
  let timer: NodeJS.Timeout | null = null;
  let offset = 0;
  let partial = '';
  const readMore = (): void => {
    for (;;) {
      const count = readSync(handle, buffer, 0, buffer.length, offset);
      if (count === 0) return;
      offset += count;
      const lines = (partial + buffer.toString('latin1', 0, count)).split('\n');
      partial = lines.pop() ?? '';
      for (const line of lines) {
        const event = JSON.parse(line) as EventJson;
        waiting.set(keyOf(event), event);
      }
    }
  };
  /** One look at the file for all that wait. */
  const look = (): void => {
    timer = null;
    readMore();
    for (const [key, { deadline, resolve, reject }] of takers) {
      const event = waiting.get(key);
      const late = performance.now() > deadline;
      if (event === undefined && !late) continue;
      takers.delete(key);
      waiting.delete(key);
      if (event === undefined) reject(new Error('no event came'));
      else resolve(event);
    }
    if (takers.size > 0) timer = setTimeout(look, lookAgainMs);
  };
  return {
    close: () => {
      if (timer !== null) clearTimeout(timer);
      closeSync(handle);
    },
    take: (key) =>
      new Promise((resolve, reject) => {
        takers.set(key, { deadline: performance.now() + eventTimeoutMs, resolve, reject });
        timer ??= setTimeout(look, 0);
      }),
  };
}
