/** The templates from which custom rules are made. */

import type { CustomRuleTemplateJson } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';

/** A template with what it makes of its parameters. */
export interface RuleTemplate extends CustomRuleTemplateJson {
  readonly id: string;
  readonly name: string;
  readonly defaults: Readonly<Record<string, string>>;
  /** Conditions and action as the editor keeps them. */
  visualSpec(parameters: Readonly<Record<string, string>>): Record<string, unknown>;
}

/** All templates, by id. */
export const customRuleTemplates: readonly RuleTemplate[] = [
  {
    id: 'block-path',
    name: 'Block a path',
    description: 'Refuses every request whose path begins with the given text',
    category: 'access',
    builtin: true,
    defaults: { path: '/admin' },
    visualSpec: ({ path }) => ({
      conditions: [
        {
          variable: 'REQUEST_PATHS',
          operator: 'beginsWith',
          value: (path ?? '').toLowerCase(),
          transformations: ['lowercase'],
        },
      ],
      action: 'block',
      status: 403,
    }),
  },
  {
    id: 'block-user-agent',
    name: 'Block a user agent',
    description: 'Refuses requests whose user agent contains the given text',
    category: 'access',
    builtin: true,
    defaults: { text: 'badbot' },
    visualSpec: ({ text }) => ({
      conditions: [
        {
          variable: 'REQUEST_HEADERS',
          selector: 'User-Agent',
          operator: 'contains',
          value: (text ?? '').toLowerCase(),
          transformations: ['lowercase'],
        },
      ],
      action: 'block',
      status: 403,
    }),
  },
  {
    id: 'restrict-path-to-network',
    name: 'Restrict a path to a network',
    description: 'Refuses a path to every address outside the given networks',
    category: 'access',
    builtin: true,
    defaults: { path: '/internal', networks: '10.0.0.0/8' },
    visualSpec: ({ path, networks }) => ({
      conditions: [
        {
          variable: 'REQUEST_PATHS',
          operator: 'beginsWith',
          value: (path ?? '').toLowerCase(),
          transformations: ['lowercase'],
        },
        { variable: 'REMOTE_ADDR', operator: 'ipMatch', value: networks, negate: true },
      ],
      action: 'block',
      status: 403,
    }),
  },
  {
    id: 'log-argument',
    name: 'Log an argument',
    description: 'Records requests whose argument matches a pattern',
    category: 'observability',
    builtin: true,
    defaults: { argument: 'token', pattern: '.' },
    visualSpec: ({ argument, pattern }) => ({
      conditions: [{ variable: 'ARGS', selector: argument, operator: 'rx', value: pattern }],
      action: 'log',
    }),
  },
];
