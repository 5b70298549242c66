/** CustomRuleService. */

import type { CustomRuleService } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import {
  getCustomRule,
  listCustomRules,
  listCustomRuleTemplates,
  previewCustomRule,
} from './read-rules.ts';
import {
  createCustomRule,
  createFromTemplate,
  deleteCustomRule,
  reorderCustomRules,
  updateCustomRule,
} from './write-rules.ts';

/** CustomRuleService. */
export function customRuleService(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Built<typeof CustomRuleService> {
  return {
    listCustomRules: listCustomRules(parts),
    getCustomRule: getCustomRule(parts),
    listCustomRuleTemplates: listCustomRuleTemplates(),
    createCustomRule: createCustomRule(parts),
    updateCustomRule: updateCustomRule(parts),
    deleteCustomRule: deleteCustomRule(parts),
    reorderCustomRules: reorderCustomRules(parts),
    previewCustomRule: previewCustomRule(),
    createFromTemplate: createFromTemplate(parts),
  };
}
