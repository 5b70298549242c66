/** The file that names the last two bundles whose databases all lie in the cache. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Reads and writes one mark. */
export class PlannedMark {
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Whether the mark names this bundle; it names none when it cannot be read. */
  names(sha256: string): boolean {
    return this.hashes().includes(sha256);
  }

  /**
   * Marks a bundle and leaves the one before it marked: a kill may come before the new bundle is
   * the last good one. A mark that cannot be written only makes the next start slower.
   */
  keep(sha256: string): void {
    const [before = ''] = this.hashes().filter((one) => one !== sha256);
    try {
      writeFileSync(this.path, `${sha256}\n${before}`, { mode: 0o600 });
    } catch {
      rmSync(this.path, { force: true });
    }
  }

  private hashes(): readonly string[] {
    try {
      return readFileSync(this.path, 'utf8')
        .split('\n')
        .filter((line) => line !== '');
    } catch {
      return [];
    }
  }
}
