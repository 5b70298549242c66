/** `waf debug`: what control and its engine say of themselves, over the local socket only. */

import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { debugLimits } from '../../../base/debug-figures.ts';
import { debugSubjects } from '../../../base/debug-question.ts';
import { AppError } from '../../../base/errors.ts';
import { textFlag, type CommandDefinition } from '../command.ts';
import { badFlag } from '../input.ts';

/** The command. */
export const debugCommand: CommandDefinition = {
  path: ['debug'],
  summary: 'Show figures of control and engine: memory, threads, queues, profiles',
  help:
    'Prints JSON whose fields may change between versions. Asks the local socket, never --api.\n' +
    'A profile is one of a browser: open the file in its developer tools. It is audited.\n' +
    'Example: waf debug profile --process engine --thread front-0 --seconds 5 --out a.cpuprofile',
  arguments: [{ name: '<subject>', summary: 'what to show', choices: debugSubjects }],
  flags: [
    { flags: '--seconds <n>', summary: `how long to measure, 1 to ${debugLimits.secondsMax}` },
    { flags: '--process <name>', summary: 'of a profile', choices: ['control', 'engine'] },
    { flags: '--thread <name>', summary: 'of a profile: main, or front-0 and so on' },
    { flags: '--out <file>', summary: 'file to write instead of printing' },
  ],
  run: async ({ options, output }, [subject = ''], flags) => {
    const query = new URLSearchParams();
    for (const name of ['seconds', 'process', 'thread']) {
      const value = textFlag(flags, name);
      if (value !== undefined) query.set(name, value);
    }
    const { status, text } = await ask(
      options.adminSocket,
      `/debug/${subject}?${query.toString()}`,
    );
    const body = readJson(text);
    if (status !== 200) throw badFlag(`${subject}: ${messageOf(body)}`);
    const file = textFlag(flags, 'out');
    if (file === undefined) output.line(JSON.stringify(body, null, 2));
    else writeFileSync(file, text, { mode: 0o600 });
    return 0;
  },
};

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Errors: AppError unreachable. */
function ask(socketPath: string, path: string): Promise<Reply> {
  const timeout = debugLimits.secondsMax * 1000 + 2 * debugLimits.answerWaitMs;
  return new Promise((resolve, reject) => {
    const asked = get({ socketPath, path, agent: false, timeout }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(pieces).toString('utf8'),
        }),
      );
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
    asked.on('error', (cause) => {
      const message = `${socketPath} does not answer: is waf running, and may you read it?`;
      reject(new AppError('unreachable', message, { source: 'client', cause }));
    });
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badFlag('the service sent no JSON; is it of this version?');
  }
}

function messageOf(body: unknown): string {
  const { message } = (body ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message : 'the service refused without a reason';
}
