/** The list of what a bundle consists of. Order has no meaning: pieces are sorted by name. */

import { accessRuleKind, ipListKind, trustKind } from './access-parts.ts';
import { apiCheckKind } from './api-check-parts.ts';
import { apiLearningKind } from './api-learning-parts.ts';
import { certificateKind } from './certificate-parts.ts';
import { challengeKeyKind } from './challenge-key-parts.ts';
import { detectionContentKind } from './detection-content-parts.ts';
import { geoKind } from './geo-parts.ts';
import { logPolicyKind } from './log-parts.ts';
import type { PartKind } from './part-kind.ts';
import { policyKind, rulesetKind } from './policy-parts.ts';
import { responsesKind, siteKind, siteOptionsKind, upstreamKind } from './site-parts.ts';
import { verifierKind } from './verifier-parts.ts';

/** Every kind of piece. A further one is a file of its own and a line here. */
export const partKinds: readonly PartKind[] = [
  accessRuleKind,
  apiCheckKind,
  apiLearningKind,
  certificateKind,
  challengeKeyKind,
  detectionContentKind,
  geoKind,
  ipListKind,
  logPolicyKind,
  policyKind,
  responsesKind,
  rulesetKind,
  siteKind,
  siteOptionsKind,
  trustKind,
  upstreamKind,
  verifierKind,
];
