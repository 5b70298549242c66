/** Which methods of EvidenceUploadService are built. */

import type { EvidenceUploadService } from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { upload } from './upload.ts';

/** EvidenceUploadService. */
export function evidenceUploadService(
  parts: Uses<'store' | 'clock' | 'logger' | 'evidence' | 'nodes' | 'streams'>,
): Built<typeof EvidenceUploadService> {
  return { upload: upload(parts) };
}
