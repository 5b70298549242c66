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
