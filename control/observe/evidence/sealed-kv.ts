/**
 * Encrypts the content of evidence on its way to storage and decrypts it on its way back: every
 * value with AES-256-GCM under a nonce of its own, bound to its key, so that values cannot change
 * places. Ids of requests and counts stay readable; what a request contained does not. What cannot
 * be decrypted is never shown: its metadata says why.
 *
 * A value is the mark, the id of the key (4 bytes), the length of the label (2), the label, the
 * nonce (12), the tag (16), and the ciphertext. Label: see `evidence-label.ts`.
 */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Kv, KvEntry, KvReader, KvRange, KvWriter } from '../../store/kv.ts';
import type { EvidenceKeys } from './evidence-keyring.ts';
import { labelOf, missingOf, type LackOfKey } from './evidence-label.ts';
import { contentPrefixes, separator } from './evidence-keys.ts';

/** Earlier values begin with a brace, a bracket, a digit or 1; pieces of bodies with anything. */
const mark = Buffer.from('\u0002wafseal', 'latin1');
const keyIdAt = mark.length;
const labelAt = keyIdAt + 6;
const nonceBytes = 12;
const tagBytes = 16;
const algorithm = 'aes-256-gcm';

/** `kv` with its content encrypted; what was kept in clear before is read as it is. */
export function sealedKv(kv: Kv, keys: EvidenceKeys): Kv {
  const reader = readerOf(kv, keys);
  return {
    ...reader,
    write: (change) => kv.write((writer) => change(writerOf(writer, keys))),
    stage: () => {
      const stage = kv.stage();
      return { writer: writerOf(stage.writer, keys), keep: () => stage.keep() };
    },
    snapshot: () => {
      const snapshot = kv.snapshot();
      return { ...readerOf(snapshot, keys), close: () => snapshot.close() };
    },
    close: () => kv.close(),
  };
}

/** True for a value that is encrypted. */
export function isSealed(value: Uint8Array): boolean {
  return value.length > labelAt && mark.every((byte, at) => value[at] === byte);
}

/** True where values are encrypted. */
function isContent(key: string): boolean {
  return contentPrefixes.has(key.slice(0, key.indexOf(separator)));
}

function readerOf(kv: KvReader, keys: EvidenceKeys): KvReader {
  const get = (key: string): Uint8Array | undefined => {
    const value = kv.get(key);
    return value === undefined ? undefined : unseal(keys, key, value);
  };
  return { get, peek: get, range: (range) => unsealedRange(kv, keys, range) };
}

function* unsealedRange(kv: KvReader, keys: EvidenceKeys, range: KvRange): Generator<KvEntry> {
  for (const entry of kv.range(range)) {
    const value = range.keysOnly === true ? entry.value : unseal(keys, entry.key, entry.value);
    if (value !== undefined) yield { key: entry.key, value };
  }
}

function writerOf(writer: KvWriter, keys: EvidenceKeys): KvWriter {
  return {
    ...readerOf(writer, keys),
    put: (key, value) => writer.put(key, isContent(key) ? seal(keys, key, value) : value),
    remove: (key) => writer.remove(key),
  };
}

function seal(keys: EvidenceKeys, key: string, value: Uint8Array): Uint8Array {
  const { id, key: secret } = keys.current();
  const label = labelOf(key, value);
  const head = Buffer.allocUnsafe(labelAt + label.length);
  mark.copy(head);
  head.write(id, keyIdAt, 'hex');
  head.writeUInt16LE(label.length, keyIdAt + 4);
  label.copy(head, labelAt);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, secret, nonce);
  cipher.setAAD(Buffer.concat([Buffer.from(`${key}${separator}`), head]));
  const content = Buffer.concat([cipher.update(value), cipher.final()]);
  return Buffer.concat([head, nonce, cipher.getAuthTag(), content]);
}

/** What a value says; undefined for content that cannot be decrypted. */
function unseal(keys: EvidenceKeys, key: string, value: Uint8Array): Uint8Array | undefined {
  if (!isSealed(value) || !isContent(key)) return value;
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  const end = labelAt + bytes.readUInt16LE(keyIdAt + 4);
  const head = bytes.subarray(0, end);
  const missing = (why: LackOfKey): Uint8Array | undefined =>
    missingOf(key, head.subarray(labelAt), why);
  const known = keys.find(head.toString('hex', keyIdAt, keyIdAt + 4));
  if (known === null) return missing('key_missing');
  try {
    const decipher = createDecipheriv(algorithm, known.key, bytes.subarray(end, end + nonceBytes));
    decipher.setAAD(Buffer.concat([Buffer.from(`${key}${separator}`), head]));
    decipher.setAuthTag(bytes.subarray(end + nonceBytes, end + nonceBytes + tagBytes));
    const content = decipher.update(bytes.subarray(end + nonceBytes + tagBytes));
    return Buffer.concat([content, decipher.final()]);
  } catch {
    return missing('damaged');
  }
}
