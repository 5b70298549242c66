/** How pages load data: the last answer stays visible while the next one is on its way. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { Code, ConnectError } from '@connectrpc/connect';

/** What somebody else changed is shown after this time at the latest. */
export const refreshMs = 10_000;
/** For what never changes: it is loaded once. */
export const never = 0;

/** What a page knows of a call. */
export interface Loaded<T> {
  readonly value: T | null;
  readonly error: string;
  readonly loading: boolean;
  /** The role does not allow the call: another one would fail, too. */
  readonly denied: boolean;
  /** Calls again. */
  readonly reload: () => void;
}

/** Whether a call failed for want of a right. */
export function isDenied(error: unknown): boolean {
  return ConnectError.from(error).code === Code.PermissionDenied;
}

/** The message of anything that a call throws. */
export function messageOf(error: unknown): string {
  return ConnectError.from(error).rawMessage;
}

/**
 * Calls `load` at first and whenever `key` changes, and again after `everyMs` while the page is
 * visible, so that no page needs a reload. What a role does not allow is asked once. An answer that
 * a newer call overtook is dropped.
 */
export function useCall<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  everyMs = refreshMs,
): Loaded<T> {
  const [state, setState] = useState({
    ...{ value: null as T | null, error: '', loading: true, denied: false },
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    let allowed = true;
    const again = (): void => {
      const wanted = everyMs !== never && allowed && !stop.signal.aborted;
      if (wanted) timer = window.setTimeout(run, everyMs);
    };
    const run = (): void => {
      if (document.hidden) {
        again();
        return;
      }
      setState((before) => ({ ...before, loading: true }));
      latest
        .current(stop.signal)
        .then(
          (value) => {
            if (!stop.signal.aborted) setState({ value, error: '', loading: false, denied: false });
          },
          (error: unknown) => {
            if (stop.signal.aborted) return;
            const denied = isDenied(error);
            allowed = !denied;
            setState((before) => ({ ...before, error: messageOf(error), loading: false, denied }));
          },
        )
        .finally(again);
    };
    run();
    return () => {
      stop.abort();
      window.clearTimeout(timer);
    };
  }, [key, turn, everyMs]);
  return { ...state, reload: () => setTurn((before) => before + 1) };
}
