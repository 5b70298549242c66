/**
 * The actions that are read when rules are linked (into fields of the rule) and do nothing by
 * themselves while rules run: metadata, flow, logging, disruptive ones, `t`. A table without code.
 */

import type { ActionDefinition } from '../../transaction/types.ts';

type Row = readonly [
  name: string,
  kind: Exclude<ActionDefinition['kind'], 'runtime'>,
  argument: ActionDefinition['argument'],
  summary: string,
  example: string,
];

const rows: readonly Row[] = [
  ['id', 'metadata', 'required', 'Number that names the rule.', 'id:942100'],
  ['phase', 'metadata', 'required', 'Phase 1 to 5, or request, response, logging.', 'phase:2'],
  ['msg', 'metadata', 'required', 'Message of a match; macros.', "msg:'SQL injection'"],
  ['logdata', 'metadata', 'required', 'Data of a match; macros.', "logdata:'%{MATCHED_VAR}'"],
  ['severity', 'metadata', 'required', 'EMERGENCY (0) to DEBUG (7).', "severity:'CRITICAL'"],
  ['tag', 'metadata', 'required', 'Label; may be given many times; macros.', "tag:'attack-sqli'"],
  ['rev', 'metadata', 'required', 'Revision of the rule.', "rev:'2'"],
  ['ver', 'metadata', 'required', 'Version of the rule set.', "ver:'OWASP_CRS/4.28.0'"],
  ['maturity', 'metadata', 'required', 'How mature the rule is, 1 to 9.', "maturity:'9'"],
  ['accuracy', 'metadata', 'required', 'How accurate the rule is, 1 to 9.', "accuracy:'9'"],
  ['xmlns', 'metadata', 'required', 'Names an XML namespace.', 'xmlns:soap="http://schemas..."'],
  ['chain', 'flow', 'none', 'The next rule must match too.', 'chain'],
  ['skip', 'flow', 'required', 'Skips that many rules after a match.', 'skip:2'],
  ['skipAfter', 'flow', 'required', 'Continues after a marker.', 'skipAfter:END-SQLI'],
  ['capture', 'flow', 'none', 'Puts what matched into TX.0 to TX.9.', 'capture'],
  ['multiMatch', 'flow', 'none', 'Tries after every transformation.', 'multiMatch'],
  ['t', 'transformation', 'required', 'Adds a transformation.', 't:lowercase'],
  ['log', 'logging', 'none', 'Reports a match.', 'log'],
  ['nolog', 'logging', 'none', 'Does not report a match.', 'nolog'],
  ['auditlog', 'logging', 'none', 'Puts a match into the audit record.', 'auditlog'],
  ['noauditlog', 'logging', 'none', 'Keeps a match out of the audit record.', 'noauditlog'],
  ['pass', 'disruptive', 'none', 'Continues.', 'pass'],
  ['block', 'disruptive', 'none', 'Does what SecDefaultAction says.', 'block'],
  ['deny', 'disruptive', 'none', 'Refuses with a status.', 'deny'],
  ['drop', 'disruptive', 'none', 'Closes the connection.', 'drop'],
  ['redirect', 'disruptive', 'required', 'Redirects; macros.', 'redirect:https://example.org/'],
  ['allow', 'disruptive', 'optional', 'Ends the rules: all, phase or request.', 'allow:request'],
  ['status', 'disruptive', 'required', 'Status of deny and redirect.', 'status:403'],
];

/** Their definitions, for the action list. */
export const staticActions: readonly ActionDefinition[] = rows.map(
  ([name, kind, argument, summary, example]) => ({
    name,
    kind,
    argument,
    summary,
    example: `SecRule ARGS "@rx x" "id:1,${example}"`,
    source: `ModSecurity Reference Manual, Actions, ${name}`,
  }),
);
