/** The list of commands; its order is the order of the help text. */

import { adminBackupCommand } from './admin-backup.ts';
import { adminRestoreCommand } from './admin-restore.ts';
import { adminVerifyCommand } from './admin-verify.ts';
import { agentCommands } from './agent-commands.ts';
import { agentLoadCommands } from './agent-load-command.ts';
import { agentGroupCommands } from './agent-group-commands.ts';
import { applyCommand } from './apply.ts';
import { auditCommands } from './audit-commands.ts';
import { authLoginCommand } from './auth-login.ts';
import { authLogoutCommand } from './auth-logout.ts';
import { authPasswordCommand } from './auth-password.ts';
import {
  authTotpDisableCommand,
  authTotpEnableCommand,
  authTotpRecoveryCommand,
  authTotpStatusCommand,
} from './auth-totp.ts';
import { authPermissionsCommand, authWhoamiCommand } from './auth-whoami.ts';
import { bundleBuildCommand } from './bundle-build.ts';
import { certCommands } from './cert-commands.ts';
import { certDnsCommands } from './cert-dns-commands.ts';
import type { CommandDefinition } from './command.ts';
import { completionCommand } from './completion.ts';
import { countryCommands } from './country-commands.ts';
import { crsCommands } from './crs-commands.ts';
import { crsPluginCommands } from './crs-plugin-commands.ts';
import { crsTestCommand } from './crs-test.ts';
import { diffCommand } from './diff.ts';
import { doctorCommand } from './doctor.ts';
import { engineCommand } from './engine.ts';
import { exportCommand } from './export.ts';
import { ipListCommands } from './ip-list-commands.ts';
import { ipListSubscriptionCommands } from './ip-list-subscription-commands.ts';
import { logSecurityCommand } from './log-security.ts';
import { policyCommands } from './policy-commands.ts';
import { policyListCommand } from './policy-list.ts';
import { policyPreviewCommand } from './policy-preview.ts';
import { policyTestCommand } from './policy-test.ts';
import { policyVersionCommands } from './policy-version-commands.ts';
import { rateLimitCommands } from './rate-limit-commands.ts';
import { roleCommands } from './role-commands.ts';
import { ruleCommands } from './rule-commands.ts';
import { ruleOverrideCommands } from './rule-override-commands.ts';
import { runCommand } from './run.ts';
import { seclangTestCommand } from './seclang-test.ts';
import { siteChangeCommands } from './site-change.ts';
import { siteCreateCommand } from './site-create.ts';
import { siteGetCommand } from './site-get.ts';
import { siteListCommand } from './site-list.ts';
import { siteMoveCommands } from './site-move.ts';
import { siteRoutingCommands } from './site-routing.ts';
import { systemCommands } from './system-commands.ts';
import { trustCommands } from './trust-commands.ts';
import { upstreamCommands } from './upstream-commands.ts';
import { userAccessCommands } from './user-access.ts';
import { userCommands } from './user-commands.ts';
import { systemGeoCommands } from './system-geo-commands.ts';
import { systemTopCommands } from './system-top-commands.ts';
import { versionCommand } from './version.ts';

/** Every command of `waf`. */
export const commands: readonly CommandDefinition[] = [
  runCommand,
  engineCommand,
  bundleBuildCommand,
  applyCommand,
  diffCommand,
  exportCommand,
  siteCreateCommand,
  siteListCommand,
  siteGetCommand,
  ...siteChangeCommands,
  ...siteRoutingCommands,
  ...siteMoveCommands,
  ...upstreamCommands,
  ...certCommands,
  ...certDnsCommands,
  ...systemCommands,
  ...systemTopCommands,
  ...systemGeoCommands,
  ...agentCommands,
  ...agentLoadCommands,
  ...agentGroupCommands,
  policyListCommand,
  ...policyCommands,
  policyTestCommand,
  policyPreviewCommand,
  ...policyVersionCommands,
  ...ruleCommands,
  ...ruleOverrideCommands,
  ...crsCommands,
  ...crsPluginCommands,
  ...ipListCommands,
  ...ipListSubscriptionCommands,
  ...countryCommands,
  ...rateLimitCommands,
  ...trustCommands,
  logSecurityCommand,
  authLoginCommand,
  authLogoutCommand,
  authWhoamiCommand,
  authPermissionsCommand,
  authPasswordCommand,
  authTotpStatusCommand,
  authTotpEnableCommand,
  authTotpDisableCommand,
  authTotpRecoveryCommand,
  ...userCommands,
  ...userAccessCommands,
  ...roleCommands,
  ...auditCommands,
  crsTestCommand,
  seclangTestCommand,
  adminBackupCommand,
  adminRestoreCommand,
  adminVerifyCommand,
  doctorCommand,
  completionCommand,
  versionCommand,
];
