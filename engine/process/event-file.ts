/** The file that `--events` names: a JSON line for each finished request. */

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { RequestEvent } from '../contract/events.ts';
import { LineFile } from './line-file.ts';

/** Appends to one file. */
export class EventFile {
  private readonly file: LineFile;

  /** Errors: AppError `file_unwritable` where the file cannot be opened now. */
  constructor(path: string, clock: Clock, log: Logger) {
    this.file = new LineFile({ flag: '--events', name: 'the file of events', path, clock, log });
  }

  /** Writes in the background; what finds no room is lost. */
  write(events: readonly RequestEvent[]): void {
    this.file.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''), events.length);
  }

  /** Resolves when what was written is with the system, or cannot be. */
  close(): Promise<void> {
    return this.file.close();
  }
}
