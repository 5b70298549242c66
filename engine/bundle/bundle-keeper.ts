/**
 * The pieces of configurations: knows which are here, asks for the others, verifies each by its
 * hash, and keeps those of the configuration that served last on disk beside its index.
 */

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  RuntimeBundleSchema,
  SignedRuntimeBundleSchema,
  type RuntimeBundle,
  type RuntimePart,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError } from '../../base/errors.ts';
import { bundleLimits } from '../base/limits.ts';
import { loadLastGood, saveLastGood } from './last-good.ts';
import { mergeParts } from './merge-parts.ts';
import { readSignedBundle, type VerifiedBundle, type VerifyOptions } from './signed-bundle.ts';

/** Fetches contents by hash, in the order asked for. */
export type FetchParts = (sha256: readonly Uint8Array[]) => AsyncIterable<Uint8Array>;

/** The pieces that one engine has. */
export class BundleKeeper {
  private readonly folder: string;
  private readonly partsFolder: string;
  /** Decoded pieces by hash, of what serves and of what is being applied. */
  private readonly decoded = new Map<string, RuntimeBundle>();
  /** Encoded pieces that are not on disk yet. */
  private readonly unsaved = new Map<string, Uint8Array>();

  constructor(folder: string) {
    this.folder = folder;
    this.partsFolder = join(folder, 'parts');
  }

  /**
   * The bundle of the last run with all its pieces; null when there is none. Errors: AppError
   * bundle_unreadable, bundle_part_missing, those of readSignedBundle.
   */
  load(options: VerifyOptions = {}): VerifiedBundle | null {
    const bytes = loadLastGood(this.folder);
    if (bytes === null) return null;
    const verified = readSignedBundle(bytes, options);
    checkSizes(verified.bundle);
    const missing = this.missing(verified.bundle).length;
    if (missing > 0) throw refuse('bundle_part_missing', `${missing} pieces of it are not kept`);
    return this.merged(verified);
  }

  /**
   * The bundle with all its pieces; `fetch` is asked for those that are not here. Errors: AppError
   * bundle_part_missing, bundle_part_invalid, bundle_too_large; what `fetch` throws.
   */
  async complete(verified: VerifiedBundle, fetch: FetchParts): Promise<VerifiedBundle> {
    checkSizes(verified.bundle);
    const wanted = this.missing(verified.bundle);
    for (let at = 0; at < wanted.length; at += bundleLimits.partsPerFetch) {
      const asked = wanted.slice(at, at + bundleLimits.partsPerFetch);
      let count = 0;
      for await (const content of fetch(asked.map(({ sha256 }) => sha256))) {
        const part = asked[count++];
        if (part === undefined)
          throw refuse('bundle_part_invalid', 'more pieces came than asked for');
        this.take(part, content);
      }
      if (count < asked.length) {
        throw refuse('bundle_part_missing', 'the controller does not have a piece of the bundle');
      }
    }
    return this.merged(verified);
  }

  /** Makes this the last good bundle. Errors: AppError bundle_unwritable; the one before stays. */
  async keep(verified: VerifiedBundle): Promise<void> {
    const names = new Set(verified.bundle.parts.map(({ sha256 }) => hex(sha256)));
    const writes = [...this.unsaved].filter(([name]) => names.has(name));
    try {
      mkdirSync(this.partsFolder, { recursive: true, mode: 0o700 });
      await inParallel(writes, ([name, content]) => writePart(this.partsFolder, name, content));
    } catch (cause) {
      const message = `the pieces of the bundle cannot be kept in ${this.partsFolder}`;
      throw new AppError('bundle_unwritable', message, {
        source: 'storage',
        retryable: true,
        cause,
      });
    }
    saveLastGood(this.folder, toBinary(SignedRuntimeBundleSchema, verified.signed));
    this.unsaved.clear();
    for (const name of this.decoded.keys()) if (!names.has(name)) this.decoded.delete(name);
    for (const name of readdirSync(this.partsFolder)) {
      if (!names.has(name)) rmSync(join(this.partsFolder, name), { force: true });
    }
  }

  /** Pieces that are neither in memory nor, whole, on disk; each hash once. */
  private missing(index: RuntimeBundle): RuntimePart[] {
    const wanted = new Map<string, RuntimePart>();
    for (const part of index.parts) {
      const name = hex(part.sha256);
      if (!this.decoded.has(name) && !this.readKept(part, name)) wanted.set(name, part);
    }
    return [...wanted.values()];
  }

  private readKept(part: RuntimePart, name: string): boolean {
    try {
      const content = readFileSync(join(this.partsFolder, name));
      this.decoded.set(name, decodePart(part, content));
      return true;
    } catch {
      // Absent, torn or changed: it is fetched again.
      return false;
    }
  }

  private take(part: RuntimePart, content: Uint8Array): void {
    const name = hex(part.sha256);
    this.decoded.set(name, decodePart(part, content));
    this.unsaved.set(name, content);
  }

  private merged(verified: VerifiedBundle): VerifiedBundle {
    if (verified.bundle.parts.length === 0) return verified;
    const parts = verified.bundle.parts.flatMap(
      ({ sha256 }) => this.decoded.get(hex(sha256)) ?? [],
    );
    return { ...verified, bundle: mergeParts(verified.bundle, parts) };
  }
}

function decodePart({ sha256, size, kind }: RuntimePart, content: Uint8Array): RuntimeBundle {
  const digest = createHash('sha256').update(content).digest();
  if (BigInt(content.length) !== size || Buffer.compare(digest, sha256) !== 0) {
    throw refuse('bundle_part_invalid', `a piece of kind ${kind} does not fit its hash`);
  }
  try {
    const part = fromBinary(RuntimeBundleSchema, content);
    if (part.parts.length === 0) return part;
  } catch (cause) {
    const message = `a piece of kind ${kind} cannot be decoded`;
    throw new AppError('bundle_part_invalid', message, { source: 'config', cause });
  }
  throw refuse('bundle_part_invalid', 'a piece must not name further pieces');
}

function checkSizes(index: RuntimeBundle): void {
  const total = index.parts.reduce((sum, { size }) => sum + size, 0n);
  const tooMany = index.parts.length > bundleLimits.partsMax;
  if (tooMany || total > BigInt(bundleLimits.partsBytesMax)) {
    throw refuse('bundle_too_large', 'the pieces of the bundle are more or larger than the limit');
  }
}

async function writePart(folder: string, name: string, content: Uint8Array): Promise<void> {
  const path = join(folder, name);
  const scratch = `${path}.tmp`;
  const file = await open(scratch, 'w', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(scratch, path);
}

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const work = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) await run(next);
  };
  await Promise.all(Array.from({ length: bundleLimits.partWritersMax }, work));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

function refuse(code: string, message: string): AppError {
  return new AppError(code, message, { source: 'config' });
}
