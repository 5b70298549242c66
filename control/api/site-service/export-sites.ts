/** SiteService/ExportSite and ExportSites; what they hand out holds keys and is audited. */

import { poolsOf } from '../../domain/site/site-routing.ts';
import {
  SiteConfigurationSchema,
  type SiteConfigurationJson,
  type SiteService,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { SiteRecord } from '../../domain/records.ts';
import {
  archiveKind,
  configurationApiVersion,
  fileNameOf,
  toConfiguration,
} from '../../domain/site/site-configuration.ts';
import {
  certificateKeys,
  certificates,
  siteOverrides,
  siteRoutings,
  upstreams,
} from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { listed, noteAction } from '../resource/owned.ts';
import { siteKind, storedSite } from './stored-site.ts';

/** One site with all it needs. */
export function exportSite(parts: Uses<'store'>): Method<typeof SiteService, 'exportSite'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    const [configuration, name] = await parts.store.write((tx) => {
      const site = storedSite(tx, caller, id, 'id');
      noteExport(tx, caller, site);
      return [configurationOf(tx, site), site.name] as const;
    });
    return {
      configuration: toMessage(SiteConfigurationSchema, configuration),
      filename: fileNameOf(name),
    };
  };
}

/** All sites of the caller's tenant, by name. */
export function exportSites(parts: Uses<'store'>): Method<typeof SiteService, 'exportSites'> {
  return async (_request, context) => {
    const caller = callerOf(context);
    const configurations = await parts.store.write((tx) =>
      listed(tx, caller, siteKind).map((site) => {
        noteExport(tx, caller, site);
        return configurationOf(tx, site);
      }),
    );
    return {
      archive: {
        apiVersion: configurationApiVersion,
        kind: archiveKind,
        configurations: configurations.map((one) => toMessage(SiteConfigurationSchema, one)),
        containsSecrets: configurations.some((one) => one.containsSecrets === true),
      },
      filename: 'sites.json',
    };
  };
}

function configurationOf(store: ReadStore, site: SiteRecord): SiteConfigurationJson {
  const routing = store.get(siteRoutings, site.id)?.routing;
  const ids = new Set([
    ...(site.upstreams ?? []).map((one) => one.upstreamId ?? ''),
    ...poolsOf(routing),
  ]);
  return toConfiguration({
    site,
    routing,
    override: store.get(siteOverrides, site.id),
    upstreams: [...ids].sort().flatMap((id) => store.get(upstreams, id) ?? []),
    certificate: certificateOf(store, site.tls?.certId ?? ''),
  });
}

function certificateOf(
  store: ReadStore,
  id: string,
): SiteConfigurationJson['certificate'] | undefined {
  const found = id === '' ? undefined : store.get(certificates, id);
  if (found === undefined) return undefined;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return {
    sourceId: found.id,
    name: found.name,
    certPem: base64(found.certPem),
    keyPem: base64(store.get(certificateKeys, id)?.keyPem ?? ''),
    chainPem: [...found.chainPem],
    managed: found.managed === true,
  };
}

function noteExport(tx: WriteStore, caller: Caller, site: SiteRecord): void {
  noteAction(tx, caller, siteKind, site, 'export');
}
