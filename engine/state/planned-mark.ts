/** The file that names the last bundle whose databases all lie in the cache. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Reads and writes one mark. */
export class PlannedMark {
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The SHA-256 in the mark; '' when there is none. */
  read(): string {
    try {
      return readFileSync(this.path, 'utf8');
    } catch {
      return '';
    }
  }

  /** A mark that cannot be written only makes the next start slower. */
  keep(sha256: string): void {
    try {
      writeFileSync(this.path, sha256, { mode: 0o600 });
    } catch {
      rmSync(this.path, { force: true });
    }
  }
}
