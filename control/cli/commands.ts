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
  { word: 'run', load: async () => (await import('./run.ts')).runCommand },
  { word: 'engine', load: async () => (await import('./engine.ts')).engineCommand },
  { word: 'bundle', load: async () => (await import('./bundle-build.ts')).bundleBuildCommand },
  { word: 'apply', load: async () => (await import('./apply.ts')).applyCommand },
  { word: 'diff', load: async () => (await import('./diff.ts')).diffCommand },
  { word: 'export', load: async () => (await import('./export.ts')).exportCommand },
  { word: 'get', load: async () => (await import('./get.ts')).getCommand },
  { word: 'site', load: async () => (await import('./site-create.ts')).siteCreateCommand },
  { word: 'site', load: async () => (await import('./site-list.ts')).siteListCommand },
  { word: 'site', load: async () => (await import('./site-get.ts')).siteGetCommand },
  { word: 'site', load: async () => (await import('./site-change.ts')).siteChangeCommands },
  { word: 'site', load: async () => (await import('./site-routing.ts')).siteRoutingCommands },
  { word: 'site', load: async () => (await import('./site-move.ts')).siteMoveCommands },
  { word: 'site', load: async () => (await import('./site-tls.ts')).siteTlsCommand },
  { word: 'site', load: async () => (await import('./site-websocket.ts')).siteWebsocketCommand },
  { word: 'site', load: async () => (await import('./site-grpc.ts')).siteGrpcCommand },
  { word: 'upstream', load: async () => (await import('./upstream-commands.ts')).upstreamCommands },
  { word: 'cert', load: async () => (await import('./cert-commands.ts')).certCommands },
  { word: 'cert', load: async () => (await import('./cert-dns-commands.ts')).certDnsCommands },
  { word: 'system', load: async () => (await import('./system-commands.ts')).systemCommands },
  {
    word: 'system',
    load: async () => (await import('./system-top-commands.ts')).systemTopCommands,
  },
  {
    word: 'system',
    load: async () => (await import('./system-geo-commands.ts')).systemGeoCommands,
  },
  { word: 'release', load: async () => (await import('./release-commands.ts')).releaseCommands },
  {
    word: 'release',
    load: async () => (await import('./release-run-commands.ts')).releaseRunCommands,
  },
  {
    word: 'release',
    load: async () => (await import('./release-sign-commands.ts')).releaseSignCommands,
  },
  {
    word: 'release',
    load: async () => (await import('./release-index.ts')).releaseIndexCommand,
  },
  { word: 'update', load: async () => (await import('./update.ts')).updateCommand },
  { word: 'agent', load: async () => (await import('./agent-commands.ts')).agentCommands },
  { word: 'agents', load: async () => (await import('./agent-commands.ts')).agentsCommand },
  { word: 'agent', load: async () => (await import('./agent-load-command.ts')).agentLoadCommands },
  { word: 'agent', load: async () => (await import('./agent-enroll.ts')).agentEnrollCommand },
  { word: 'agent', load: async () => (await import('./agent-run.ts')).agentRunCommand },
  {
    word: 'agent',
    load: async () => (await import('./agent-release-keys.ts')).agentReleaseKeysCommand,
  },
  {
    word: 'agent',
    load: async () => (await import('./agent-change-commands.ts')).agentChangeCommands,
  },
  {
    word: 'agent-group',
    load: async () => (await import('./agent-group-commands.ts')).agentGroupCommands,
  },
  { word: 'policy', load: async () => (await import('./policy-list.ts')).policyListCommand },
  { word: 'policy', load: async () => (await import('./policy-commands.ts')).policyCommands },
  { word: 'policy', load: async () => (await import('./policy-import.ts')).policyImportCommand },
  { word: 'policy', load: async () => (await import('./policy-test.ts')).policyTestCommand },
  { word: 'policy', load: async () => (await import('./policy-preview.ts')).policyPreviewCommand },
  { word: 'policy', load: async () => (await import('./policy-replay.ts')).policyReplayCommand },
  {
    word: 'policy',
    load: async () => (await import('./policy-version-commands.ts')).policyVersionCommands,
  },
  { word: 'rule', load: async () => (await import('./rule-commands.ts')).ruleCommands },
  {
    word: 'rule',
    load: async () => (await import('./rule-override-commands.ts')).ruleOverrideCommands,
  },
  { word: 'rule', load: async () => (await import('./rule-exclude.ts')).ruleExcludeCommand },
  { word: 'dashboard', load: async () => (await import('./dashboard.ts')).dashboardCommand },
  { word: 'api', load: async () => (await import('./api-commands.ts')).apiCommands },
  {
    word: 'api-document',
    load: async () => (await import('./api-document-commands.ts')).apiDocumentCommands,
  },
  { word: 'explain', load: async () => (await import('./explain.ts')).explainCommand },
  { word: 'patch', load: async () => (await import('./patch-commands.ts')).patchCommands },
  { word: 'crs', load: async () => (await import('./crs-commands.ts')).crsCommands },
  { word: 'crs', load: async () => (await import('./crs-plugin-commands.ts')).crsPluginCommands },
  { word: 'ip-list', load: async () => (await import('./ip-list-commands.ts')).ipListCommands },
  {
    word: 'ip-list',
    load: async () =>
      (await import('./ip-list-subscription-commands.ts')).ipListSubscriptionCommands,
  },
  { word: 'bot', load: async () => (await import('./bot-commands.ts')).botCommands },
  {
    word: 'bot',
    load: async () => (await import('./bot-verifier-commands.ts')).botVerifierCommands,
  },
  { word: 'country', load: async () => (await import('./country-commands.ts')).countryCommands },
  {
    word: 'rate-limit',
    load: async () => (await import('./rate-limit-commands.ts')).rateLimitCommands,
  },
  {
    word: 'rate-limit',
    load: async () => (await import('./rate-limit-fields.ts')).rateLimitFieldsCommand,
  },
  { word: 'trust', load: async () => (await import('./trust-commands.ts')).trustCommands },
  { word: 'log', load: async () => (await import('./log-commands.ts')).logCommands },
  { word: 'ai', load: async () => (await import('./ai-commands.ts')).aiCommands },
  { word: 'log', load: async () => (await import('./log-explain.ts')).logExplainCommand },
  {
    word: 'log',
    load: async () => (await import('./log-policy-commands.ts')).logPolicyCommands,
  },
  { word: 'alert', load: async () => (await import('./alert-commands.ts')).alertCommands },
  {
    word: 'alert',
    load: async () => (await import('./alert-rule-commands.ts')).alertRuleCommands,
  },
  {
    word: 'alert',
    load: async () => (await import('./alert-channel-commands.ts')).alertChannelCommands,
  },
  { word: 'auth', load: async () => (await import('./auth-login.ts')).authLoginCommand },
  { word: 'auth', load: async () => (await import('./auth-logout.ts')).authLogoutCommand },
  {
    word: 'auth',
    load: async () => {
      const all = await import('./auth-whoami.ts');
      return [all.authWhoamiCommand, all.authPermissionsCommand];
    },
  },
  { word: 'auth', load: async () => (await import('./auth-password.ts')).authPasswordCommand },
  {
    word: 'auth',
    load: async () => {
      const all = await import('./auth-totp.ts');
      return [
        all.authTotpStatusCommand,
        all.authTotpEnableCommand,
        all.authTotpDisableCommand,
        all.authTotpRecoveryCommand,
      ];
    },
  },
  { word: 'user', load: async () => (await import('./user-commands.ts')).userCommands },
  { word: 'user', load: async () => (await import('./user-access.ts')).userAccessCommands },
  { word: 'role', load: async () => (await import('./role-commands.ts')).roleCommands },
  { word: 'audit', load: async () => (await import('./audit-commands.ts')).auditCommands },
  { word: 'crs', load: async () => (await import('./crs-test.ts')).crsTestCommand },
  { word: 'seclang', load: async () => (await import('./seclang-test.ts')).seclangTestCommand },
  { word: 'admin', load: async () => (await import('./admin-backup.ts')).adminBackupCommand },
  { word: 'admin', load: async () => (await import('./admin-restore.ts')).adminRestoreCommand },
  { word: 'admin', load: async () => (await import('./admin-verify.ts')).adminVerifyCommand },
  { word: 'install', load: async () => (await import('./install.ts')).installCommand },
  { word: 'uninstall', load: async () => (await import('./install.ts')).uninstallCommand },
  { word: 'mcp', load: async () => (await import('./mcp.ts')).mcpCommand },
  { word: 'debug', load: async () => (await import('./debug.ts')).debugCommand },
  { word: 'doctor', load: async () => (await import('./doctor.ts')).doctorCommand },
  { word: 'completion', load: async () => (await import('./completion.ts')).completionCommand },
  { word: 'version', load: async () => (await import('./version.ts')).versionCommand },
];

/** Prints all commands: it has to know them. */
const wholeTree = 'completion';

/**
 * The commands that a command line (without `node` and script) may mean: those under a word that
 * is on it; all of them when it has no such word, for the help text and for suggestions.
 */
export async function loadCommands(argv: readonly string[]): Promise<CommandDefinition[]> {
  const words = new Set(commandSources.map(({ word }) => word));
  const first = argv.findIndex((one) => words.has(one));
  const helpFirst = argv.slice(0, first).some((one) => one === '--help' || one === '-h');
  const all = first === -1 || helpFirst || argv.includes(wholeTree);
  const meant = commandSources.filter(({ word }) => all || argv.includes(word));
  return (await Promise.all(meant.map(({ load }) => load()))).flat();
}
