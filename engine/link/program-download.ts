/**
 * Fetches the file of a release from the controller over mutual TLS, verifies it and unpacks it
 * beside the running program. A folder has its name only when all of that went well; what came is
 * never run here.
 */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { AppError } from '../../base/errors.ts';
import {
  readPublicKey,
  readSignature,
  signatureFault,
  type MinisignKey,
} from '../../base/minisign.ts';
import { controllerServerName, type NodeIdentity } from '../../base/node-identity.ts';
import {
  programFolder,
  programsFolder,
  releaseKeysFile,
  syncFolder,
} from '../../base/node-program.ts';
import { readReleaseComment } from '../../base/release-facts.ts';
import { withinTime } from '../../base/time-limit.ts';
import { programLimits } from '../../base/upgrade-limits.ts';

/** What an order asks for. */
export interface OrderedRelease {
  readonly version: string;
  /** Hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** The text of the .minisig file. */
  readonly signature: string;
  /** Below the controller's URL. */
  readonly downloadPath: string;
}

/** Where a program is placed, and who fetches it. */
export interface PlaceOptions {
  readonly dataFolder: string;
  readonly identity: NodeIdentity;
  readonly signal: AbortSignal;
  /** Waits before a download is tried again; tests do not. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** Places a release; resolves to its name. Errors: AppError release_refused, download_failed. */
export async function placeRelease(
  release: OrderedRelease,
  options: PlaceOptions,
): Promise<string> {
  const { dataFolder } = options;
  // Before a byte is fetched: without a key, or for another machine, nothing can come of it.
  const keys = readReleaseKeys(dataFolder);
  checkClaims(release, keys);
  const name = `${release.version}-${release.sha256.slice(0, 12)}`;
  if (existsSync(programFolder(dataFolder, name))) return name;
  await mkdir(programsFolder(dataFolder), { recursive: true, mode: 0o700 });
  const archive = join(programsFolder(dataFolder), `${name}.tar.gz.new`);
  const scratch = programFolder(dataFolder, `${name}.new`);
  try {
    const digest = await fetchArchive(release, archive, options);
    verify(release, digest, keys);
    await unpack(archive, scratch);
    checkContent(scratch, release.version);
    await rename(scratch, programFolder(dataFolder, name));
    syncFolder(programsFolder(dataFolder));
    return name;
  } finally {
    await rm(archive, { force: true });
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The keys whose releases this node takes. Errors: AppError release_refused. */
function readReleaseKeys(dataFolder: string): MinisignKey[] {
  const path = releaseKeysFile(dataFolder);
  const hint = 'run waf agent release-keys KEY on the node';
  if (!existsSync(path)) throw refused(`the node trusts no release key; ${hint}`);
  if (statSync(path).size > programLimits.keysFileBytesMax) throw refused(`${path} is too large`);
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  const keys = lines.slice(0, programLimits.keysMax).map((line) => readPublicKey(line));
  const whole = keys.filter((key) => key !== null);
  if (whole.length === keys.length && whole.length > 0) return whole;
  throw refused(`${path} holds something that is no key; ${hint}`);
}

/** What can be told without the file. */
function checkClaims(release: OrderedRelease, keys: readonly MinisignKey[]): void {
  const signature = readSignature(release.signature);
  if (typeof signature === 'string') throw refused(`the signature is ${signature}`);
  if (!keys.some(({ id }) => id === signature.keyId)) {
    throw refused(`key ${signature.keyId} is none of the release keys of this node`);
  }
  const facts = readReleaseComment(signature.trustedComment);
  if (facts === null || facts.version !== release.version) {
    throw refused('the signature is of another version');
  }
  if (facts.platform !== process.platform || facts.arch !== process.arch) {
    throw refused(`the release is for ${facts.platform}-${facts.arch}`);
  }
  if (release.sizeBytes > programLimits.archiveBytesMax) throw refused('the release is too large');
}

interface Digests {
  readonly sha256: string;
  readonly blake2b512: Uint8Array;
}

function verify(release: OrderedRelease, digests: Digests, keys: readonly MinisignKey[]): void {
  if (digests.sha256 !== release.sha256) throw refused('the file has another SHA-256');
  const signature = readSignature(release.signature);
  const fault =
    typeof signature === 'string' ? signature : signatureFault(signature, digests.blake2b512, keys);
  if (fault !== null) throw refused(`the signature is not of this file (${fault})`);
}

async function fetchArchive(
  release: OrderedRelease,
  path: string,
  options: PlaceOptions,
): Promise<Digests> {
  const { pause = wait } = options;
  const { downloadAttemptsMax, downloadPauseMs, downloadTimeoutMs } = programLimits;
  return withinTime(downloadTimeoutMs, [options.signal], async (signal) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await fetchOnce(release, path, options.identity, signal);
      } catch (error) {
        const again = error instanceof AppError && error.retryable && attempt < downloadAttemptsMax;
        if (!again || signal.aborted) throw error;
        // Nodes of a wave must not come back together.
        await pause(downloadPauseMs * (0.5 + Math.random()));
      }
    }
  });
}

