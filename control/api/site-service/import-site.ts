/**
 * SiteService/ImportSite: a site from its portable form, with its pools, routes, override and
 * certificate, in one transaction. What the target already has just so is used again.
 */

import { randomUUID } from 'node:crypto';
import {
  SiteConfigurationSchema,
  SiteSchema,
  type SiteConfigurationJson,
  type SiteJson,
  type SiteService,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { checkCertificate, type CheckedCertificate } from '../../domain/site/certificates.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkName } from '../../domain/names.ts';
import type { SiteRecord, UpstreamRecord } from '../../domain/records.ts';
import {
  checkConfiguration,
  routingWithPools,
  samePool,
  withPools,
} from '../../domain/site/site-configuration.ts';
import { checkRouting } from '../../domain/site/site-routing.ts';
import { checkSite } from '../../domain/site/site.ts';
import { keepPoolSecrets, keepSiteSecrets } from '../../domain/site/header-secrets.ts';
import { checkUpstream } from '../../domain/site/upstream.ts';
import { siteOverrides, siteRoutings } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { keepCertificate, sameCertificate } from '../cert-service/keep-certificate.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep, ownedBy } from '../resource/owned.ts';
import { rethrownAt } from '../rethrown-at.ts';
import { withSiteDefaults } from './create-site.ts';
import { checkOverrideRanges } from './policy-override.ts';
import { upstreamKind } from '../upstream-service/upstream.ts';
import { newSiteRecord, siteKind } from './stored-site.ts';
import { surroundingsIn } from './surroundings.ts';

const at = 'configuration';

/** What one import works with. */
interface Import {
  readonly tx: WriteStore;
  readonly caller: Caller;
  readonly configuration: SiteConfigurationJson;
  readonly certificate: CheckedCertificate | null;
  readonly nowMs: number;
  /** RFC 3339. */
  readonly now: string;
  readonly warnings: string[];
}

/** What an import did. */
interface Imported {
  readonly site: SiteRecord;
  readonly upstreamsCreated: number;
  readonly certificateImported: boolean;
  readonly warnings: readonly string[];
}

/** Creates a site from an exported configuration. */
export function importSite(
  parts: Uses<'store' | 'clock'>,
): Method<typeof SiteService, 'importSite'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.configuration === undefined) throw invalidField(at, 'is required');
    const configuration = toRecord<SiteConfigurationJson>(
      SiteConfigurationSchema,
      request.configuration,
    );
    checkConfiguration(configuration);
    const nowMs = parts.clock.nowMs();
    const certificate = readCertificate(configuration, nowMs);
    const imported = await parts.store.write((tx) =>
      importInto({
        tx,
        caller,
        configuration,
        certificate,
        nowMs,
        now: isoNow(parts.clock),
        warnings: [],
      }),
    );
    return {
      site: toMessage(SiteSchema, imported.site),
      upstreamsCreated: imported.upstreamsCreated,
      certificateImported: imported.certificateImported,
      warnings: [...imported.warnings],
    };
  };
}

function importInto(work: Import): Imported {
  const { tx, caller, configuration, nowMs, now, warnings } = work;
  const [pools, upstreamsCreated] = importPools(work);
  const [certId, certificateImported] = importCertificate(work);
  const asked = withCertificate(withPools(configuration.site ?? {}, pools), certId);
  const around = surroundingsIn(tx, caller.tenantId, nowMs);
  const checked = rethrownAt(at, () =>
    checkSite(withSiteDefaults(keepSiteSecrets(asked, null)), around),
  );
  const site = newSiteRecord(checked, caller.tenantId, now);
  importRouting(work, site, pools);
  importOverride(work, site);
  if (certificateImported && configuration.certificate?.managed === true) {
    warnings.push('the certificate was managed at the source; here it is kept as uploaded');
  }
  keep(tx, caller, siteKind, null, site, { action: 'import' });
  return { site, upstreamsCreated, certificateImported, warnings };
}

