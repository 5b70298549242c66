/** CrsService/ListCrsExclusionPlugins, GetCrsExclusionPlugin, ImportCrsExclusionPlugin. */

import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { RuntimeRulesetSchema } from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { CrsService } from '../../../proto/gen/waf/v1/crs_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import {
  groupPlugins,
  pluginFault,
  ruleIdsOf,
  switchOf,
} from '../../domain/policy/crs-plugin-files.ts';
import { readSlug, type ExclusionPluginRecord } from '../../domain/policy/exclusion-plugins.ts';
import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import { readPluginArchive } from '../../publish/rulesets/ruleset-archive.ts';
import type { RulesetFile } from '../../publish/rulesets/ruleset-folder.ts';
import { exclusionPlugins } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import { refuseUncompiledFiles } from '../policy-service/compile.ts';
import { keepNoted } from '../resource/owned.ts';
import { fetchRelease, pluginRepository } from './fetch-releases.ts';
import { allPlugins, findPlugin, pluginIdOf, showPlugin, slugOf } from './stored-plugin.ts';
import { textsAt } from './plugins.ts';

const pluginKind = {
  collection: exclusionPlugins,
  audit: 'crs_exclusion_plugin',
  nameOf: ({ slug }: ExclusionPluginRecord) => slug,
};

/** The plugins that the CRS project keeps, and what else was imported. */
export function listCrsExclusionPlugins(
  parts: Uses<'store'>,
): Method<typeof CrsService, 'listCrsExclusionPlugins'> {
  return () => ({ items: allPlugins(parts.store).map((one) => showPlugin(parts.store, one)) });
}

/** One plugin by id or slug. */
export function getCrsExclusionPlugin(
  parts: Uses<'store'>,
): Method<typeof CrsService, 'getCrsExclusionPlugin'> {
  return ({ idOrSlug }) => {
    const found = findPlugin(parts.store, requireText(idOrSlug, 'idOrSlug'));
    if (slugOf(found) === '') throw notFound('exclusion plugin', idOrSlug);
    return { plugin: showPlugin(parts.store, found) };
  };
}

/** Keeps a plugin's files after checking and compiling them; a newer import takes their place. */
export function importCrsExclusionPlugin(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof CrsService, 'importCrsExclusionPlugin'> {
  return async ({ idOrSlug, githubTag, archive }, context) => {
    const caller = callerOf(context);
    const found = findPlugin(parts.store, requireText(idOrSlug, 'idOrSlug'));
    const slug = slugOf(found) || readSlug(idOrSlug.replace(/^plugin-/, ''), 'idOrSlug');
    const release = githubTag !== '';
    const repository = release ? pluginRepository(parts.store, idOrSlug, 'githubTag') : '';
    const bytes = release ? await fetchRelease(parts.store, repository, githubTag) : archive;
    if (bytes.length === 0) throw invalidField('archive', 'is required, or a githubTag');
    const read = await readPlugin(parts, bytes, slug);
    const now = isoNow(parts.clock);
    await parts.store.write((tx) => {
      const before = tx.find(exclusionPlugins, 'slug', slug)[0];
      if (
        before === undefined &&
        tx.list(exclusionPlugins).length >= resourceLimits.exclusionPluginsMax
      ) {
        throw refusal('resource_exhausted', 'no more exclusion plugins can be kept');
      }
      const record: ExclusionPluginRecord = {
        ...read.record,
        id: pluginIdOf(slug),
        slug,
        source: release ? `github:${githubTag}` : 'uploaded',
        importedAt: now,
        createdAt: before?.createdAt ?? now,
        updatedAt: now,
      };
      tx.putBlob(record.blob, read.bytes);
      if (before !== undefined && before.blob !== record.blob) tx.removeBlob(before.blob);
      const { sourceVersion, blob } = record;
      keepNoted(tx, caller, pluginKind, record, 'import', { after: { slug, sourceVersion, blob } });
    });
    return { plugin: showPlugin(parts.store, findPlugin(parts.store, slug)) };
  };
}

interface ReadPlugin {
  readonly bytes: Uint8Array;
  readonly record: Pick<
    ExclusionPluginRecord,
    'blob' | 'ruleIds' | 'txVariable' | 'sourceVersion' | 'artifactPath'
  >;
}

async function readPlugin(
  parts: Uses<'logger' | 'engine'>,
  archive: Uint8Array,
  slug: string,
): Promise<ReadPlugin> {
  const files = filesOf(archive, `plugins/${slug}`);
  const confs = textsAt(files, /\.conf$/);
  const groups = groupPlugins(files.map(({ path }) => path));
  const loose = confs.filter(({ path }) => !groups.some(({ all }) => all.includes(path)));
  if (groups.length === 0 || loose.length > 0) {
    throw invalidField(
      'archive',
      'must hold files named *-config.conf, *-before.conf, *-after.conf',
    );
  }
  const fault = pluginFault(confs);
  if (fault !== null) throw invalidField('archive', fault);
  await refuseUncompiledFiles(parts, slug, groups, files, 'archive');
  const text = confs.map((one) => one.text).join('\n');
  const bytes = toBinary(
    RuntimeRulesetSchema,
    create(RuntimeRulesetSchema, { id: slug, version: '', files: [...files] }),
  );
  const digest = createHash('sha256').update(bytes).digest('hex');
  const stated = /\bver:'([^']{1,64})'/.exec(text)?.[1] ?? '';
  return {
    bytes,
    record: {
      blob: `plugin-${digest}`,
      ruleIds: ruleIdsOf(confs),
      txVariable: switchOf(confs),
      sourceVersion: stated.slice(stated.lastIndexOf('/') + 1),
      artifactPath: `plugins/${slug}`,
    },
  };
}

function filesOf(archive: Uint8Array, folder: string): RulesetFile[] {
  try {
    const files = readPluginArchive(archive, folder);
    if (files.every(({ content }) => content.length <= resourceLimits.rulesetFileBytesMax))
      return files;
  } catch (error) {
    if (error instanceof AppError) throw invalidField('archive', error.message);
    throw error;
  }
  throw invalidField(
    'archive',
    `has a file larger than ${resourceLimits.rulesetFileBytesMax} bytes`,
  );
}
