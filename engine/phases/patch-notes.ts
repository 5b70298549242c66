/** Virtual patches are rules; what they did stands in events and counters as a guard's doing. */

import { virtualPatchTag } from '../../base/rule-tags.ts';
import type { GuardNote } from '../contract/guard.ts';
import type { MatchedRule, TransactionRecord } from '../contract/verdict.ts';

/** What guards said, then each virtual patch that matched. `blocked`: a verdict was enforced. */
export function withPatchNotes(
  notes: readonly GuardNote[],
  record: TransactionRecord | null,
  blocked: boolean,
): readonly GuardNote[] {
  if (record === null || record.matchedRules.length === 0) return notes;
  const patches = record.matchedRules.filter(({ tags }) => tags.includes(virtualPatchTag));
  if (patches.length === 0) return notes;
  const decided = blocked && !record.detectionOnly ? record.verdict.ruleId : 0;
  return [...notes, ...patches.map((rule) => noteOf(rule, rule.ruleId === decided))];
}

function noteOf({ ruleId, tags, message }: MatchedRule, decided: boolean): GuardNote {
  const fault = tags[tags.indexOf(virtualPatchTag) + 1] ?? '';
  return {
    guard: 'virtual_patch',
    action: decided ? 'deny' : 'monitor',
    reason: 'virtual_patch',
    ruleId: String(ruleId),
    detail: fault === '' ? message : fault,
    skipped: [],
  };
}
