/** The bounds of sites, policies, rulesets and other resources, and of documents that hold them. */

/** How many there are of each, and how large one is. */
export const resourceLimits = {
  /** Characters of a name. */
  nameCharactersMax: 128,
  /** Sites that one setting of the deployment names; `*` stands for all others. */
  optionSitesMax: 1_000,
  /** Certificates of authorities that a pool accepts; a company has a handful. */
  upstreamAuthoritiesMax: 64,
  /** A geo database when unpacked; free country sets have 8 MB. A request bounds uploads. */
  geoDatabaseBytesMax: 128 * 1024 * 1024,
  /** Fetching one; the largest free ones have some 60 MB packed. */
  geoFetchTimeoutMs: 300_000,
  /** An archive when unpacked; a CRS release has 15 MB. */
  archiveBytesMax: 256 * 1024 * 1024,
  /** Entries of an archive. */
  archiveEntriesMax: 50_000,
  /** One file of a ruleset. */
  rulesetFileBytesMax: 16 * 1024 * 1024,
  /** An OpenPGP key or signature of a release; the key of the CRS project has 10 KB. */
  openPgpBytesMax: 256 * 1024,
  /** Packets of one. */
  openPgpPacketsMax: 1_000,
  /** Keys whose releases are taken. */
  releaseSignersMax: 16,
  /** Rulesets whose rules are kept described, about 3 MB each. */
  describedRulesetsMax: 4,
  /** Entries of an IP list that a custom rule matches one by one; bindings have no such bound. */
  ruleListEntriesMax: 10_000,
  /** Saved versions of one policy; the oldest go. */
  versionsMax: 500,
  /** Exclusion plugins that are kept; the CRS project has eight. */
  exclusionPluginsMax: 200,
  /** Uses of exclusion plugins by one policy. */
  pluginBindingsMax: 100,
  /** Files of a ruleset; CRS 4 has 60. */
  rulesetFilesMax: 4_096,
  /** Documents of one manifest. */
  manifestDocumentsMax: 1_000,
  /** One manifest. */
  manifestBytesMax: 16 * 1024 * 1024,
  /** What is shown of one message of the compiler of rules. */
  diagnosticCharactersMax: 200,
  /** Policies that a note names; more are counted. */
  notedPoliciesMax: 5,
  /** Custom rules of one policy. */
  customRulesMax: 1_000,
  /** Overrides of one policy. */
  ruleOverridesMax: 2_000,
  /** Path routes of one site; each request compares with the longest first. */
  routesPerSiteMax: 200,
  /** Certificates of a tenant. */
  certificatesMax: 20_000,
  /** One PEM text of a certificate, key or chain element. */
  certificateTextBytesMax: 64 * 1024,
  /** Bits of an RSA key, of a certificate or of who signs releases. */
  rsaBitsMin: 2_048,
  /** Certificates between a site's and the root. */
  certificateChainMax: 10,
  /** Accounts at DNS providers. */
  dnsProvidersMax: 200,
  /** Tags of one node, and tags or nodes that one group names. */
  agentSelectorsMax: 1_000,
  /** Groups of nodes. */
  agentGroupsMax: 1_000,
} as const;

/** Regular expressions of custom rules, with their counts written out. */
export const patternLimits = {
  /** Parts; RE2 and PCRE2 refuse programs not far above it. CRS's largest patterns have 5,000. */
  sizeMax: 20_000,
  /** One count; RE2 takes no more. */
  countMax: 1_000,
  /** Groups in groups; PCRE2 takes 250. */
  depthMax: 100,
} as const;

/** Documents of YAML and JSON that people and programs hand in. */
export const yamlLimits = {
  /** Tokens of one text: some 5 us each to parse. 50,000 entries of an IP list have a million. */
  tokensMax: 2_000_000,
  /** Keys of one text. */
  keysMax: 250_000,
  /** Values of one document, those that aliases repeat included. */
  valuesMax: 500_000,
  aliasesMax: 100,
  documentsMax: 1_000,
  /** Levels of nesting; documents of ours have ten. */
  depthMax: 64,
  keyCharactersMax: 1_024,
  /** Reading one manifest in its thread, and memory of that thread in MB. */
  readTimeoutMs: 60_000,
  threadMemoryMbMax: 1_024,
  /** Manifests that wait while one is read. */
  waitingMax: 8,
} as const;
