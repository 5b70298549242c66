/** Which methods of EvidenceUploadService are built. */

import type { EvidenceUploadService } from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { upload } from './upload.ts';

/** EvidenceUploadService. */
export function evidenceUploadService(parts: ApiParts): Built<typeof EvidenceUploadService> {
  return { upload: upload(parts) };
}
