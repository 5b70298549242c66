/** `waf seclang test`: unit tables and regression cases of the rule language. */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import type { CommandDefinition } from '../command.ts';

/** The command. Rules run in the engine's own program: this process never loads the addon. */
export const seclangTestCommand: CommandDefinition = {
  path: ['seclang', 'test'],
  summary: 'Run unit tables or ModSecurity regression cases of the rule language',
  help: 'The last line is "N passed, N failed, N skipped"; exit code 1 when a case failed.',
  arguments: [{ name: '<file>', summary: 'JSONL file of cases' }],
  flags: [{ flags: '--report <file>', summary: 'write results as JSON' }],
  run: ({ packageFolder }, [file = ''], flags) => {
    const script = join(packageFolder, '.build', 'engine', 'simulate', 'seclang-test.js');
    if (!existsSync(script)) {
      throw new AppError('not_built', `${script} is missing`, { source: 'config' });
    }
    const report = typeof flags['report'] === 'string' ? ['--report', flags['report']] : [];
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [script, file, ...report], { stdio: 'inherit' });
      child.on('error', reject);
      child.on('close', (code) => resolve(code ?? 1));
    });
  },
};
