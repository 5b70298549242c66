/** The audit chain: how a row is hashed to the one before, and how a break is found. */

import { createHash } from 'node:crypto';
import { storeLimits } from '../limits/store-limits.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import { readJson } from './keys.ts';

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
  /** RFC 3339; '' where it is not known. */
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

/** Action of a row whose bytes are no row; its hash is empty, so that the chain breaks there. */
export const unreadableAction = 'unreadable';

const textFields = [
  'id',
  'createdAt',
  'prevHash',
  'hash',
  'actorId',
  'tenantId',
  'action',
] as const;

/** A stored row; damaged bytes become a row marked as damaged. Never throws. */
export function readAuditRow(id: string, bytes: Uint8Array): AuditRow {
  try {
    const row = readJson<AuditRow>(bytes);
    if (textFields.every((name) => typeof row?.[name] === 'string')) return row as AuditRow;
  } catch {
    // It is no JSON: reported below like any other damage.
  }
  return {
    id,
    createdAt: new Date(0).toISOString(),
    prevHash: '',
    hash: '',
    actorId: '',
    actorName: '',
    tenantId: '',
    action: unreadableAction,
    resourceType: '',
    resourceId: '',
  };
}

/** What a check of the chain found. */
export interface ChainFinding {
  /** At most `storeLimits.auditBreaksMax`; a chain with more is still reported as broken. */
  readonly breaks: AuditBreak[];
  readonly checked: number;
  readonly lastHash: string;
}

/** Where the chain ends, as it was written with the last row. */
export type AuditHead = { readonly id: string; readonly hash: string } | null;

/** Takes the rows of a chain one by one, oldest first, and says at the end what is wrong. */
export interface ChainCheck {
  add(row: AuditRow): void;
  finish(head: AuditHead): ChainFinding;
}

/** Finds every changed, removed or reordered row and names it. Cost: one SHA-256 a row. */
export function verifyChain(rows: Iterable<AuditRow>, head: AuditHead): ChainFinding {
  const check = startChainCheck();
  for (const row of rows) check.add(row);
  return check.finish(head);
}

/**
 * Starts a check. Rows are numbered without gaps: a number that never comes is a removed row, one
 * that comes late a row out of place. A row that is sound in itself, but does not continue the one
 * before, says that the one before was written anew.
 */
export function startChainCheck(): ChainCheck {
  const breaks = new Map<number, AuditBreak>();
  let checked = 0;
  let last: Link | null = null;
  const report = (at: number, found: AuditBreak): void => {
    if (breaks.size < storeLimits.auditBreaksMax || breaks.has(at)) breaks.set(at, found);
  };
  /** Of several rows that are gone, only what the rows around them say is known. */
  const reportMissing = (
    from: number,
    to: number,
    following: Pick<AuditRow, 'createdAt'> & {
      readonly prevHash: string;
    },
  ): void => {
    const createdAt = last?.createdAt ?? following.createdAt;
    for (let at = from; at <= to && breaks.size < storeLimits.auditBreaksMax; at++) {
      report(at, {
        rowId: auditRowId(at),
        createdAt,
        expectedPrevHash: at === from ? (last?.hash ?? genesisHash) : '',
        actualPrevHash: '',
        expectedRowHash: at === to ? following.prevHash : '',
        actualRowHash: '',
      });
    }
  };
  return {
    add: (row) => {
      checked++;
      const number = /^\d{1,16}$/.test(row.id) ? Number(row.id) : Number.NaN;
      const expected: number = (last?.number ?? 0) + 1;
      const link = { number, hash: row.hash, id: row.id, createdAt: row.createdAt };
      const sound = row.hash === hashUnlessUnreadable(row);
      if (number > expected) reportMissing(expected, number - 1, row);
      const continues = number !== expected || row.prevHash === (last?.hash ?? genesisHash);
      if (!sound || !(number >= expected) || (!continues && last === null)) {
        report(Number.isNaN(number) ? -checked : number, wrongRow(row, last));
      } else if (!continues && last !== null) report(last.number, rewritten(last, row.prevHash));
      if (number >= expected) last = link;
    },
    finish: (head) => {
      const lastNumber = last?.number ?? 0;
      const headNumber = Number(head?.id ?? 0);
      const end = { createdAt: '', prevHash: head?.hash ?? '' };
      if (headNumber > lastNumber) reportMissing(lastNumber + 1, headNumber, end);
      else if (last !== null && head?.hash !== last.hash) {
        report(lastNumber, rewritten(last, head?.hash ?? ''));
      }
      const found = [...breaks].sort(([left], [right]) => left - right).map(([, one]) => one);
      return { breaks: found, checked, lastHash: last?.hash ?? genesisHash };
    },
  };
}

/** A row that stands where its number belongs. */
interface Link {
  readonly number: number;
  readonly id: string;
  readonly hash: string;
  readonly createdAt: string;
}

function hashUnlessUnreadable(row: AuditRow): string {
  if (row.action === unreadableAction && row.prevHash === '') return '-';
  const { hash, ...content } = row;
  return hash === '' ? '-' : hashRow(content);
}

function wrongRow(row: AuditRow, last: Link | null): AuditBreak {
  return {
    rowId: row.id,
    createdAt: row.action === unreadableAction ? '' : row.createdAt,
    expectedPrevHash: last?.hash ?? genesisHash,
    actualPrevHash: row.prevHash,
    expectedRowHash: hashUnlessUnreadable(row),
    actualRowHash: row.hash,
  };
}

function rewritten(row: Link, expectedRowHash: string): AuditBreak {
  return {
    rowId: row.id,
    createdAt: row.createdAt,
    expectedPrevHash: '',
    actualPrevHash: '',
    expectedRowHash,
    actualRowHash: row.hash,
  };
}

/** Id of the row with a number, from 1. */
export function auditRowId(number: number): string {
  return String(number).padStart(16, '0');
}
