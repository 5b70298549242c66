/** `waf agent run`: this machine as an enrolled node, in the foreground. */

import { join } from 'node:path';
import { createLogger, logFormatVariable } from '../../../base/log.ts';
import { formatAddress, readAddress } from '../../supervisor/address.ts';
import { superviseNode } from '../../supervisor/supervise-node.ts';
import {
  accessLogArgs,
  accessLogFlags,
  inspectionFlag,
  proxyProtocolArgs,
  proxyProtocolFlags,
} from '../process/engine-flags.ts';
import { ignoreClosedOutput } from '../closed-output.ts';
import { textFlag, type CommandDefinition } from '../command.ts';
import { onRestartAsked, readSecureProxy, readWorkers, stopSignals } from '../process/run.ts';

/** The command. */
export const agentRunCommand: CommandDefinition = {
  path: ['agent', 'run'],
  summary: 'Run this machine as an enrolled node in the foreground',
  help: 'Needs waf agent enroll first. Serves the last configuration while the controller is away.',
  flags: [
    { flags: '--proxy <host:port>', summary: 'where clients connect', default: '0.0.0.0:8080' },
    {
      flags: '--https <host:port>',
      summary: 'where clients connect with TLS; off for nowhere',
      default: '0.0.0.0:8443',
    },
    {
      flags: '--https-public-port <port>',
      summary: 'port in redirects to HTTPS, where clients reach --https by another',
    },
    ...proxyProtocolFlags('--proxy', '--https'),
    { flags: '--workers <n>', summary: 'front threads; default is one per core' },
    inspectionFlag,
    ...accessLogFlags,
  ],
  run: async ({ options, packageFolder, output }, _args, flags) => {
    process.env[logFormatVariable] = options.logFormat;
    ignoreClosedOutput();
    const asked = stopSignals();
    const named = (['inspection', 'https-public-port'] as const).flatMap((name) => {
      const value = textFlag(flags, name === 'inspection' ? name : 'httpsPublicPort');
      return value === undefined ? [] : [`--${name}`, value];
    });
    const node = await superviseNode({
      buildFolder: join(packageFolder, '.build'),
      data: options.data,
      proxy: readAddress(textFlag(flags, 'proxy') ?? '', '--proxy'),
      secureProxy: readSecureProxy(flags),
      workers: readWorkers(textFlag(flags, 'workers')),
      engineArgs: [...named, ...proxyProtocolArgs(flags), ...accessLogArgs(flags)],
      logLevel: options.logLevel,
      logger: createLogger('supervisor', options.logLevel),
    });
    const stopped = new Promise<void>((resolve) => {
      asked.addEventListener('abort', () => resolve(), { once: true });
      if (asked.aborted) resolve();
    });
    onRestartAsked(() => node.restart());
    process.on('SIGUSR1', () => node.reopenLogs());
    const secure =
      node.secureProxy === null ? '' : ` and https://${formatAddress(node.secureProxy)}`;
    output.line(`Node ${node.name} listens on http://${formatAddress(node.proxy)}${secure}.`);
    await stopped;
    await node.stop();
    return 0;
  },
};
