/** `waf auth password`: changes the caller's own password. */

import type { CommandDefinition } from '../command.ts';

/** The command. */
export const authPasswordCommand: CommandDefinition = {
  path: ['auth', 'password'],
  summary: 'Change your own password',
  help: 'Asks for the old and the new password without echo; your other sessions end.',
  run: async (context) => {
    const { askSecret, readNewPassword } = await import('../auth-prompt.ts');
    const { auth } = await context.api();
    const currentPassword = await askSecret('Present password: ', 'a terminal');
    const newPassword = await readNewPassword(false, 'New password');
    const { changed } = await auth.changePassword({ currentPassword, newPassword });
    context.output.result({ changed }, { columns: ['CHANGED'], rows: [['yes']] });
    return 0;
  },
};
