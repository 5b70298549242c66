/** How progress looks: a bar that redraws itself on a terminal. A log file gets none. */

/** Where progress is written. */
export interface ProgressTarget {
  readonly isTty: boolean;
  readonly columns: number;
  write(text: string): void;
}

/** Shows steps of work that take long. */
export interface ProgressView {
  show(what: string, done: number, total: number): void;
  /** Ends the bar's line. */
  finish(): void;
}

const barCells = 30;

/** A view on `target`. */
export function createProgressView(target: ProgressTarget): ProgressView {
  let open = false;
  return {
    show(what, done, total) {
      if (total <= 0 || !target.isTty) return;
      target.write('\r' + renderBar(what, done, total, target.columns) + '\u001b[K');
      open = true;
      if (done >= total) this.finish();
    },
    finish() {
      if (open) target.write('\n');
      open = false;
    },
  };
}

/** One line of at most `columns` characters, for example `rule databases [####....] 3/12`. */
export function renderBar(what: string, done: number, total: number, columns: number): string {
  const filled = Math.round((Math.min(done, total) / total) * barCells);
  const bar = '#'.repeat(filled) + '.'.repeat(barCells - filled);
  return `${what} [${bar}] ${done}/${total}`.slice(0, Math.max(1, columns - 1));
}
