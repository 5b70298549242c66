/** Owns what each group of commands is about, as `waf --help` says it. */

/** One line a group; a group without one is a mistake that stops the program. */
export const groupSummaries: Readonly<Record<string, string>> = {
  admin: 'Back up, restore and check the data folder',
  agent: 'Nodes: what they serve, how busy they are',
  'agent-group': 'Groups of nodes',
  audit: 'Who changed what, and whether the record is whole',
  auth: 'Sign in to a remote API, second factors, passwords',
  bot: 'Proof that a browser, or a person, is there',
  bundle: 'Configurations in a file, for engines without control',
  cert: 'Certificates and accounts at DNS providers',
  country: 'Rules by the country of the client',
  crs: 'Rulesets and their plugins',
  'ip-list': 'Lists of addresses, by hand or from a URL',
  log: 'What was blocked or noticed, and why',
  policy: 'Policies: settings, tests, versions, ruleset',
  'rate-limit': 'Limits of requests',
  role: 'What users may do',
  patch: 'Virtual patches: rules that stop one known fault',
  rule: 'Custom rules, and exceptions from rules of the ruleset',
  seclang: 'The rule language',
  site: 'Sites: hosts, origins, routes, policy',
  system: 'Health, settings, traffic, rankings, geo databases',
  totp: 'The second factor of your account',
  trust: 'Which proxies may say who the client is',
  upstream: 'Pools of origins that sites share',
  user: 'Who may sign in',
};
