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
  from('run', () => import('./process/run.ts'), 'runCommand'),
  from('engine', () => import('./process/engine.ts'), 'engineCommand'),
  from('bundle', () => import('./process/bundle-build.ts'), 'bundleBuildCommand'),
  from('apply', () => import('./manifest/apply.ts'), 'applyCommand'),
  from('diff', () => import('./manifest/diff.ts'), 'diffCommand'),
  from('export', () => import('./manifest/export.ts'), 'exportCommand'),
  from('get', () => import('./manifest/get.ts'), 'getCommand'),
  from('site', () => import('./site/site-create.ts'), 'siteCreateCommand'),
  from('site', () => import('./site/site-change.ts'), 'siteChangeCommands'),
  from('site', () => import('./site/site-routing.ts'), 'siteRoutingCommands'),
  from('site', () => import('./site/site-canary.ts'), 'siteCanaryCommand'),
  from('site', () => import('./site/site-move.ts'), 'siteMoveCommands'),
  from('site', () => import('./site/site-tls.ts'), 'siteTlsCommand'),
  from('site', () => import('./site/site-option-commands.ts'), 'siteOptionCommands'),
  from('site', () => import('./site/site-delivery.ts'), 'siteDeliveryCommands'),
  from('learning', () => import('./site/learning-commands.ts'), 'learningCommands'),
  from('site', () => import('./site/site-option-commands.ts'), 'siteApplicationsCommand'),
  from('upstream', () => import('./site/upstream-commands.ts'), 'upstreamCommands'),
  from('cert', () => import('./cert/cert-commands.ts'), 'certCommands'),
  from('cert', () => import('./cert/cert-dns-commands.ts'), 'certDnsCommands'),
  from('system', () => import('./system/system-commands.ts'), 'systemCommands'),
  from('system', () => import('./system/system-top-commands.ts'), 'systemTopCommands'),
  from('system', () => import('./system/system-geo-commands.ts'), 'systemGeoCommands'),
  from('release', () => import('./release/release-commands.ts'), 'releaseCommands'),
  from('release', () => import('./release/release-run-commands.ts'), 'releaseRunCommands'),
  from('release', () => import('./release/release-sign-commands.ts'), 'releaseSignCommands'),
  from('release', () => import('./release/release-deb.ts'), 'releaseDebCommand'),
  from('release', () => import('./release/release-image.ts'), 'releaseImageCommand'),
  from('release', () => import('./release/release-index.ts'), 'releaseIndexCommand'),
  from('update', () => import('./release/update.ts'), 'updateCommand'),
  from('agent', () => import('./agent/agent-commands.ts'), 'agentCommands'),
  from('agents', () => import('./agent/agent-commands.ts'), 'agentsCommand'),
  from('agent', () => import('./agent/agent-load-command.ts'), 'agentLoadCommands'),
  from('agent', () => import('./agent/agent-enroll.ts'), 'agentEnrollCommand'),
  from('agent', () => import('./agent/agent-run.ts'), 'agentRunCommand'),
  from('agent', () => import('./agent/agent-release-keys.ts'), 'agentReleaseKeysCommand'),
  from('agent', () => import('./agent/agent-change-commands.ts'), 'agentChangeCommands'),
  from('agent-group', () => import('./agent/agent-group-commands.ts'), 'agentGroupCommands'),
  from('policy', () => import('./policy/policy-commands.ts'), 'policyCommands'),
  from('policy', () => import('./policy/policy-import.ts'), 'policyImportCommand'),
  from('policy', () => import('./policy/policy-test.ts'), 'policyTestCommand'),
  from('policy', () => import('./policy/policy-preview.ts'), 'policyPreviewCommand'),
  from('policy', () => import('./policy/policy-replay.ts'), 'policyReplayCommand'),
  from('policy', () => import('./policy/policy-version-commands.ts'), 'policyVersionCommands'),
  from('rule', () => import('./policy/rule-commands.ts'), 'ruleCommands'),
  from('rule', () => import('./policy/rule-override-commands.ts'), 'ruleOverrideCommands'),
  from('rule', () => import('./policy/rule-exclude.ts'), 'ruleExcludeCommand'),
  from('dashboard', () => import('./log/dashboard.ts'), 'dashboardCommand'),
  from('api', () => import('./api/api-commands.ts'), 'apiCommands'),
  from('api-document', () => import('./api/api-document-commands.ts'), 'apiDocumentCommands'),
  from('explain', () => import('./policy/explain.ts'), 'explainCommand'),
  from('patch', () => import('./policy/patch-commands.ts'), 'patchCommands'),
  from('crs', () => import('./policy/crs-commands.ts'), 'crsCommands'),
  from('crs', () => import('./policy/crs-plugin-commands.ts'), 'crsPluginCommands'),
  from('ip-list', () => import('./protection/ip-list-commands.ts'), 'ipListCommands'),
  from(
    'ip-list',
    () => import('./protection/ip-list-subscription-commands.ts'),
    'ipListSubscriptionCommands',
  ),
  from('bot', () => import('./protection/bot-commands.ts'), 'botCommands'),
  from('bot', () => import('./protection/bot-verifier-commands.ts'), 'botVerifierCommands'),
  from('country', () => import('./protection/country-commands.ts'), 'countryCommands'),
  from('rate-limit', () => import('./protection/rate-limit-commands.ts'), 'rateLimitCommands'),
  from('rate-limit', () => import('./site/site-option-commands.ts'), 'rateLimitFieldsCommand'),
  from('trust', () => import('./protection/trust-commands.ts'), 'trustCommands'),
  from('log', () => import('./log/log-commands.ts'), 'logCommands'),
  from('ai', () => import('./assistant/ai-commands.ts'), 'aiCommands'),
  from('log', () => import('./log/log-hits.ts'), 'logHitsCommand'),
  from('log', () => import('./log/log-explain.ts'), 'logExplainCommand'),
  from('log', () => import('./log/log-policy-commands.ts'), 'logPolicyCommands'),
  from('log', () => import('./log/evidence-key-commands.ts'), 'evidenceKeyCommands'),
  from('alert', () => import('./alert/alert-commands.ts'), 'alertCommands'),
  from('alert', () => import('./alert/alert-rule-commands.ts'), 'alertRuleCommands'),
  from('alert', () => import('./alert/alert-channel-commands.ts'), 'alertChannelCommands'),
  from('auth', () => import('./user/auth-login.ts'), 'authLoginCommand'),
  from('auth', () => import('./user/auth-commands.ts'), 'authCommands'),
  from('auth', () => import('./user/auth-totp.ts'), 'authTotpCommands'),
  from('user', () => import('./user/user-commands.ts'), 'userCommands'),
  from('user', () => import('./user/user-access.ts'), 'userAccessCommands'),
  from('passkey', () => import('./user/passkey-commands.ts'), 'passkeyCommands'),
  from('session', () => import('./user/session-commands.ts'), 'sessionCommands'),
  from('token', () => import('./user/token-commands.ts'), 'tokenCommands'),
  from('role', () => import('./user/role-commands.ts'), 'roleCommands'),
  from('audit', () => import('./log/audit-commands.ts'), 'auditCommands'),
  from('crs', () => import('./policy/crs-test.ts'), 'crsTestCommand'),
  from('seclang', () => import('./policy/seclang-test.ts'), 'seclangTestCommand'),
  from('admin', () => import('./admin/admin-commands.ts'), 'adminCommands'),
  from('install', () => import('./process/install.ts'), 'installCommand'),
  from('uninstall', () => import('./process/install.ts'), 'uninstallCommand'),
  from('mcp', () => import('./assistant/mcp.ts'), 'mcpCommand'),
  from('debug', () => import('./process/debug.ts'), 'debugCommand'),
  from('doctor', () => import('./process/doctor.ts'), 'doctorCommand'),
  from('completion', () => import('./completion.ts'), 'completionCommand'),
  from('version', () => import('./process/version.ts'), 'versionCommand'),
];

/** The commands that a file exports by a name. */
function from<N extends string>(
  word: string,
  load: () => Promise<Readonly<Record<N, CommandDefinition | readonly CommandDefinition[]>>>,
  name: N,
): CommandSource {
  return { word, load: async () => (await load())[name] };
}

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
