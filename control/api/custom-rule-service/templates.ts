/** The templates that rules are made of. */

import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import type {
  CreateFromTemplateRequest,
  CustomRuleJson,
  ListCustomRuleTemplatesRequest,
  ListCustomRuleTemplatesResponseSchema,
} from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { customRuleTemplates } from '../../domain/policy/custom-rule-templates.ts';
import { invalidField } from '../../domain/errors.ts';
import { pageOf } from '../convert.ts';

/** A page of the templates. */
export function listCustomRuleTemplates(
  request: ListCustomRuleTemplatesRequest,
): MessageInitShape<typeof ListCustomRuleTemplatesResponseSchema> {
  const { items, page } = pageOf(customRuleTemplates, request.page);
  return {
    items: items.map(({ id, name, description = '', category = '', defaults }) => ({
      id,
      name,
      description,
      category,
      builtin: true,
      defaults: { ...defaults } as JsonObject,
    })),
    page,
  };
}

/** The rule that a template makes of parameters. Errors: invalid_argument naming the field. */
export function ruleOfTemplate({
  policyId,
  siteId,
  templateId,
  parameters,
}: CreateFromTemplateRequest): CustomRuleJson {
  const template = customRuleTemplates.find(({ id }) => id === templateId);
  if (template === undefined) throw invalidField('templateId', 'names no template');
  const given: Record<string, string> = { ...template.defaults };
  for (const [name, value] of Object.entries(parameters ?? {})) {
    if (!Object.hasOwn(template.defaults, name) || typeof value !== 'string') {
      const known = Object.keys(template.defaults).join(', ');
      throw invalidField('parameters', `takes texts named ${known}`);
    }
    given[name] = value;
  }
  return {
    policyId,
    siteId,
    name: template.name,
    description: template.description ?? '',
    enabled: true,
    phase: 1,
    visualSpec: template.visualSpec(given) as NonNullable<CustomRuleJson['visualSpec']>,
  };
}
