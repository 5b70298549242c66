/** CertService/DownloadCert. */

import type { CertService } from '../../../proto/gen/waf/v1/cert_pb.ts';
import { certificateKeys } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { noteAction, stored } from '../resource/owned.ts';
import { certificateKind } from './certificate.ts';

const encoder = new TextEncoder();

/** The texts of a certificate; handing its key out is audited. */
export function downloadCert(parts: Uses<'store'>): Method<typeof CertService, 'downloadCert'> {
  return async ({ id, includePrivateKey }, context) => {
    const caller = callerOf(context);
    const record = stored(parts.store, caller, certificateKind, id, 'id');
    const shown = { certPem: encoder.encode(record.certPem), chainPem: [...record.chainPem] };
    if (!includePrivateKey) return shown;
    const keyPem = await parts.store.write((tx) => {
      noteAction(tx, caller, certificateKind, record, 'export_key');
      return tx.get(certificateKeys, record.id)?.keyPem ?? '';
    });
    return { ...shown, keyPem: encoder.encode(keyPem) };
  };
}
