/** Owns the audit chain: how a row is hashed to the one before, and how a break is found. */

import { createHash } from 'node:crypto';
import { canonicalJson } from '../domain/canonical-json.ts';

/** What a write says of itself; goes into the same transaction. */
export interface AuditNote {
  readonly actorId: string;
  readonly actorName: string;
  readonly tenantId: string;
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly resourceName?: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** One row of the chain. */
export interface AuditRow extends AuditNote {
  readonly id: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly prevHash: string;
  readonly hash: string;
}

/** A row that does not fit. */
export interface AuditBreak {
  readonly rowId: string;
  readonly createdAt: string;
  readonly expectedPrevHash: string;
  readonly actualPrevHash: string;
  readonly expectedRowHash: string;
  readonly actualRowHash: string;
}

/** Hash before the first row. */
export const genesisHash = '0'.repeat(64);

/** SHA-256 over the hash before and the canonical JSON of the row without its own hash. */
export function hashRow(row: Omit<AuditRow, 'hash'>): string {
  const { prevHash, ...content } = row;
  return createHash('sha256').update(prevHash).update(canonicalJson(content)).digest('hex');
}

/** Finds every changed, removed or reordered row. Cost: one SHA-256 a row. */
export function verifyChain(
  rows: Iterable<AuditRow>,
  head: { readonly id: string; readonly hash: string } | null,
): { readonly breaks: AuditBreak[]; readonly checked: number; readonly lastHash: string } {
  const breaks: AuditBreak[] = [];
  let expectedPrevHash = genesisHash;
  let expectedNumber = 1;
  let checked = 0;
  let last: AuditRow | null = null;
  for (const row of rows) {
    checked++;
    const { hash, ...content } = row;
    const expectedRowHash = hashRow(content);
    const inPlace = row.prevHash === expectedPrevHash && Number(row.id) === expectedNumber;
    if (!inPlace || hash !== expectedRowHash) {
      breaks.push({
        rowId: row.id,
        createdAt: row.createdAt,
        expectedPrevHash,
        actualPrevHash: row.prevHash,
        expectedRowHash,
        actualRowHash: hash,
      });
    }
    expectedPrevHash = hash;
    expectedNumber = Number(row.id) + 1;
    last = row;
  }
  if (head !== null && head.hash !== (last?.hash ?? genesisHash)) {
    breaks.push({
      rowId: head.id,
      createdAt: last?.createdAt ?? '',
      expectedPrevHash: last?.hash ?? genesisHash,
      actualPrevHash: '',
      expectedRowHash: head.hash,
      actualRowHash: last?.hash ?? '',
    });
  }
  return { breaks, checked, lastHash: last?.hash ?? genesisHash };
}
