/**
 * The overrides and custom rules inside Policy documents: the fields are those of the API, but a
 * site is named by `siteRef`, and what the service gives is left out.
 */

import { CustomRuleSchema, type CustomRuleJson } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import {
  RuleOverrideSchema,
  type RuleOverrideJson,
} from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import type { ManifestDocument } from './manifest-documents.ts';
import { invalid, list, object, text, type Spec } from './manifest-fields.ts';
import type { References } from './manifest-references.ts';
import { filled, readMessage } from './manifest-specs.ts';

const given = ['id', 'policyId', 'siteId', 'createdAt', 'updatedAt'];

/** Overrides of the document; undefined where it is silent. */
export function readOverrideSpecs(
  document: ManifestDocument,
  references: References,
): RuleOverrideJson[] | undefined {
  return readRules(
    document,
    'ruleOverrides',
    (value, field, siteId) => {
      const read = readMessage<RuleOverrideJson>(RuleOverrideSchema, value, document.where, field);
      return { ...read, siteId };
    },
    references,
  );
}

/** Custom rules of the document; undefined where it is silent. */
export function readCustomRuleSpecs(
  document: ManifestDocument,
  references: References,
): CustomRuleJson[] | undefined {
  return readRules(
    document,
    'customRules',
    (value, field, siteId) => {
      const read = readMessage<CustomRuleJson>(CustomRuleSchema, value, document.where, field);
      return { ...read, siteId };
    },
    references,
  );
}

/** An override as documents state it. */
export function overrideSpecOf(override: RuleOverrideJson, references: References): Spec {
  return ruleSpec(override, override.siteId ?? '', references);
}

/** A custom rule as documents state it: what the editor made is not stated as SecLang too. */
export function customRuleSpecOf(rule: CustomRuleJson, references: References): Spec {
  const enabled = rule.enabled ?? true;
  const { seclang: _seclang, ...visual } = rule;
  const stated = rule.visualSpec === undefined ? rule : visual;
  // An order that is not stated would be the place in the document.
  const { sortOrder = 0 } = rule;
  return ruleSpec({ ...stated, enabled, sortOrder }, rule.siteId ?? '', references);
}

function ruleSpec(rule: object, siteId: string, references: References): Spec {
  const own = Object.entries(rule).filter(([name]) => !given.includes(name));
  const siteRef = siteId === '' ? '' : references.nameOf('site', siteId);
  return filled({ ...Object.fromEntries(own), siteRef });
}

function readRules<T>(
  { spec, where }: ManifestDocument,
  field: string,
  read: (value: object, field: string, siteId: string) => T,
  references: References,
): T[] | undefined {
  if (spec[field] === undefined) return undefined;
  return list(spec, field, where, 'spec.').map((one, at) => {
    const path = `spec.${field}[${at}]`;
    const { siteRef: _siteRef, ...rule } = object(one, where, path);
    for (const name of given) {
      if (rule[name] !== undefined)
        throw invalid(where, `${path}.${name}: is given by the service`);
    }
    const ref = text(object(one, where, path), 'siteRef', where, `${path}.`);
    const siteId = ref === '' ? '' : references.idOf('site', ref, where, `${path}.siteRef`);
    return read(rule, path, siteId);
  });
}
