/** `waf auth totp ...`: the caller's second factor. */

import type { CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { textFlag } from '../command.ts';
import { showMessage, timeText } from '../show.ts';

const codeFlag: FlagDefinition = {
  flags: '--code <code>',
  summary: 'code of the authenticator app; asked for when left out',
};

/** State of the factor. */
export const authTotpStatusCommand: CommandDefinition = {
  path: ['auth', 'totp', 'status'],
  summary: 'Show whether a second factor is on',
  run: async (context) => {
    const { auth } = await context.api();
    const response = await auth.getMFAStatus({});
    const { totpEnabled, enabledAt, recoveryCodesLeft } = response;
    return showMessage(context, response, {
      columns: ['TOTP', 'SINCE', 'RECOVERY CODES LEFT'],
      rows: [[totpEnabled ? 'on' : 'off', timeText(enabledAt), String(recoveryCodesLeft)]],
    });
  },
};

/** Enrollment, in one go. */
export const authTotpEnableCommand: CommandDefinition = {
  path: ['auth', 'totp', 'enable'],
  summary: 'Switch a second factor on',
  help: 'Shows the secret for an authenticator app, asks for its code, shows the recovery codes.',
  run: async (context) => {
    const { askLine } = await import('../auth-prompt.ts');
    const { auth } = await context.api();
    const { enrollmentToken, secret, provisioningUri } = await auth.beginTOTPEnrollment({});
    context.output.note(`Secret   ${secret}\nAddress  ${provisioningUri}`);
    const code = await askLine('Code of the app: ', 'a terminal');
    const response = await auth.confirmTOTPEnrollment({ enrollmentToken, code });
    return showMessage(context, response, {
      columns: ['RECOVERY CODE (shown once)'],
      rows: response.recoveryCodes.map((one) => [one]),
    });
  },
};

/** Removal. */
export const authTotpDisableCommand: CommandDefinition = {
  path: ['auth', 'totp', 'disable'],
  summary: 'Switch the second factor off',
  flags: [codeFlag],
  run: async (context, _args, flags) => {
    const { auth } = await context.api();
    const response = await auth.disableTOTP({ code: await readCode(flags) });
    const rows = [[response.disabled ? 'off' : 'on']];
    return showMessage(context, response, { columns: ['TOTP'], rows });
  },
};

/** New recovery codes. */
export const authTotpRecoveryCommand: CommandDefinition = {
  path: ['auth', 'totp', 'recovery-codes'],
  summary: 'Replace the recovery codes',
  flags: [codeFlag],
  run: async (context, _args, flags) => {
    const { auth } = await context.api();
    const response = await auth.regenerateRecoveryCodes({ code: await readCode(flags) });
    return showMessage(context, response, {
      columns: ['RECOVERY CODE (shown once)'],
      rows: response.recoveryCodes.map((one) => [one]),
    });
  },
};

async function readCode(flags: FlagValues): Promise<string> {
  const { askLine } = await import('../auth-prompt.ts');
  return textFlag(flags, 'code') ?? askLine('Code of the app: ', '--code');
}
