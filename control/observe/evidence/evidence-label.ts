/**
 * The part of encrypted evidence that stays readable: whose it is, of which request, and how many
 * bytes it has, so that it can be refused, named and removed without its key.
 */

import { decode, encode, key, metadataOfValue, type StoredMetadata } from './evidence-keys.ts';
import { recordOfValue } from './evidence-records.ts';

/** Why evidence cannot be decrypted. */
export type LackOfKey = 'key_missing' | 'damaged';

/** Bytes that encryption adds to what is known of a request, about; they count. */
export const sealBytes = 128;

const metadataPrefix = key('m', '');
const separator = '\u0000';

/** The label of a value; empty for pieces. */
export function labelOf(at: string, value: Uint8Array): Buffer {
  if (!at.startsWith(metadataPrefix)) return Buffer.alloc(0);
  const kept = recordOfValue(value);
  if (kept !== null) {
    const { agentId, tenantId } = kept.owner;
    const { siteId, requestId } = kept.record;
    const weight = String(value.length + sealBytes);
    return Buffer.from([agentId, tenantId, siteId, requestId, weight].join(separator));
  }
  const { bytes, metadata } = decode<StoredMetadata>(value);
  const { agentId = '', tenantId = '', siteId = '', requestId = '' } = metadata;
  return Buffer.from([agentId, tenantId, siteId, requestId, String(bytes)].join(separator));
}

/** What stands in for a value that cannot be decrypted; undefined for pieces. */
export function missingOf(at: string, label: Uint8Array, why: LackOfKey): Uint8Array | undefined {
  if (!at.startsWith(metadataPrefix)) return undefined;
  const text = Buffer.from(label).toString();
  const [agentId = '', tenantId = '', siteId = '', requestId = '', weight = ''] =
    text.split(separator);
  const evidenceId = at.slice(metadataPrefix.length);
  // Ids begin with the time at which the request came.
  const startedAt = new Date(Number(evidenceId.slice(3, 17)) || 0).toISOString();
  const ids = { evidenceId, requestId, siteId, agentId, tenantId, startedAt };
  const metadata = { ...ids, available: false, unavailableReason: why };
  return encode({ bytes: Number(weight) || 0, metadata } satisfies StoredMetadata);
}

/** True where a value stands in for one that cannot be decrypted: it must not be written. */
export function isMissing(value: Uint8Array): boolean {
  if (recordOfValue(value) !== null) return false;
  const { unavailableReason } = metadataOfValue(value).metadata;
  return unavailableReason === 'key_missing' || unavailableReason === 'damaged';
}
