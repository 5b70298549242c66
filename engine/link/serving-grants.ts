/**
 * What an enrolled node may serve: the newest grant that its controller signed for it, and the one
 * that goes with the kept bundle. A grant of another node, of another key, or from before the
 * newest one counts for nothing.
 */

import { createHash, verify } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { readServingGrant, type ServingGrant } from '../../base/serving-grant.ts';
import { publicKeyFromRaw } from '../bundle/keys.ts';

interface HeldGrant {
  readonly grant: ServingGrant;
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
}

/** Names a grant that was taken. */
export interface TakenGrant {
  readonly revision: string;
  /** Hex. */
  readonly sha256: string;
}

/** The grants of one node. */
export class ServingGrants {
  readonly #nodeId: string;
  readonly #key: Uint8Array;
  readonly #path: string;
  #newest: HeldGrant | null = null;

  /** `folder` is where the grant of the kept bundle lies; `key` is 32 raw bytes. */
  constructor(nodeId: string, key: Uint8Array, folder: string) {
    this.#nodeId = nodeId;
    this.#key = key;
    this.#path = join(folder, 'serving-grant.json');
  }

  /** Takes a grant, or says why not. */
  take(bytes: Uint8Array, signature: Uint8Array): TakenGrant | string {
    const held = this.#check(bytes, signature);
    if (typeof held === 'string') return held;
    const { grant } = held;
    if (this.#newest !== null && BigInt(grant.revision) < BigInt(this.#newest.grant.revision)) {
      return `it is older than revision ${this.#newest.grant.revision}, which was granted`;
    }
    this.#newest = held;
    return { revision: grant.revision, sha256: createHash('sha256').update(bytes).digest('hex') };
  }

  /** Errors: AppError not_granted for a bundle that the newest grant does not name. */
  require(sha256: string): void {
    if (this.#newest?.grant.artifactSha256 === sha256) return;
    throw new AppError('not_granted', 'no serving grant names this configuration', {
      source: 'config',
    });
  }

  /** Keeps the grant beside the kept bundle of this digest. Errors: those of the disk. */
  keep(sha256: string): void {
    const held = this.#newest;
    if (held === null || held.grant.artifactSha256 !== sha256) return;
    const text = JSON.stringify({
      grant: Buffer.from(held.bytes).toString('base64'),
      signature: Buffer.from(held.signature).toString('base64'),
    });
    mkdirSync(join(this.#path, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(`${this.#path}.new`, text, { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }

  /** Reads the kept grant; false where none lets the node serve the bundle of this digest. */
  allowsKept(sha256: string): boolean {
    let value: { readonly grant?: unknown; readonly signature?: unknown };
    try {
      value = JSON.parse(readFileSync(this.#path, 'utf8')) as typeof value;
    } catch {
      return false;
    }
    const { grant, signature } = value;
    if (typeof grant !== 'string' || typeof signature !== 'string') return false;
    const held = this.#check(Buffer.from(grant, 'base64'), Buffer.from(signature, 'base64'));
    if (typeof held === 'string' || held.grant.artifactSha256 !== sha256) return false;
    this.#newest ??= held;
    return true;
  }

  #check(bytes: Uint8Array, signature: Uint8Array): HeldGrant | string {
    if (signature.length !== 64) return 'it is not signed';
    if (!verify(null, bytes, publicKeyFromRaw(this.#key), signature)) {
      return 'its signature does not hold';
    }
    const grant = readServingGrant(bytes);
    if (grant === null) return 'it has another form than waf.serving_grant.v1';
    if (grant.nodeId !== this.#nodeId) return 'it is for another node';
    return { grant, bytes: Uint8Array.from(bytes), signature: Uint8Array.from(signature) };
  }
}