/** The target's id for each pool of the configuration. Pools that are the same are shared. */
function importPools(work: Import): [Map<string, string>, number] {
  const { tx, caller, configuration, now } = work;
  const known = ownedBy(tx, caller, upstreamKind);
  const ids = new Map<string, string>();
  let created = 0;
  (configuration.upstreams ?? []).forEach((asked, index) => {
    const field = `${at}.upstreams[${index}]`;
    const same = known.find((pool) => pool.name === asked.name?.trim());
    const checked = rethrownAt(
      field,
      () => checkUpstream(keepPoolSecrets(asked, same ?? null)),
      'upstream.',
    );
    if (same !== undefined) {
      if (!samePool(same, checked)) {
        throw refusal('already_exists', `${field}.name: another pool has it, with other settings`);
      }
      ids.set(asked.id ?? '', same.id);
      return;
    }
    const { deletedAt: _deletedAt, ...rest } = checked;
    const record: UpstreamRecord = {
      ...rest,
      id: `upstream-${randomUUID()}`,
      tenantId: caller.tenantId,
      name: checked.name ?? '',
      createdAt: now,
      updatedAt: now,
    };
    known.push(keep(tx, caller, upstreamKind, null, record, { action: 'import' }));
    ids.set(asked.id ?? '', record.id);
    created++;
  });
  return [ids, created];
}

/** Id of the certificate at the target ('' for none), and whether it is new there. */
function importCertificate(work: Import): [string, boolean] {
  const { tx, caller, certificate, configuration, now } = work;
  if (certificate === null) return ['', false];
  const same = sameCertificate(tx, caller, certificate.fingerprintSha256);
  if (same !== undefined) return [same.id, false];
  const nameField = `${at}.certificate.name`;
  const name = checkName(configuration.certificate?.name ?? '', nameField);
  const kept = keepCertificate(tx, caller, certificate, { name, nameField, managed: false, now });
  return [kept.id, true];
}

function readCertificate(
  { certificate }: SiteConfigurationJson,
  nowMs: number,
): CheckedCertificate | null {
  if (certificate === undefined) return null;
  const text = (base64: string | undefined): string =>
    Buffer.from(base64 ?? '', 'base64').toString();
  const texts = {
    certPem: text(certificate.certPem),
    keyPem: text(certificate.keyPem),
    chainPem: certificate.chainPem ?? [],
  };
  return checkCertificate(texts, nowMs, `${at}.certificate.`);
}

/** The site with the certificate of the target; a name of the source means nothing here. */
function withCertificate(site: SiteJson, certId: string): SiteJson {
  if (site.tls === undefined) return site;
  const { certId: _certId, ...tls } = site.tls;
  return { ...site, tls: certId === '' ? tls : { ...tls, certId } };
}

function importRouting(work: Import, site: SiteRecord, pools: ReadonlyMap<string, string>): void {
  const { tx, caller, configuration, nowMs } = work;
  if (configuration.routing === undefined) return;
  const around = surroundingsIn(tx, caller.tenantId, nowMs);
  const asked = routingWithPools(configuration.routing, pools);
  const routing = rethrownAt(at, () =>
    checkRouting(asked, {
      site,
      upstreamExists: around.upstreamExists,
      upstreamActive: around.upstreamActive,
      newId: () => `route-${randomUUID()}`,
    }),
  );
  tx.put(siteRoutings, { id: site.id, routing });
}

function importOverride(work: Import, site: SiteRecord): void {
  const { tx, caller, configuration, now } = work;
  const asked = configuration.policyOverride;
  if (asked === undefined) return;
  rethrownAt(`${at}.policyOverride`, () => checkOverrideRanges(asked), 'override.');
  tx.put(siteOverrides, {
    ...asked,
    id: site.id,
    siteId: site.id,
    tenantId: caller.tenantId,
    policyId: site.waf?.policyId ?? '',
    createdAt: now,
    updatedAt: now,
  });
}
