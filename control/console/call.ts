/** How pages load data: the last answer stays visible while the next one is on its way. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { ConnectError } from '@connectrpc/connect';

/** What a page knows of a call. */
export interface Loaded<T> {
  readonly value: T | null;
  readonly error: string;
  readonly loading: boolean;
  /** Calls again. */
  readonly reload: () => void;
}

/** The message of anything that a call throws. */
export function messageOf(error: unknown): string {
  return ConnectError.from(error).rawMessage;
}

/**
 * Calls `load` at first and whenever `key` changes; with `everyMs` again after that time while the
 * page is visible. An answer that a newer call overtook is dropped.
 */
export function useCall<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  everyMs = 0,
): Loaded<T> {
  const [state, setState] = useState({ value: null as T | null, error: '', loading: true });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    const again = (): void => {
      if (everyMs > 0 && !stop.signal.aborted) timer = window.setTimeout(run, everyMs);
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
            if (!stop.signal.aborted) setState({ value, error: '', loading: false });
          },
          (error: unknown) => {
            if (stop.signal.aborted) return;
            setState((before) => ({ ...before, error: messageOf(error), loading: false }));
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
