/** SystemService/ImportCrsRuleset and DeleteCrsRuleset. */

import { CrsRulesetSchema } from '../../../proto/gen/waf/v1/crs_pb.ts';
import type {
  ImportCrsRulesetRequest,
  SystemService,
} from '../../../proto/gen/waf/v1/system_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { crsRepository, signingKeysOf } from '../../domain/policy/crs-releases.ts';
import { invalidField } from '../../domain/errors.ts';
import type { RulesetRecord } from '../../domain/records.ts';
import { toRuntimePolicy, toRuntimeRuleset } from '../../publish/build-bundle.ts';
import { storeRuleset } from '../../publish/rulesets/stored-rulesets.ts';
import { verifyDetached } from '../../publish/rulesets/openpgp.ts';
import { readRulesetArchive } from '../../publish/rulesets/ruleset-archive.ts';
import type { ReadRuleset } from '../../publish/rulesets/ruleset-folder.ts';
import {
  policies,
  rulesets,
  settingsId,
  shadowRuns,
  systemSettings,
} from '../../store/collections.ts';
import { fetchArchive, fetchFromMirror, fetchRelease } from '../crs-service/fetch-releases.ts';
import { storedRuleset } from '../crs-service/ruleset-rules.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { keepNoted, noteAction, type Kept } from '../resource/owned.ts';
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
  return async (request, context) => {
    const caller = callerOf(context);
    const { archive, signedBy } = await verifiedArchive(parts, request);
    const read = readUpload(archive);
    await refuseBroken(parts, read);
    const now = isoNow(parts.clock);
    const stored = await parts.store.write((tx) => {
      const same = tx.list(rulesets).find((one) => one.fingerprint === read.fingerprint);
      if (same !== undefined && (signedBy === '' || same.signedBy === signedBy)) return same;
      const note = { version: read.version, fingerprint: read.fingerprint, signedBy };
      if (same !== undefined) {
        // The same content was kept without a signature, or with that of another key.
        const signed = { ...same, signedBy };
        return keepNoted(tx, caller, rulesetKind, signed, 'verify', { after: note });
      }
      const id = `crs-${read.version || 'custom'}-${read.fingerprint.slice(0, 8)}`;
      const record = storeRuleset(tx, read, {
        id,
        source: 'uploaded',
        status: 'available',
        ingestedAt: now,
        ...(signedBy !== '' && { signedBy }),
      });
      noteAction(tx, caller, rulesetKind, record, 'import', { after: note });
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
      const runs = tx.list(shadowRuns).filter((run) => run.crsRulesetId === id && !run.stopped);
      refuseInUse('id', 'shadow runs of policies', runs);
      tx.remove(rulesets, before.id);
      if (!tx.list(rulesets).some((one) => one.blob === before.blob)) tx.removeBlob(before.blob);
      noteAction(tx, caller, rulesetKind, before, 'delete');
    });
    return { result: { id, changed: true } };
  };
}

/** The archive with its signer; '' where no signature came with it. Errors: of a wrong one. */
async function verifiedArchive(
  parts: Uses<'store' | 'clock'>,
  request: ImportCrsRulesetRequest,
): Promise<{ archive: Uint8Array; signedBy: string }> {
  const { archive, sourceUrl, githubTag, signature, publicKey, mirrorRelease } = request;
  const fromMirror = mirrorRelease !== '';
  if (fromMirror && (archive.length > 0 || sourceUrl !== '' || githubTag !== '')) {
    throw invalidField('mirrorRelease', 'excludes archive, sourceUrl and githubTag');
  }
  if (fromMirror && signature.length + publicKey.length > 0) {
    throw invalidField('mirrorRelease', 'excludes signature and publicKey: the mirror has them');
  }
  if (!fromMirror && signature.length + publicKey.length === 0) {
    return { archive: await archiveOf(parts, archive, sourceUrl, githubTag), signedBy: '' };
  }
  if (!fromMirror && publicKey.length === 0) throw invalidField('publicKey', 'is required here');
  if (!fromMirror && signature.length === 0) throw invalidField('signature', 'is required here');
  const release = fromMirror
    ? await fetchFromMirror(parts.store, mirrorRelease)
    : { archive: await archiveOf(parts, archive, sourceUrl, githubTag), signature, publicKey };
  const trusted = signingKeysOf(parts.store.get(systemSettings, settingsId)?.values ?? {});
  const nowMs = parts.clock.nowMs();
  const by = verifyDetached(release.archive, release.signature, release.publicKey, trusted, nowMs);
  return { archive: release.archive, signedBy: by };
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
