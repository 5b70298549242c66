/**
 * The list of commands by their first word; its order is the order of the help text. A command's
 * code is loaded when its word is on the command line, so that one command costs one command.
 */

import type { CommandDefinition } from './command.ts';

/** Where the commands of one file are; `word` is the first word of each. */
export interface CommandSource {
  readonly word: string;
  readonly load: () => Promise<CommandDefinition | readonly CommandDefinition[]>;
}

/** Every command of `waf`. */
export const commandSources: readonly CommandSource[] = [
  { word: 'run', load: async () => (await import('./process/run.ts')).runCommand },
  { word: 'engine', load: async () => (await import('./process/engine.ts')).engineCommand },
  {
    word: 'bundle',
    load: async () => (await import('./process/bundle-build.ts')).bundleBuildCommand,
  },
  { word: 'apply', load: async () => (await import('./manifest/apply.ts')).applyCommand },
  { word: 'diff', load: async () => (await import('./manifest/diff.ts')).diffCommand },
  { word: 'export', load: async () => (await import('./manifest/export.ts')).exportCommand },
  { word: 'get', load: async () => (await import('./manifest/get.ts')).getCommand },
  { word: 'site', load: async () => (await import('./site/site-create.ts')).siteCreateCommand },
  { word: 'site', load: async () => (await import('./site/site-change.ts')).siteChangeCommands },
  { word: 'site', load: async () => (await import('./site/site-routing.ts')).siteRoutingCommands },
  { word: 'site', load: async () => [(await import('./site/site-canary.ts')).siteCanaryCommand] },
  { word: 'site', load: async () => (await import('./site/site-move.ts')).siteMoveCommands },
  { word: 'site', load: async () => (await import('./site/site-tls.ts')).siteTlsCommand },
  {
    word: 'site',
    load: async () => (await import('./site/site-option-commands.ts')).siteOptionCommands,
  },
  {
    word: 'site',
    load: async () => (await import('./site/site-delivery.ts')).siteDeliveryCommands,
  },
  {
    word: 'learning',
    load: async () => (await import('./site/learning-commands.ts')).learningCommands,
  },
  {
    word: 'site',
    load: async () => (await import('./site/site-option-commands.ts')).siteApplicationsCommand,
  },
  {
    word: 'upstream',
    load: async () => (await import('./site/upstream-commands.ts')).upstreamCommands,
  },
  { word: 'cert', load: async () => (await import('./cert/cert-commands.ts')).certCommands },
  { word: 'cert', load: async () => (await import('./cert/cert-dns-commands.ts')).certDnsCommands },
  {
    word: 'system',
    load: async () => (await import('./system/system-commands.ts')).systemCommands,
  },
  {
    word: 'system',
    load: async () => (await import('./system/system-top-commands.ts')).systemTopCommands,
  },
  {
    word: 'system',
    load: async () => (await import('./system/system-geo-commands.ts')).systemGeoCommands,
  },
  {
    word: 'release',
    load: async () => (await import('./release/release-commands.ts')).releaseCommands,
  },
  {
    word: 'release',
    load: async () => (await import('./release/release-run-commands.ts')).releaseRunCommands,
  },
  {
    word: 'release',
    load: async () => (await import('./release/release-sign-commands.ts')).releaseSignCommands,
  },
  {
    word: 'release',
    load: async () => (await import('./release/release-deb.ts')).releaseDebCommand,
  },
  {
    word: 'release',
    load: async () => (await import('./release/release-image.ts')).releaseImageCommand,
  },
  {
    word: 'release',
    load: async () => (await import('./release/release-index.ts')).releaseIndexCommand,
  },
  { word: 'update', load: async () => (await import('./release/update.ts')).updateCommand },
  { word: 'agent', load: async () => (await import('./agent/agent-commands.ts')).agentCommands },
  { word: 'agents', load: async () => (await import('./agent/agent-commands.ts')).agentsCommand },
  {
    word: 'agent',
    load: async () => (await import('./agent/agent-load-command.ts')).agentLoadCommands,
  },
  { word: 'agent', load: async () => (await import('./agent/agent-enroll.ts')).agentEnrollCommand },
  { word: 'agent', load: async () => (await import('./agent/agent-run.ts')).agentRunCommand },
  {
    word: 'agent',
    load: async () => (await import('./agent/agent-release-keys.ts')).agentReleaseKeysCommand,
  },
  {
    word: 'agent',
    load: async () => (await import('./agent/agent-change-commands.ts')).agentChangeCommands,
  },
  {
    word: 'agent-group',
    load: async () => (await import('./agent/agent-group-commands.ts')).agentGroupCommands,
  },
  {
    word: 'policy',
    load: async () => (await import('./policy/policy-commands.ts')).policyCommands,
  },
  {
    word: 'policy',
    load: async () => (await import('./policy/policy-import.ts')).policyImportCommand,
  },
  { word: 'policy', load: async () => (await import('./policy/policy-test.ts')).policyTestCommand },
  {
    word: 'policy',
    load: async () => (await import('./policy/policy-preview.ts')).policyPreviewCommand,
  },
  {
    word: 'policy',
    load: async () => (await import('./policy/policy-replay.ts')).policyReplayCommand,
  },
  {
    word: 'policy',
    load: async () => (await import('./policy/policy-version-commands.ts')).policyVersionCommands,
  },
  { word: 'rule', load: async () => (await import('./policy/rule-commands.ts')).ruleCommands },
  {
    word: 'rule',
    load: async () => (await import('./policy/rule-override-commands.ts')).ruleOverrideCommands,
  },
  { word: 'rule', load: async () => (await import('./policy/rule-exclude.ts')).ruleExcludeCommand },
  { word: 'dashboard', load: async () => (await import('./log/dashboard.ts')).dashboardCommand },
  { word: 'api', load: async () => (await import('./api/api-commands.ts')).apiCommands },
  {
    word: 'api-document',
    load: async () => (await import('./api/api-document-commands.ts')).apiDocumentCommands,
  },
  { word: 'explain', load: async () => (await import('./policy/explain.ts')).explainCommand },
  { word: 'patch', load: async () => (await import('./policy/patch-commands.ts')).patchCommands },
  { word: 'crs', load: async () => (await import('./policy/crs-commands.ts')).crsCommands },
  {
    word: 'crs',
    load: async () => (await import('./policy/crs-plugin-commands.ts')).crsPluginCommands,
  },
  {
    word: 'ip-list',
    load: async () => (await import('./protection/ip-list-commands.ts')).ipListCommands,
  },
  {
    word: 'ip-list',
    load: async () =>
      (await import('./protection/ip-list-subscription-commands.ts')).ipListSubscriptionCommands,
  },
  { word: 'bot', load: async () => (await import('./protection/bot-commands.ts')).botCommands },
  {
    word: 'bot',
    load: async () => (await import('./protection/bot-verifier-commands.ts')).botVerifierCommands,
  },
  {
    word: 'country',
    load: async () => (await import('./protection/country-commands.ts')).countryCommands,
  },
  {
    word: 'rate-limit',
    load: async () => (await import('./protection/rate-limit-commands.ts')).rateLimitCommands,
  },
  {
    word: 'rate-limit',
    load: async () => (await import('./site/site-option-commands.ts')).rateLimitFieldsCommand,
  },
  {
    word: 'trust',
    load: async () => (await import('./protection/trust-commands.ts')).trustCommands,
  },
  { word: 'log', load: async () => (await import('./log/log-commands.ts')).logCommands },
  { word: 'ai', load: async () => (await import('./assistant/ai-commands.ts')).aiCommands },
  { word: 'log', load: async () => (await import('./log/log-hits.ts')).logHitsCommand },
  { word: 'log', load: async () => (await import('./log/log-explain.ts')).logExplainCommand },
  {
    word: 'log',
    load: async () => (await import('./log/log-policy-commands.ts')).logPolicyCommands,
  },
  {
    word: 'log',
    load: async () => (await import('./log/evidence-key-commands.ts')).evidenceKeyCommands,
  },
  { word: 'alert', load: async () => (await import('./alert/alert-commands.ts')).alertCommands },
  {
    word: 'alert',
    load: async () => (await import('./alert/alert-rule-commands.ts')).alertRuleCommands,
  },
  {
    word: 'alert',
    load: async () => (await import('./alert/alert-channel-commands.ts')).alertChannelCommands,
  },
  { word: 'auth', load: async () => (await import('./user/auth-login.ts')).authLoginCommand },
  { word: 'auth', load: async () => (await import('./user/auth-commands.ts')).authCommands },
  {
    word: 'auth',
    load: async () => {
      const all = await import('./user/auth-totp.ts');
      return [
        all.authTotpStatusCommand,
        all.authTotpEnableCommand,
        all.authTotpDisableCommand,
        all.authTotpRecoveryCommand,
      ];
    },
  },
  { word: 'user', load: async () => (await import('./user/user-commands.ts')).userCommands },
  { word: 'user', load: async () => (await import('./user/user-access.ts')).userAccessCommands },
  {
    word: 'passkey',
    load: async () => (await import('./user/passkey-commands.ts')).passkeyCommands,
  },
  {
    word: 'session',
    load: async () => (await import('./user/session-commands.ts')).sessionCommands,
  },
  { word: 'token', load: async () => (await import('./user/token-commands.ts')).tokenCommands },
  { word: 'role', load: async () => (await import('./user/role-commands.ts')).roleCommands },
  { word: 'audit', load: async () => (await import('./log/audit-commands.ts')).auditCommands },
  { word: 'crs', load: async () => (await import('./policy/crs-test.ts')).crsTestCommand },
  {
    word: 'seclang',
    load: async () => (await import('./policy/seclang-test.ts')).seclangTestCommand,
  },
  { word: 'admin', load: async () => (await import('./admin/admin-commands.ts')).adminCommands },
  { word: 'install', load: async () => (await import('./process/install.ts')).installCommand },
  { word: 'uninstall', load: async () => (await import('./process/install.ts')).uninstallCommand },
  { word: 'mcp', load: async () => (await import('./assistant/mcp.ts')).mcpCommand },
  { word: 'debug', load: async () => (await import('./process/debug.ts')).debugCommand },
  { word: 'doctor', load: async () => (await import('./process/doctor.ts')).doctorCommand },
  { word: 'completion', load: async () => (await import('./completion.ts')).completionCommand },
  { word: 'version', load: async () => (await import('./process/version.ts')).versionCommand },
];

/** Words of commands that print all commands: they have to know them. */
const wholeTree = ['completion', 'deb'];

/**
 * The commands that a command line (without `node` and script) may mean: those under a word that
 * is on it; all of them when it has no such word, for the help text and for suggestions.
 */
export async function loadCommands(argv: readonly string[]): Promise<CommandDefinition[]> {
  const words = new Set(commandSources.map(({ word }) => word));
  const first = argv.findIndex((one) => words.has(one));
  const helpFirst = argv.slice(0, first).some((one) => one === '--help' || one === '-h');
  const all = first === -1 || helpFirst || wholeTree.some((word) => argv.includes(word));
  const meant = commandSources.filter(({ word }) => all || argv.includes(word));
  return (await Promise.all(meant.map(({ load }) => load()))).flat();
}
