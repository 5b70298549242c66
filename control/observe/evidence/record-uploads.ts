/**
 * What a message of records does to the store of evidence, in one transaction: each record is kept
 * once and belongs to the node that sent it first. Without room only that it is missing is kept.
 */

import type { ReadEvidence } from '../../../base/evidence-layout.ts';
import { addUse, key, metadataOfValue, readUse } from './evidence-keys.ts';
import {
  recordOfValue,
  valueOfRecord,
  withoutContent,
  type EvidenceOwner,
} from './evidence-records.ts';
import { isMissing, sealBytes } from './evidence-label.ts';
import type { Uploads } from './evidence-uploads.ts';

/** What became of records. */
export interface RecordsState {
  /** Those of another node, or with other content than before: nothing of them is kept. */
  readonly refused: number;
  /** Those without room: only that they are missing is kept. */
  readonly rejected: number;
}

const nothing = new Uint8Array();

/** Keeps records of a node, each with its whole body. */
export function keepRecords(
  uploads: Uploads,
  owner: EvidenceOwner,
  records: readonly ReadEvidence[],
): RecordsState {
  const { writer, quota } = uploads;
  let [refused, rejected, added] = [0, 0, 0];
  let used = readUse(writer);
  for (const read of records) {
    const { id, requestId } = read.record;
    const known = knownRecord(uploads, owner, read);
    if (known !== 'new') {
      if (known === 'refused') refused++;
      continue;
    }
    const partial = uploads.partials.get(id);
    if (partial !== null) {
      uploads.partials.drop(writer, id);
      used = readUse(writer);
    }
    let value = valueOfRecord(owner, read.bytes);
    if (used + added + value.length + sealBytes > quota) {
      rejected++;
      if (used + added > quota * 1.05) continue;
      value = valueOfRecord(owner, withoutContent(read));
    }
    writer.put(key('m', id), value);
    writer.put(key('r', requestId, id), nothing);
    added += value.length + sealBytes;
  }
  if (added > 0) addUse(writer, added);
  return { refused, rejected };
}

/** What is decided already: a record that is kept, or that is not this node's or not the same. */
function knownRecord(
  { writer, partials }: Uploads,
  { agentId }: EvidenceOwner,
  { record, bytes }: ReadEvidence,
): 'new' | 'kept' | 'refused' {
  const at = key('m', record.id);
  const value = writer.get(at);
  if (value === undefined) {
    const begun = partials.get(record.id)?.agentId ?? agentId;
    return begun === agentId ? 'new' : 'refused';
  }
  const kept = recordOfValue(value);
  const keeper = kept?.owner.agentId ?? metadataOfValue(value).metadata.agentId;
  if (keeper !== agentId) return 'refused';
  const bare = kept?.record.lack === 'quota';
  if (kept !== null && !bare && Buffer.compare(kept.bytes, bytes) !== 0) return 'refused';
  if (kept === null && isMissing(value)) return 'kept';
  // Written again, so that the answer waits for the disk where the first write still does.
  writer.put(at, value);
  return 'kept';
}
