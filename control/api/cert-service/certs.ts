/** CertService/ListCerts, GetCert, UploadCert, DownloadCert and DeleteCert. */

import { CertificateSchema, type CertService } from '../../../proto/gen/waf/v1/cert_pb.ts';
import { checkCertificate } from '../../domain/site/certificates.ts';
import { refusal } from '../../domain/errors.ts';
import { checkName } from '../../domain/names.ts';
import { refuseUsed } from '../../domain/usage.ts';
import { certificateKeys } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { fitsQuery, isoNow, pageOf, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { keepCertificate, sameCertificate } from './keep-certificate.ts';
import { certificateKind, usersOfCertificate } from './certificate.ts';
import { drop, listed, noteOf, stored } from '../resource/owned.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Certificates of the caller's tenant, by name. */
export function listCerts(parts: Uses<'store'>): Method<typeof CertService, 'listCerts'> {
  return ({ page: asked, query }, context) => {
    const found = listed(parts.store, callerOf(context), certificateKind).filter((one) =>
      fitsQuery(query, one.name, ...(one.dnsNames ?? [])),
    );
    const { items, page } = pageOf(found, asked);
    return { items: items.map((one) => toMessage(CertificateSchema, one)), page };
  };
}

/** One certificate, without its key. */
export function getCert(parts: Uses<'store'>): Method<typeof CertService, 'getCert'> {
  return ({ id }, context) => ({
    cert: toMessage(
      CertificateSchema,
      stored(parts.store, callerOf(context), certificateKind, id, 'id'),
    ),
  });
}

/** Keeps a certificate that passes every check. */
export function uploadCert(
  parts: Uses<'store' | 'clock'>,
): Method<typeof CertService, 'uploadCert'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const name = checkName(request.name, 'name');
    const texts = {
      certPem: decoder.decode(request.certPem),
      keyPem: decoder.decode(request.keyPem),
      chainPem: request.chainPem,
    };
    const checked = checkCertificate(texts, parts.clock.nowMs());
    const stored = await parts.store.write((tx) => {
      const same = sameCertificate(tx, caller, checked.fingerprintSha256);
      if (same !== undefined) {
        throw refusal('already_exists', `certPem: certificate ${same.id} is the same`);
      }
      const now = isoNow(parts.clock);
      return keepCertificate(tx, caller, checked, { name, nameField: 'name', managed: false, now });
    });
    return { cert: toMessage(CertificateSchema, stored) };
  };
}

/** The texts of a certificate; handing its key out is audited. */
export function downloadCert(parts: Uses<'store'>): Method<typeof CertService, 'downloadCert'> {
  return async ({ id, includePrivateKey }, context) => {
    const caller = callerOf(context);
    const { certPem, chainPem, ...record } = stored(parts.store, caller, certificateKind, id, 'id');
    const shown = { certPem: encoder.encode(certPem), chainPem: [...chainPem] };
    if (!includePrivateKey) return shown;
    const keyPem = await parts.store.write((tx) => {
      tx.audit({
        ...noteOf(caller, certificateKind, { ...record, certPem, chainPem }),
        action: 'export_key',
      });
      return tx.get(certificateKeys, record.id)?.keyPem ?? '';
    });
    return { ...shown, keyPem: encoder.encode(keyPem) };
  };
}

/** Removes a certificate that no site uses. */
export function deleteCert(parts: Uses<'store'>): Method<typeof CertService, 'deleteCert'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    await parts.store.write((tx) => {
      const before = stored(tx, caller, certificateKind, id, 'id');
      refuseUsed('id', usersOfCertificate(tx, before.id));
      tx.remove(certificateKeys, before.id);
      drop(tx, caller, certificateKind, before);
    });
    return { result: { id, changed: true } };
  };
}
