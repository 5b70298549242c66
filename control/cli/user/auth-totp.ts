/** `waf auth totp ...`: the caller's second factor. */

import type { CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { textFlag } from '../command.ts';
import { callCommand } from '../regular-commands.ts';
import { showMessage, timeText } from '../show.ts';

const codeFlag: FlagDefinition = {
  flags: '--code <code>',
  summary: 'code of the authenticator app; asked for when left out',
};

/** Commands on the caller's second factor. */
export const authTotpCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['auth', 'totp', 'status'],
    summary: 'Show whether a second factor is on',
    call: ({ auth }) => auth.getMFAStatus({}),
    table: ({ totpEnabled, enabledAt, recoveryCodesLeft }) => ({
      columns: ['TOTP', 'SINCE', 'RECOVERY CODES LEFT'],
      rows: [[totpEnabled ? 'on' : 'off', timeText(enabledAt), String(recoveryCodesLeft)]],
    }),
  }),
  {
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
  },
  callCommand({
    path: ['auth', 'totp', 'disable'],
    summary: 'Switch the second factor off',
    flags: [codeFlag],
    call: async ({ auth }, _args, flags) => auth.disableTOTP({ code: await readCode(flags) }),
    table: ({ disabled }) => ({ columns: ['TOTP'], rows: [[disabled ? 'off' : 'on']] }),
  }),
  callCommand({
    path: ['auth', 'totp', 'recovery-codes'],
    summary: 'Replace the recovery codes',
    flags: [codeFlag],
    call: async ({ auth }, _args, flags) =>
      auth.regenerateRecoveryCodes({ code: await readCode(flags) }),
    table: (response) => ({
      columns: ['RECOVERY CODE (shown once)'],
      rows: response.recoveryCodes.map((one) => [one]),
    }),
  }),
];

async function readCode(flags: FlagValues): Promise<string> {
  const { askLine } = await import('../auth-prompt.ts');
  return textFlag(flags, 'code') ?? askLine('Code of the app: ', '--code');
}
