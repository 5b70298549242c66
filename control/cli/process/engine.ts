/** `waf engine`: the engine alone, from a bundle file; needs no control process. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { logFormatVariable } from '../../../base/log.ts';
import { readChildMessage } from '../../supervisor/messages.ts';
import {
  accessLogArgs,
  accessLogFlags,
  inspectionFlag,
  listenerFlag,
  proxyProtocolArgs,
  proxyProtocolFlags,
} from './engine-flags.ts';
import { ignoreClosedOutput } from '../closed-output.ts';
import { textFlag, type CommandDefinition } from '../command.ts';

/** The command. */
export const engineCommand: CommandDefinition = {
  path: ['engine'],
  summary: 'Run the engine alone from a bundle file',
  help: 'Example: waf bundle build -f site.yaml -o site.bundle && waf engine --bundle site.bundle',
  flags: [
    { flags: '--bundle <file>', summary: 'bundle made by waf bundle build', required: true },
    { flags: '--listen <host:port>', summary: 'where clients connect', default: '127.0.0.1:8080' },
    { flags: '--https-listen <host:port>', summary: 'where clients connect with TLS' },
    {
      flags: '--https-public-port <port>',
      summary: 'port in redirects to HTTPS, where clients reach --https-listen by another',
    },
    ...proxyProtocolFlags('--listen', '--https-listen'),
    { flags: '--workers <n>', summary: 'front threads; default is one per core' },
    inspectionFlag,
    listenerFlag,
    { flags: '--events <file>', summary: 'write one JSON line for each finished request' },
    ...accessLogFlags,
    {
      flags: '--rbl-zones <names>',
      summary: 'DNS block lists that rules may ask (@rbl), commas between (WAF_RBL_ZONES)',
    },
  ],
  run: ({ options, packageFolder }, _args, flags) => {
    const secure = [
      ['https-listen', textFlag(flags, 'httpsListen')],
      ['https-public-port', textFlag(flags, 'httpsPublicPort')],
    ] as const;
    const passed = ['bundle', 'listen', 'listener', 'workers', 'inspection', 'events'].flatMap(
      (name) => {
        const value = textFlag(flags, name);
        return value === undefined ? [] : [`--${name}`, value];
      },
    );
    for (const [name, value] of secure) if (value !== undefined) passed.push(`--${name}`, value);
    const zones = textFlag(flags, 'rblZones');
    passed.push(...accessLogArgs(flags), ...proxyProtocolArgs(flags));
    if (zones !== undefined) passed.push('--rbl-zones', zones);
    process.env[logFormatVariable] = options.logFormat;
    ignoreClosedOutput();
    const script = join(packageFolder, '.build', 'engine', 'main.js');
    const common = ['--data', options.data, '--log-level', options.logLevel];
    return runForeground(script, [...common, ...passed]);
  },
};

/** Runs a script as a child that hears our signals. Resolves to its exit code. */
function runForeground(script: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    // The channel tells it when this process is gone, and us why it cannot serve.
    const stdio = ['inherit', 'inherit', 'inherit', 'ipc'] as const;
    const child = spawn(process.execPath, [script, ...args], { stdio: [...stdio] });
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => child.kill('SIGTERM'));
    }
    // Before it listens for the signal, it would open node's debugger.
    let ready = false;
    process.on('SIGUSR1', () => {
      if (ready) child.kill('SIGUSR1');
    });
    child.on('message', (raw) => {
      const message = readChildMessage(raw);
      if (message?.type === 'ready') ready = true;
      if (message?.type === 'fatal') process.stderr.write(`waf: ${message.message}\n`);
    });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
