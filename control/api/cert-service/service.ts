/** CertService. */

import type { CertService } from '../../../proto/gen/waf/v1/cert_pb.ts';
import { checkName } from '../../domain/names.ts';
import { checkCertificate } from '../../domain/site/certificates.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { serve } from '../resource/serve.ts';
import { issueAcmeCert, renewCert } from './acme-methods.ts';
import { certificateKind } from './certificate.ts';
import { dnsProviderMethods } from './dns-provider-methods.ts';
import { downloadCert } from './download-cert.ts';

const decoder = new TextDecoder();

/** CertService. */
export function certService(parts: Uses<'store' | 'clock' | 'acme'>): Built<typeof CertService> {
  const { show, list, get, create, remove } = serve(parts, certificateKind);
  return {
    listCerts: list,
    getCert: (request, context) => ({ cert: get(request, context) }),
    uploadCert: async ({ name: asked, certPem, keyPem, chainPem }, context) => {
      const name = checkName(asked, 'name');
      const texts = { certPem: decoder.decode(certPem), keyPem: decoder.decode(keyPem), chainPem };
      const checked = checkCertificate(texts, parts.clock.nowMs());
      const wanted = { name, nameField: 'name', checked };
      return { cert: show(await create(wanted, context, { action: 'upload' })) };
    },
    downloadCert: downloadCert(parts),
    deleteCert: remove,
    issueACMECert: issueAcmeCert(parts),
    renewCert: renewCert(parts),
    ...dnsProviderMethods(parts),
  };
}
