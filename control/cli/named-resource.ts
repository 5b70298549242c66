/** What people call by its name: in arguments, flags and tables. */

/** Resources that people may name by their name instead of their id. */
export type NamedResource =
  | 'site'
  | 'policy'
  | 'template'
  | 'ip-list'
  | 'upstream'
  | 'ruleset'
  | 'role'
  | 'user'
  | 'node'
  | 'agent-group'
  | 'certificate'
  | 'dns-provider'
  | 'country-rule'
  | 'custom-rule'
  | 'alert-rule'
  | 'alert-channel';

/** What help calls them where it is not the word for the kind. */
const placeholders: Partial<Record<NamedResource, string>> = {
  'ip-list': 'list',
  upstream: 'pool',
  'agent-group': 'group',
  'dns-provider': 'provider',
  'country-rule': 'rule',
  'custom-rule': 'rule',
  'alert-rule': 'rule',
  'alert-channel': 'channel',
};

/** The argument that names one of these, as most commands take it. */
export function nameArgument(resource: NamedResource, summary = 'id or name') {
  return { name: `<${placeholders[resource] ?? resource}>`, summary, resource };
}
