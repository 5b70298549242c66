/** Reads what a trace of Chromium says of the main thread of a page. */

/** One event of a trace, as far as it is read here. */
export interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** How long tasks of a page's main thread took, milliseconds. */
export interface MainThread {
  readonly tasks: number;
  /** The longest from its begin to its end, other work of the machine within. */
  readonly longestMs: number;
  /** The most processor time of one task. */
  readonly longestCpuMs: number;
  readonly over50: number;
  /** Processor time of all tasks. */
  readonly cpuMs: number;
  readonly frames: number;
}

/** The tasks of the busiest main thread of a page. Errors: the trace holds none. */
export function mainThread(events: readonly TraceEvent[]): MainThread {
  const threads = events.filter(
    ({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain',
  );
  const found = threads.map(({ pid, tid }) => {
    const own = events.filter((event) => event.pid === pid && event.tid === tid);
    return summaryOf(own);
  });
  const busiest = found.toSorted((one, other) => other.cpuMs - one.cpuMs)[0];
  if (busiest === undefined || busiest.tasks === 0) throw new Error('the trace holds no task');
  return busiest;
}

function summaryOf(events: readonly TraceEvent[]): MainThread {
  const tasks = events.filter(({ name, ph }) => name === 'RunTask' && ph === 'X');
  const walls = tasks.map(({ dur = 0 }) => dur / 1000);
  const cpus = tasks.map(({ tdur = 0 }) => tdur / 1000);
  return {
    tasks: tasks.length,
    longestMs: walls.reduce((most, one) => Math.max(most, one), 0),
    longestCpuMs: cpus.reduce((most, one) => Math.max(most, one), 0),
    over50: walls.filter((one) => one > 50).length,
    cpuMs: cpus.reduce((sum, one) => sum + one, 0),
    frames: events.filter(({ name }) => name === 'FireAnimationFrame').length,
  };
}
