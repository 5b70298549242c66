/** The check for evidence of requests that cannot be read any more. */

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { lostKeyText } from '../../log/evidence-key-commands.ts';
import { ok, warning, type Check, type Finding } from './finding.ts';

const name = 'evidence';

/** Whether the keys are there that evidence was encrypted with. */
export const evidenceCheck: Check = {
  name,
  look: async ({ running, context }) => {
    if (!running) return [];
    const { evidenceKeys } = await context.api();
    return [judgeKeys(await evidenceKeys.listEvidenceKeys({}))];
  },
};

/** What the answer about the keys means. */
export function judgeKeys({
  items,
  unreadableBefore,
}: {
  readonly items: readonly unknown[];
  readonly unreadableBefore?: Timestamp | undefined;
}): Finding {
  if (unreadableBefore === undefined) return ok(name, `keys: ${items.length}, none is missing`);
  const action = 'restore the earlier file of keys (WAF_EVIDENCE_KEYS, or evidence-keys.json)';
  return warning(name, lostKeyText(unreadableBefore), action);
}
