/** ApiSchemaService: documents, what is made of them, and their publication. */

import type { ApiSchemaService } from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { controlMethods } from './control.ts';
import { getSchemaDetection } from './get-schema-detection.ts';
import { declarationMethods } from './declarations.ts';
import { learnedDraftMethods } from './learned-drafts.ts';
import { learningMethods } from './learning.ts';
import { profileMethods } from './profiles.ts';
import { reportMethods } from './reports.ts';
import { requestDocumentMethods } from './request-documents.ts';
import { sourceMethods } from './sources.ts';

/** ApiSchemaService. */
export function apiSchemaService(parts: ApiParts): Built<typeof ApiSchemaService> {
  return {
    ...sourceMethods(parts),
    ...reportMethods(parts),
    ...declarationMethods(parts),
    ...profileMethods(parts),
    ...controlMethods(parts),
    ...requestDocumentMethods(parts),
    ...learningMethods(parts),
    ...learnedDraftMethods(parts),
    getSchemaDetection: getSchemaDetection(parts),
  };
}
