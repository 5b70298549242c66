/** CertService. */

import type { CertService } from '../../../proto/gen/waf/v1/cert_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { deleteCert, downloadCert, getCert, listCerts, uploadCert } from './certs.ts';
import { issueAcmeCert, renewCert } from './acme-methods.ts';
import { dnsProviderMethods } from './dns-provider-methods.ts';

/** CertService. */
export function certService(parts: Uses<'store' | 'clock' | 'acme'>): Built<typeof CertService> {
  return {
    listCerts: listCerts(parts),
    getCert: getCert(parts),
    uploadCert: uploadCert(parts),
    downloadCert: downloadCert(parts),
    deleteCert: deleteCert(parts),
    issueACMECert: issueAcmeCert(parts),
    renewCert: renewCert(parts),
    ...dnsProviderMethods(parts),
  };
}
