/** What happens when nobody reads a command's output any more, or it cannot be written. */

/**
 * Ends the process quietly when a pipe's reader went, as `head` does; with a sentence where a disk
 * is full. A command that serves calls `ignoreClosedOutput` instead.
 */
export function endOnClosedOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (serving) return;
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`waf: the output cannot be written (${error.code ?? 'unknown'})\n`);
    process.exit(1);
  });
  process.stderr.on('error', () => undefined);
}

let serving = false;

/** From now on what cannot be written is lost, and nothing else. */
export function ignoreClosedOutput(): void {
  serving = true;
}
