/** The access log that `--access-log` names: a line for each finished request. */

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { RequestEvent } from '../contract/events.ts';
import { accessLine, type AccessLogFormat } from './access-line.ts';
import { LineFile } from './line-file.ts';

/** Where the log goes, in which form, and when its file is set aside. */
export interface AccessLogOptions {
  /** `-` is standard output. */
  readonly path: string;
  readonly format: AccessLogFormat;
  /** Size at which the file is set aside; 0 never. */
  readonly rotateBytes: number;
  /** Files set aside at most. */
  readonly keep: number;
}

/** Appends to one file. */
export class AccessLog {
  private readonly format: AccessLogFormat;
  private readonly file: LineFile;

  /** Errors: AppError `file_unwritable` where the file cannot be opened now. */
  constructor({ format, ...file }: AccessLogOptions, clock: Clock, log: Logger) {
    this.format = format;
    this.file = new LineFile({ flag: '--access-log', name: 'the access log', ...file, clock, log });
  }

  /** Lines that were lost since the start. */
  get lost(): number {
    return this.file.lost;
  }

  /** Writes in the background; what finds no room is lost. */
  write(events: readonly RequestEvent[]): void {
    let text = '';
    for (const event of events) text += accessLine(event, this.format);
    this.file.write(text, events.length);
  }

  /** Continues in a new file of the same name: somebody has moved the old one away. */
  reopen(): void {
    this.file.reopen();
  }

  /** Resolves when what was written is with the system, or cannot be. */
  close(): Promise<void> {
    return this.file.close();
  }
}
