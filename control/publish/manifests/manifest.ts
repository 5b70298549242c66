/**
 * Manifests: YAML documents of kind Upstream, Site and Policy, and the bundle made of them without
 * a controller. Errors name the document and the field; nothing unknown is passed over.
 */

import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { toBinary } from '@bufbuild/protobuf';
import { SignedRuntimeBundleSchema } from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { SiteJson } from '../../../proto/gen/waf/v1/site_pb.ts';
import { checkPolicy } from '../../domain/policy/policy.ts';
import { checkEndpoint, checkSite, hostsOf } from '../../domain/site/site.ts';
import {
  buildBundle,
  type BundlePolicy,
  type BundleRuleset,
  type BundleSite,
  type BundleUpstream,
} from '../build-bundle.ts';
import { readPolicySettings } from './manifest-policy.ts';
import { manifestKinds, readManifest, type ManifestDocument } from './manifest-documents.ts';
import {
  choice,
  invalid,
  known,
  list,
  object,
  rethrown,
  text,
  type Spec,
} from './manifest-fields.ts';
import {
  builtInCrsFolder,
  readRulesetFolder,
  type RulesetFile,
} from '../rulesets/ruleset-folder.ts';
import { generateKeyPem, readSigningKey, signBundle, type SigningKey } from '../signing.ts';

/** A bundle made of a manifest, and what it holds. */
export interface BuiltBundle {
  /** Encoded SignedRuntimeBundle. */
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly sites: number;
  readonly policies: number;
  readonly warnings: readonly string[];
}

/** What a caller may fix, for reproducible bundles. */
export interface BuildOptions {
  /** Names the text in messages. */
  readonly file?: string;
  /** Default: a key made for this bundle. */
  readonly key?: SigningKey;
  readonly createdAtMs?: number;
}

/**
 * Builds the artifact that control would publish. Paths in the manifest are relative to `baseDir`.
 * Errors: AppError manifest_invalid and those of reading rulesets.
 */
export function buildBundleFromManifest(
  text: string,
  baseDir: string,
  options: BuildOptions = {},
): BuiltBundle {
  const documents = readManifest(text, options.file);
  const warnings: string[] = [];
  const upstreams = documents.filter(({ kind }) => kind === 'Upstream').map(readUpstream);
  const rulesets = new Map<string, BundleRuleset>();
  const policies = documents
    .filter(({ kind }) => kind === 'Policy')
    .map((document) => readPolicy(document, baseDir, rulesets));
  const sites: BundleSite[] = [];
  for (const document of documents.filter(({ kind }) => kind === 'Site')) {
    sites.push(readSite(document, upstreams, policies, sites));
  }
  for (const unused of manifestKinds) {
    if (['Upstream', 'Policy', 'Site'].includes(unused)) continue;
    if (!documents.some(({ kind }) => kind === unused)) continue;
    warnings.push(`${unused} documents are for waf apply: a bundle made of a file holds none`);
  }
  if (sites.length === 0) warnings.push('the manifest has no Site: the bundle serves nothing');
  const createdAtMs = options.createdAtMs ?? Date.now();
  const bundle = buildBundle({
    id: 'manifest',
    revision: '1',
    createdAtMs,
    sites,
    policies,
    upstreams,
    responsesJson: '',
  });
  const signed = signBundle(bundle, options.key ?? readSigningKey(generateKeyPem()));
  return {
    bytes: toBinary(SignedRuntimeBundleSchema, signed),
    sha256: signed.sha256,
    sites: bundle.sites.length,
    policies: bundle.policies.length,
    warnings,
  };
}

function readUpstream({ id, spec, where }: ManifestDocument): BundleUpstream {
  known(spec, ['endpoints', 'algorithm', 'description'], where, 'spec.');
  const algorithm = text(spec, 'algorithm', where, 'spec.');
  if (algorithm !== '' && algorithm !== 'round_robin') {
    throw invalid(where, 'spec.algorithm: only round_robin is known');
  }
  const endpoints = readEndpoints(spec, 'endpoints', where);
  if (endpoints.length === 0) throw invalid(where, 'spec.endpoints: needs at least one entry');
  return { id, endpoints };
}

function readEndpoints(
  spec: Spec,
  field: string,
  where: string,
): { url: string; weight: number }[] {
  return list(spec, field, where, 'spec.').map((one, at) => {
    const path = `spec.${field}[${at}]`;
    const endpoint = object(one, where, path);
    known(endpoint, ['url', 'weight'], where, `${path}.`);
    const weight = endpoint['weight'] ?? 1;
    if (typeof weight !== 'number') throw invalid(where, `${path}.weight: must be a number`);
    const read = { url: text(endpoint, 'url', where, `${path}.`), weight };
    rethrown(where, () => checkEndpoint(read, path));
    return read;
  });
}

