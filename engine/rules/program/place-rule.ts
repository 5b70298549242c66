/**
 * Gives a rule template its place in a program. The one place where rules are made, so that all of
 * them have the same shape for the JavaScript engine.
 */

import type { Rule, RuleTemplate } from '../transaction/types.ts';

/** The rule of `template` at `index`; its parts are shared, not copied. */
export function placeRule(template: RuleTemplate, index: number, next: Rule | null): Rule {
  return {
    kind: 'rule',
    index,
    id: template.id,
    phase: template.phase,
    targets: template.targets,
    exclusions: template.exclusions,
    operator: template.operator,
    negated: template.negated,
    transformations: template.transformations,
    multiMatch: template.multiMatch,
    capture: template.capture,
    actions: template.actions,
    disruption: template.disruption,
    skip: template.skip,
    skipAfter: template.skipAfter,
    message: template.message,
    logData: template.logData,
    severity: template.severity,
    tags: template.tags,
    rev: template.rev,
    ver: template.ver,
    maturity: template.maturity,
    accuracy: template.accuracy,
    log: template.log,
    auditLog: template.auditLog,
    namespaces: template.namespaces,
    next,
    location: template.location,
    operatorText: template.operatorText,
    dataFiles: template.dataFiles,
  };
}