async function fetchOnce(
  release: OrderedRelease,
  path: string,
  identity: NodeIdentity,
  signal: AbortSignal,
): Promise<Digests> {
  const response = await open(release.downloadPath, identity, signal);
  const [sha256, blake2b512] = [createHash('sha256'), createHash('blake2b512')];
  let bytes = 0;
  const meter = new Transform({
    transform: (piece: Buffer, _encoding, done) => {
      bytes += piece.length;
      if (bytes > release.sizeBytes) return done(refused('the file is larger than announced'));
      sha256.update(piece);
      blake2b512.update(piece);
      done(null, piece);
    },
  });
  try {
    await pipeline(response, meter, createWriteStream(path, { mode: 0o600, flush: true }), {
      signal,
    });
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw failed('the download broke off', cause);
  }
  if (bytes !== release.sizeBytes) throw failed('the download is shorter than announced');
  return { sha256: sha256.digest('hex'), blake2b512: blake2b512.digest() };
}

function open(path: string, identity: NodeIdentity, signal: AbortSignal): Promise<IncomingMessage> {
  const { controllerUrl, certificate: cert, key, authorities: ca } = identity;
  const url = new URL(controllerUrl + path);
  if (url.origin !== new URL(controllerUrl).origin) throw refused('the order names another server');
  const tls = { cert, key, ca, servername: controllerServerName, minVersion: 'TLSv1.3' } as const;
  return new Promise((resolve, reject) => {
    const request = get(url, { ...tls, agent: false, signal }, (response) => {
      if (response.statusCode === 200) return resolve(response);
      response.resume();
      const retryable = response.statusCode === 503;
      reject(failed(`the controller answered ${response.statusCode ?? 0}`, undefined, retryable));
    });
    const idle = 'the download stands still';
    request.setTimeout(programLimits.downloadIdleMs, () => request.destroy(new Error(idle)));
    request.on('error', (cause) => reject(failed('the controller cannot be reached', cause)));
  });
}

/** The archive is verified: whoever signed it may write what this program may. */
async function unpack(archive: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const words = ['-xzf', archive, '-C', folder, '--strip-components=1', '--no-same-owner'];
  try {
    await promisify(execFile)('tar', words, { timeout: programLimits.unpackTimeoutMs });
    await promisify(execFile)('sync', ['-f', folder]);
  } catch (cause) {
    throw failed('the release cannot be unpacked; is the disk full?', cause, false);
  }
}

/** What a program needs to be started, and that it is the one that was signed. */
function checkContent(folder: string, version: string): void {
  const program = join(folder, 'app', '.build', 'engine', 'main.js');
  const about = join(folder, 'app', 'package.json');
  const missing = [join(folder, 'node'), program, about].find((path) => !existsSync(path));
  if (missing !== undefined) throw refused(`the release lacks ${missing.slice(folder.length + 1)}`);
  const text = readFileSync(about, 'utf8');
  const found = (JSON.parse(text) as { readonly version?: unknown }).version;
  if (found !== version) throw refused(`the release holds another version than ${version}`);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function refused(message: string): AppError {
  return new AppError('release_refused', message, { source: 'config' });
}

function failed(message: string, cause?: unknown, retryable = true): AppError {
  return new AppError('download_failed', message, { source: 'upstream', retryable, cause });
}
