/**
 * Patterns that a trial found fit to serve, by hash, in one file that is appended to: a rule set
 * that is imported again, or its next version, is tried only where it changed.
 */

import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Logger } from '../../base/log.ts';

const hashPattern = /^[\w-]{22}$/;

/** Known patterns; several processes may append to one file. */
export class TriedPatterns {
  private readonly file: string;
  private readonly engine: string;
  private readonly hashesMax: number;
  private readonly log: Logger;
  private hashes: Set<string> | null = null;

  /**
   * `engine`: what decides beside the pattern, such as versions of libraries. Past `hashesMax` the
   * file begins anew.
   */
  constructor(file: string, engine: string, hashesMax: number, log: Logger) {
    this.file = file;
    this.engine = engine;
    this.hashesMax = hashesMax;
    this.log = log;
  }

  /** Cost: a hash; the first call reads the file. */
  has(pattern: string): boolean {
    this.hashes ??= this.read();
    return this.hashes.has(this.hashOf(pattern));
  }

  /** Remembers patterns, here and in the file; a full disk costs the next start's trial. */
  add(patterns: readonly string[]): void {
    this.hashes ??= this.read();
    const fresh = patterns.map((one) => this.hashOf(one)).filter((one) => !this.hashes!.has(one));
    if (fresh.length === 0) return;
    const full = this.hashes.size + fresh.length > this.hashesMax;
    if (full) this.hashes.clear();
    for (const hash of fresh) this.hashes.add(hash);
    const lines = fresh.map((hash) => `${hash}\n`).join('');
    try {
      mkdirSync(path.dirname(this.file), { recursive: true, mode: 0o700 });
      if (full) writeFileSync(this.file, lines, { mode: 0o600 });
      else appendFileSync(this.file, lines, { mode: 0o600 });
    } catch (thrown) {
      this.warn('cannot keep which patterns were tried; the next start tries them again', thrown);
    }
  }

  private read(): Set<string> {
    try {
      const lines = readFileSync(this.file, 'latin1').split('\n');
      // A line that was cut by a kill stands for no pattern.
      return new Set(lines.filter((line) => hashPattern.test(line)).slice(-this.hashesMax));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') {
        this.warn('cannot read which patterns were tried', thrown);
      }
      return new Set();
    }
  }

  private hashOf(pattern: string): string {
    const text = JSON.stringify([this.engine, pattern]);
    return createHash('sha256').update(text).digest('base64url').slice(0, 22);
  }

  private warn(message: string, thrown: unknown): void {
    this.log.warn(message, { file: this.file, code: (thrown as NodeJS.ErrnoException).code });
  }
}
