/**
 * SiteService/ImportSite: a site from its portable form, with its pools, routes, override and
 * certificate, in one transaction. What the target already has just so is used again.
 */

import {
  SiteConfigurationSchema,
  SiteSchema,
  type SiteConfigurationJson,
  type SiteJson,
  type SiteService,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { checkCertificate, type CheckedCertificate } from '../../domain/site/certificates.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkName } from '../../domain/names.ts';
import type { SiteRecord } from '../../domain/records.ts';
import {
  checkConfiguration,
  routingWithPools,
  samePool,
  withPools,
} from '../../domain/site/site-configuration.ts';
import { keepPoolSecrets } from '../../domain/site/header-secrets.ts';
import { checkUpstream } from '../../domain/site/upstream.ts';
import { certificateKind, sameCertificate } from '../cert-service/certificate.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { ownedBy } from '../resource/owned.ts';
import type { Change } from '../resource/resource.ts';
import { createIn } from '../resource/serve.ts';
import { rethrownAt } from '../rethrown-at.ts';
import { upstreamKind } from '../upstream-service/upstream.ts';
import { checkOverrideRanges } from './policy-override.ts';
import { siteResource } from './site.ts';

const at = 'configuration';

/** What one import works with. */
interface Import {
  readonly change: Change;
  readonly configuration: SiteConfigurationJson;
  readonly certificate: CheckedCertificate | null;
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
        change: { tx, caller, nowMs },
        configuration,
        certificate,
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
  const { change, configuration, warnings } = work;
  const [pools, upstreamsCreated] = importPools(work);
  const [certId, certificateImported] = importCertificate(work);
  const { routing, policyOverride } = configuration;
  if (policyOverride !== undefined) {
    rethrownAt(`${at}.policyOverride`, () => checkOverrideRanges(policyOverride), 'override.');
  }
  const asked = {
    ...withCertificate(withPools(configuration.site ?? {}, pools), certId),
    ...(routing === undefined ? {} : { routing: routingWithPools(routing, pools) }),
    ...(policyOverride === undefined ? {} : { policyOverride }),
  };
  const site = rethrownAt(at, () => createIn(change, siteResource, asked, 'import'));
  if (certificateImported && configuration.certificate?.managed === true) {
    warnings.push('the certificate was managed at the source; here it is kept as uploaded');
  }
  return { site, upstreamsCreated, certificateImported, warnings };
}

/** The target's id for each pool of the configuration. Pools that are the same are shared. */
function importPools(work: Import): [Map<string, string>, number] {
  const { change, configuration } = work;
  const known = ownedBy(change.tx, change.caller, upstreamKind);
  const ids = new Map<string, string>();
  let created = 0;
  (configuration.upstreams ?? []).forEach((asked, index) => {
    const field = `${at}.upstreams[${index}]`;
    const same = known.find((pool) => pool.name === asked.name?.trim());
    if (same !== undefined) {
      const checked = rethrownAt(
        field,
        () => checkUpstream(keepPoolSecrets(asked, same)),
        'upstream.',
      );
      if (!samePool(same, checked)) {
        throw refusal('already_exists', `${field}.name: another pool has it, with other settings`);
      }
      ids.set(asked.id ?? '', same.id);
      return;
    }
    const record = rethrownAt(
      field,
      () => createIn(change, upstreamKind, asked, 'import'),
      'upstream.',
    );
    known.push(record);
    ids.set(asked.id ?? '', record.id);
    created++;
  });
  return [ids, created];
}

/** Id of the certificate at the target ('' for none), and whether it is new there. */
function importCertificate(work: Import): [string, boolean] {
  const { change, certificate: checked, configuration } = work;
  if (checked === null) return ['', false];
  const same = sameCertificate(change.tx, change.caller, checked.fingerprintSha256);
  if (same !== undefined) return [same.id, false];
  const nameField = `${at}.certificate.name`;
  const name = checkName(configuration.certificate?.name ?? '', nameField);
  const kept = createIn(change, certificateKind, { name, nameField, checked }, 'upload');
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
