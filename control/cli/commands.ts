/** The list of commands; its order is the order of the help text. */

import { adminBackupCommand } from './admin-backup.ts';
import { adminRestoreCommand } from './admin-restore.ts';
import { adminVerifyCommand } from './admin-verify.ts';
import { bundleBuildCommand } from './bundle-build.ts';
import type { CommandDefinition } from './command.ts';
import { completionCommand } from './completion.ts';
import { crsTestCommand } from './crs-test.ts';
import { engineCommand } from './engine.ts';
import { logSecurityCommand } from './log-security.ts';
import { policyListCommand } from './policy-list.ts';
import { policyPreviewCommand } from './policy-preview.ts';
import { policyTestCommand } from './policy-test.ts';
import { runCommand } from './run.ts';
import { seclangTestCommand } from './seclang-test.ts';
import { siteCreateCommand } from './site-create.ts';
import { siteGetCommand } from './site-get.ts';
import { siteListCommand } from './site-list.ts';
import { versionCommand } from './version.ts';

/** Every command of `waf`. */
export const commands: readonly CommandDefinition[] = [
  runCommand,
  engineCommand,
  bundleBuildCommand,
  siteCreateCommand,
  siteListCommand,
  siteGetCommand,
  policyListCommand,
  policyTestCommand,
  policyPreviewCommand,
  logSecurityCommand,
  crsTestCommand,
  seclangTestCommand,
  adminBackupCommand,
  adminRestoreCommand,
  adminVerifyCommand,
  completionCommand,
  versionCommand,
];
