/**
 * Reads a stream in slices: a browser hands over all messages that have come in one task, and a
 * page that is too slow once would work in ever longer ones. Messages that are not read
 * wait at the server.
 */

/** Milliseconds of work between two rests. */
const sliceMs = 8;

/** The clock, and how others get their turn. */
export interface Pace {
  readonly nowMs: () => number;
  readonly rest: () => Promise<void>;
}

/** The messages of a stream; after each slice, input and drawing come first. */
export async function* paced<T>(
  stream: AsyncIterable<T>,
  { nowMs, rest }: Pace = browserPace,
): AsyncGenerator<T> {
  let began = nowMs();
  for await (const message of stream) {
    yield message;
    if (nowMs() - began < sliceMs) continue;
    await rest();
    began = nowMs();
  }
}

const browserPace: Pace = { nowMs: () => performance.now(), rest: nextTask };

/** A task of its own; timers would be slower, and slowest in a page that is not looked at. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
