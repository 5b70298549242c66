/**
 * How long a piece of work may take. `AbortSignal.timeout` and `AbortSignal.any` are not used:
 * nothing but a weak reference holds their signals, so that a garbage collection ends the limit and
 * the work waits for ever. Source: nodejs/node issue 57736.
 */

/** The limit of a piece of work that runs. */
export interface TimeLimit {
  /** Aborts with a TimeoutError when the time is over, or as one of those it was given does. */
  readonly signal: AbortSignal;
  /** To be called when the work is done, whatever came of it. */
  readonly end: () => void;
}

/** Starts the time of a piece of work that the `others` may end as well. */
export function startTimeLimit(
  timeoutMs: number,
  ...others: readonly (AbortSignal | undefined)[]
): TimeLimit {
  const joined = joinSignals(...others);
  const timer = setTimeout(() => {
    joined.abort(new DOMException(`it took longer than ${timeoutMs} ms`, 'TimeoutError'));
  }, timeoutMs);
  timer.unref();
  const end = (): void => {
    clearTimeout(timer);
    joined.end();
  };
  return { signal: joined.signal, end };
}

/** Does a piece of work within its time. Rejects as the work does, which obeys the signal. */
export async function withinTime<T>(
  timeoutMs: number,
  others: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = startTimeLimit(timeoutMs, ...others);
  try {
    return await work(limit.signal);
  } finally {
    limit.end();
  }
}

/** A signal that follows others and can be aborted by itself. */
export interface JoinedSignals {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** The others no longer hold it. */
  end(): void;
}

/** A signal that aborts with the first of `others`. */
export function joinSignals(...others: readonly (AbortSignal | undefined)[]): JoinedSignals {
  const controller = new AbortController();
  const ends = others.flatMap((other) => (other === undefined ? [] : follow(controller, other)));
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    end: () => ends.forEach((end) => end()),
  };
}

function follow(controller: AbortController, other: AbortSignal): () => void {
  const pass = (): void => controller.abort(other.reason);
  if (other.aborted) pass();
  else other.addEventListener('abort', pass, { once: true });
  return () => other.removeEventListener('abort', pass);
}

/** Whether the time of a limit was over before anyone else ended it. */
export function isLate({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
