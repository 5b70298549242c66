/**
 * Encrypts what the shared log holds, under a key that only controllers have: who reads the
 * database learns how much was written and when, and nothing else. Names of rows are HMACs of keys.
 *
 * A sealed text is the nonce (12 bytes), the tag (16), the ciphertext (AES-256-GCM), bound to the
 * place where it stands.
 */

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { AppError } from '../../../base/errors.ts';
import type { DraftValue } from '../draft.ts';
import type { WriteSet } from './write-log.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
/** Length of a removed value. */
const removed = 0xffff_ffff;

/** Seals entries and rows of one store. */
export class StoreSeal {
  private readonly contentKey: Buffer;
  private readonly nameKey: Buffer;
  /** Tells whether another key is the same, and nothing else of it. */
  readonly fingerprint: Buffer;

  /** `key`: 32 bytes that all controllers have. `storeId` separates stores with one key. */
  constructor(key: Uint8Array, storeId: string) {
    const derive = (use: string): Buffer => Buffer.from(hkdfSync('sha256', key, storeId, use, 32));
    this.contentKey = derive('waf store content');
    this.nameKey = derive('waf store names');
    this.fingerprint = derive('waf store fingerprint');
  }

  /** The name of a key's row. */
  nameOf(key: string): Buffer {
    return createHmac('sha256', this.nameKey).update(key).digest();
  }

  sealEntry(seq: number, changes: WriteSet): Buffer {
    return this.seal(`entry ${seq}`, encodeChanges(changes));
  }

  /** Errors: AppError store_damaged. */
  openEntry(seq: number, sealed: Uint8Array): WriteSet {
    return decodeChanges(this.open(`entry ${seq}`, sealed));
  }

  /** The row of one key with its value. */
  sealRow(name: Buffer, key: string, value: Uint8Array): Buffer {
    return this.seal(`row ${name.toString('hex')}`, encodeChanges(new Map([[key, value]])));
  }

  /** Errors: AppError store_damaged. */
  openRow(name: Buffer, sealed: Uint8Array): WriteSet {
    return decodeChanges(this.open(`row ${name.toString('hex')}`, sealed));
  }

  private seal(place: string, content: Uint8Array): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.contentKey, nonce);
    cipher.setAAD(Buffer.from(place));
    const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  private open(place: string, sealed: Uint8Array): Buffer {
    try {
      const nonce = sealed.subarray(0, nonceBytes);
      const decipher = createDecipheriv(algorithm, this.contentKey, nonce);
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
      const content = decipher.update(sealed.subarray(nonceBytes + tagBytes));
      return Buffer.concat([content, decipher.final()]);
    } catch (cause) {
      throw damaged(place, cause);
    }
  }
}

function damaged(place: string, cause?: unknown): AppError {
  const message = `the shared store is damaged: ${place} was changed by others`;
  return new AppError('store_damaged', message, { source: 'storage', cause });
}

/** For each key its length, the value's, the key, the value. Lengths have four bytes. */
function encodeChanges(changes: WriteSet): Buffer {
  const pieces: Uint8Array[] = [];
  for (const [key, value] of changes) {
    const name = Buffer.from(key, 'utf8');
    const head = Buffer.allocUnsafe(8);
    head.writeUInt32BE(name.length, 0);
    head.writeUInt32BE(value === null ? removed : value.length, 4);
    pieces.push(head, name);
    if (value !== null) pieces.push(value);
  }
  return Buffer.concat(pieces);
}

/** The content is authentic: only lengths of another version could be wrong. */
function decodeChanges(bytes: Buffer): WriteSet {
  const changes = new Map<string, DraftValue>();
  for (let at = 0; at < bytes.length;) {
    if (at + 8 > bytes.length) throw damaged('a write set');
    const [nameLength, valueLength] = [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
    const nameEnd = at + 8 + nameLength;
    const end = valueLength === removed ? nameEnd : nameEnd + valueLength;
    if (end > bytes.length) throw damaged('a write set');
    const value = valueLength === removed ? null : bytes.subarray(nameEnd, end);
    changes.set(bytes.toString('utf8', at + 8, nameEnd), value);
    at = end;
  }
  return changes;
}
