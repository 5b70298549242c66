/** Rulesets in the store: a record each, their files in a blob. Never parses a rule. */

import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { RuntimeRulesetSchema } from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { setupVersion } from '../../domain/policy/crs-setup.ts';
import type { RulesetRecord } from '../../domain/records.ts';
import { rulesets } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { toRuntimeRuleset, type BundleRuleset } from '../build-bundle.ts';
import type { ReadRuleset } from './ruleset-folder.ts';
import { pluginsOfRuleset } from './ruleset-plugins.ts';

/** A ruleset with its files; null for an unknown one. */
export function loadRuleset(
  store: ReadStore,
  id: string,
  loaded: Map<string, BundleRuleset> = new Map(),
): BundleRuleset | null {
  const known = loaded.get(id);
  if (known !== undefined) return known;
  const record = store.get(rulesets, id);
  const blob = record === undefined ? undefined : store.blob(record.blob);
  if (record === undefined || blob === undefined) return null;
  const { files, version } = fromBinary(RuntimeRulesetSchema, blob);
  const ruleset = { id: record.fingerprint ?? id, version, includes: record.includes, files };
  loaded.set(id, ruleset);
  return ruleset;
}

/** Keeps a ruleset that was read; the same content is kept once. */
export function storeRuleset(
  tx: WriteStore,
  read: ReadRuleset,
  record: Omit<RulesetRecord, 'blob' | 'includes' | 'fingerprint' | 'version'>,
): RulesetRecord {
  const blob = `ruleset-${read.fingerprint}`;
  const { fingerprint, version, includes, files } = read;
  const bytes = toBinary(
    RuntimeRulesetSchema,
    toRuntimeRuleset({ id: fingerprint, version, includes, files }),
  );
  tx.putBlob(blob, bytes);
  const stored: RulesetRecord = {
    ...record,
    id: record.id,
    version,
    fingerprint,
    includes,
    blob,
    ruleCount: read.ruleCount,
    ruleFileCount: includes.rules.length,
    pluginCount: pluginsOfRuleset(read).length,
    crsSetupVersion: setupVersion(version),
  };
  tx.put(rulesets, stored);
  return stored;
}
