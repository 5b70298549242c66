/** SystemService/ImportCrsRuleset and DeleteCrsRuleset. */

import { CrsRulesetSchema } from '../../../proto/gen/waf/v1/crs_pb.ts';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { crsRepository } from '../../domain/policy/crs-releases.ts';
import { invalidField } from '../../domain/errors.ts';
import type { RulesetRecord } from '../../domain/records.ts';
import { toRuntimePolicy, toRuntimeRuleset } from '../../publish/build-bundle.ts';
import { storeRuleset } from '../../publish/rulesets/stored-rulesets.ts';
import { readRulesetArchive } from '../../publish/rulesets/ruleset-archive.ts';
import type { ReadRuleset } from '../../publish/rulesets/ruleset-folder.ts';
import { policies, rulesets } from '../../store/collections.ts';
import { fetchArchive, fetchRelease } from '../crs-service/fetch-releases.ts';
import { storedRuleset } from '../crs-service/ruleset-rules.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { noteOf, type Kept } from '../resource/owned.ts';
import { refuseSent } from '../policy-service/compile.ts';
import { refuseInUse } from '../policy-service/stored-policy.ts';

const rulesetKind: Kept<RulesetRecord> = {
  collection: rulesets,
  audit: 'crs_ruleset',
  nameOf: ({ version }) => version,
};

/** Keeps an uploaded ruleset; the same content is kept once. */
export function importCrsRuleset(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof SystemService, 'importCrsRuleset'> {
  return async ({ archive, sourceUrl, githubTag }, context) => {
    const caller = callerOf(context);
    const bytes = await archiveOf(parts, archive, sourceUrl, githubTag);
    const read = readUpload(bytes);
    await refuseBroken(parts, read);
    const now = isoNow(parts.clock);
    const stored = await parts.store.write((tx) => {
      const same = tx.list(rulesets).find((one) => one.fingerprint === read.fingerprint);
      if (same !== undefined) return same;
      const id = `crs-${read.version || 'custom'}-${read.fingerprint.slice(0, 8)}`;
      const record = storeRuleset(tx, read, {
        id,
        source: 'uploaded',
        status: 'available',
        ingestedAt: now,
      });
      const after = { version: read.version, fingerprint: read.fingerprint };
      tx.audit({ ...noteOf(caller, rulesetKind, record), action: 'import', after });
      return record;
    });
    return { ruleset: toMessage(CrsRulesetSchema, stored) };
  };
}

/** Removes a ruleset that no policy uses. */
export function deleteCrsRuleset(
  parts: Uses<'store'>,
): Method<typeof SystemService, 'deleteCrsRuleset'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    await parts.store.write((tx) => {
      const before = storedRuleset(tx, id, 'id');
      const users = tx.list(policies).filter((policy) => policy.crsRulesetId === before.id);
      refuseInUse('id', 'policies', users);
      tx.remove(rulesets, before.id);
      if (!tx.list(rulesets).some((one) => one.blob === before.blob)) tx.removeBlob(before.blob);
      tx.audit({ ...noteOf(caller, rulesetKind, before), action: 'delete' });
    });
    return { result: { id, changed: true } };
  };
}

/** The archive that a call means: a release, a URL, or the one it carries. */
async function archiveOf(
  { store }: Uses<'store'>,
  archive: Uint8Array,
  sourceUrl: string,
  githubTag: string,
): Promise<Uint8Array> {
  if (githubTag !== '') return fetchRelease(store, crsRepository, githubTag);
  if (sourceUrl !== '') return fetchArchive(store, sourceUrl, 'sourceUrl');
  if (archive.length > 0) return archive;
  throw invalidField('archive', 'is required, or a sourceUrl or githubTag');
}

function readUpload(archive: Uint8Array): ReadRuleset {
  try {
    return readRulesetArchive(archive);
  } catch (error) {
    if (error instanceof AppError) throw invalidField('archive', error.message);
    throw error;
  }
}

/** Errors: invalid_argument with the first faults when its rules do not compile together. */
async function refuseBroken(parts: Uses<'logger' | 'engine'>, read: ReadRuleset): Promise<void> {
  const { fingerprint: id, version, includes, files } = read;
  const ruleset = { id, version, includes, files };
  const policy = { name: 'import', crsRulesetId: id };
  const rendered = { id: `import-${id}`, revision: '1', policy, ruleset };
  const sent = { policy: toRuntimePolicy(rendered), ruleset: toRuntimeRuleset(ruleset) };
  await refuseSent(parts, sent, 'archive', 0, 'tryRuleset');
}
