/** The checks of the store: it opens, its chain ends where it should, the clock fits it. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../../base/errors.ts';
import { doctorLimits } from '../../../limits/command-limits.ts';
import type { KvReader } from '../../../store/kv.ts';
import { judgeCertificate } from './data-folder.ts';
import { error, note, ok, type Check, type Finding, type Patient } from './finding.ts';

const repair = 'restore a backup with waf admin restore';

/** Everything that reading the store tells. */
export const storeCheck: Check = {
  name: 'store',
  look: async (patient) => {
    const folder = join(patient.context.options.data, 'control');
    if (!existsSync(join(folder, 'data.mdb'))) {
      return [note('store', 'there is none yet: the first start makes it')];
    }
    const { openLmdbKv } = await import('../../../store/lmdb-kv.ts');
    let kv: ReturnType<typeof openLmdbKv>;
    try {
      kv = openLmdbKv({ folder, durable: true, readOnly: true });
    } catch (thrown) {
      return [error('store', sentence(thrown), repair)];
    }
    const snapshot = kv.snapshot();
    try {
      return await readStore(snapshot, patient);
    } finally {
      snapshot.close();
      await kv.close();
    }
  },
};

async function readStore(kv: KvReader, patient: Patient): Promise<Finding[]> {
  const { readSchema, schemaVersion } = await import('../../../store/migrations.ts');
  const { reading } = await import('../../../store/reading.ts');
  const { certificates } = await import('../../../store/collections.ts');
  let schema: number | null;
  try {
    schema = readSchema(kv);
  } catch (thrown) {
    return [error('store', sentence(thrown), repair)];
  }
  const store = reading(kv);
  const findings = [
    schema === null || schema < schemaVersion
      ? note('store', `layout ${schema ?? 0}; the next start brings it to ${schemaVersion}`)
      : ok('store', `layout ${schema}`),
  ];
  const [last] = store.auditRows({ reverse: true });
  findings.push(judgeChainEnd(store.auditHead(), last ?? null));
  findings.push(judgeClock(patient.nowMs, last?.createdAt ?? ''));
  for (const { name = '', id, notAfter = '' } of store.walk(certificates)) {
    const action = 'renew it, or upload another: waf cert';
    const subject = name === '' ? id : name;
    const found = judgeCertificate(
      'certificate',
      subject,
      Date.parse(notAfter),
      patient.nowMs,
      action,
    );
    if (found.severity !== 'ok') findings.push(found);
  }
  if (patient.deep) findings.push(await verifyAll(kv));
  return findings;
}

/** The last row is the one that the head names; the whole chain is for `--deep`. */
export function judgeChainEnd(
  head: { readonly id: string; readonly hash: string } | null,
  last: { readonly id: string; readonly hash: string } | null,
): Finding {
  if (head?.id === last?.id && head?.hash === last?.hash) {
    return ok('audit chain', last === null ? 'empty' : `ends at row ${Number(last.id)}`);
  }
  const action = `run waf admin verify, which names the rows; ${repair}`;
  return error('audit chain', 'its end is not the row that was written last', action);
}

/** A clock before the last write was turned back: expiry of sessions and certificates is wrong. */
export function judgeClock(nowMs: number, lastWriteAt: string): Finding {
  const last = Date.parse(lastWriteAt);
  const action = 'set the clock, and keep it with a time service';
  const now = new Date(nowMs).toISOString();
  if (nowMs < Date.UTC(2024, 0)) return error('clock', `it says ${now}`, action);
  if (!Number.isNaN(last) && last - nowMs > doctorLimits.clockBehindMs) {
    return error('clock', `it says ${now}, but the store was written at ${lastWriteAt}`, action);
  }
  return ok('clock', now);
}

async function verifyAll(kv: KvReader): Promise<Finding> {
  const { verifyStore } = await import('../../../store/verify.ts');
  const { collections } = await import('../../../store/collection-list.ts');
  const { problemCount, auditRows } = verifyStore(kv, collections);
  if (problemCount === 0) return ok('store contents', `whole, ${auditRows} audit rows`);
  const action = `run waf admin verify, which names them; ${repair}`;
  return error('store contents', `${problemCount} problems`, action);
}

function sentence(thrown: unknown): string {
  return thrown instanceof AppError ? thrown.message : 'it cannot be opened';
}