function readSite(
  document: ManifestDocument,
  upstreams: readonly BundleUpstream[],
  policies: readonly BundlePolicy[],
  others: readonly BundleSite[],
): BundleSite {
  const { spec, where, id, name } = document;
  const fields = [
    'primaryHost',
    'aliases',
    'upstreamRef',
    'upstreams',
    'policyRef',
    'waf',
    'status',
  ];
  known(spec, fields, where, 'spec.');
  const waf = object(spec['waf'] ?? {}, where, 'spec.waf');
  known(waf, ['enabled', 'mode', 'failPolicy'], where, 'spec.waf.');
  const mode = choice(waf, 'mode', ['blocking', 'detection'], where, 'spec.waf.');
  const failPolicy = choice(waf, 'failPolicy', ['closed', 'open'], where, 'spec.waf.');
  const policyId = text(spec, 'policyRef', where, 'spec.');
  const enabled = waf['enabled'] ?? policyId !== '';
  if (enabled === true && !policies.some((policy) => policy.id === policyId)) {
    throw invalid(where, 'spec.policyRef: names no Policy of this manifest');
  }
  const upstreamRef = text(spec, 'upstreamRef', where, 'spec.');
  const inline = readEndpoints(spec, 'upstreams', where);
  const site: SiteJson = {
    id,
    name,
    primaryHost: text(spec, 'primaryHost', where, 'spec.'),
    aliases: list(spec, 'aliases', where, 'spec.').map(String),
    upstreams:
      upstreamRef === ''
        ? inline.map((endpoint) => ({ inline: endpoint }))
        : [{ upstreamId: upstreamRef }],
    waf: {
      enabled: enabled === true,
      mode: `WAF_MODE_${mode.toUpperCase()}` as 'WAF_MODE_BLOCKING',
    },
  };
  if ((site.upstreams ?? []).length === 0) {
    throw invalid(where, 'spec: needs upstreamRef or upstreams');
  }
  const earlier = others.map((other) => other.site);
  const checked = rethrown(where, () =>
    checkSite(site, {
      sitesNamed: (given) => earlier.filter((other) => other.name === given),
      sitesOfHost: (host) => earlier.filter((other) => hostsOf(other).includes(host)),
      upstreamExists: (ref) => upstreams.some((upstream) => upstream.id === ref),
      policyExists: () => true,
    }),
  );
  return {
    site: { ...checked, id, name, primaryHost: checked.primaryHost ?? '' },
    policyId: enabled === true ? policyId : '',
    failOpen: failPolicy === 'open',
  };
}

const policyFields = [
  'ruleset',
  'crsRulesetRef',
  'template',
  'description',
  'status',
  'engineState',
  'blockingMode',
  'crsCore',
  'httpPolicy',
  'argLimits',
  'seclang',
  'seclangBefore',
  'seclangFiles',
  'files',
];

function readPolicy(
  document: ManifestDocument,
  baseDir: string,
  rulesets: Map<string, BundleRuleset>,
): BundlePolicy {
  const { spec, where, id, name } = document;
  known(spec, policyFields, where, 'spec.');
  const policy = readPolicySettings(document, name);
  rethrown(where, () => checkPolicy(policy, 'spec'));
  const rulesetFolder = rulesetFolderOf(spec, where, baseDir);
  const ruleset = rulesetFolder === '' ? null : readRulesetOnce(rulesetFolder, rulesets);
  const files: RulesetFile[] = [];
  const includes: string[] = [];
  for (const field of ['seclangFiles', 'files']) {
    list(spec, field, where, 'spec.').forEach((entry, at) => {
      const file = readLocalFile(String(entry), baseDir, where, `spec.${field}[${at}]`);
      files.push(file);
      if (field === 'seclangFiles') includes.push(`Include ${file.path}`);
    });
  }
  const afterCrs = [...includes, text(spec, 'seclang', where, 'spec.')].join('\n');
  const beforeCrs = text(spec, 'seclangBefore', where, 'spec.');
  return { id, revision: '1', policy, ruleset, added: { beforeCrs, afterCrs }, files };
}

function rulesetFolderOf(spec: Spec, where: string, baseDir: string): string {
  const ref = text(spec, 'crsRulesetRef', where, 'spec.');
  if (spec['ruleset'] === undefined) {
    if (ref === '') return '';
    if (ref === 'crs-3.3.4' || ref === 'default') return builtInCrsFolder;
    throw invalid(where, 'spec.crsRulesetRef: must be crs-3.3.4; name others by ruleset.path');
  }
  if (ref !== '') throw invalid(where, 'spec.ruleset: excludes crsRulesetRef');
  const ruleset = object(spec['ruleset'], where, 'spec.ruleset');
  known(ruleset, ['path'], where, 'spec.ruleset.');
  const path = text(ruleset, 'path', where, 'spec.ruleset.');
  if (path === '') throw invalid(where, 'spec.ruleset.path: is required');
  return resolve(baseDir, path);
}

function readRulesetOnce(folder: string, rulesets: Map<string, BundleRuleset>): BundleRuleset {
  const known = rulesets.get(folder);
  if (known !== undefined) return known;
  const { fingerprint, version, includes, files } = readRulesetFolder(folder);
  const ruleset = { id: fingerprint, version, includes, files };
  rulesets.set(folder, ruleset);
  return ruleset;
}

function readLocalFile(path: string, baseDir: string, where: string, field: string): RulesetFile {
  try {
    const content = new Uint8Array(readFileSync(resolve(baseDir, path)));
    return { path: `local/${basename(path)}`, content };
  } catch {
    throw invalid(where, `${field}: the file cannot be read`);
  }
}
