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

const eventTimeoutMs = 60_000;
const lookAgainMs = 2;

/** Opens the file; `keyOf` gives the key of an event. */
export function openEvents(file: string, keyOf: (event: EventJson) => string): EventReader {
  const handle = openSync(file, 'r');
  const buffer = Buffer.alloc(1 << 20);
  const waiting = new Map<string, EventJson>();
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
  return {
    close: () => closeSync(handle),
    take: async (key) => {
      const deadline = performance.now() + eventTimeoutMs;
      for (;;) {
        readMore();
        const event = waiting.get(key);
        waiting.delete(key);
        if (event !== undefined) return event;
        if (performance.now() > deadline) throw new Error('no event came');
        await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
      }
    },
  };
}
