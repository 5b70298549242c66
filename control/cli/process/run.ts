/** `waf run`: the whole product in the foreground. */

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import { supervisorLimits } from '../../limits/command-limits.ts';
import { createLogger, logFormatVariable } from '../../../base/log.ts';
import { settleRestore } from '../../store/settle-restore.ts';
import { storeKeyVariable } from '../../store/shared/store-key.ts';
import { storeAddressText, storeVariable } from '../../store/shared/store-option.ts';
import { formatAddress, readAddress, type Address } from '../../supervisor/address.ts';
import { createProgressView } from '../../supervisor/progress.ts';
import { supervise, type Supervised } from '../../supervisor/supervise.ts';
import {
  accessLogArgs,
  accessLogFlags,
  inspectionFlag,
  listenerFlag,
  proxyProtocolArgs,
  proxyProtocolFlags,
} from './engine-flags.ts';
import { ignoreClosedOutput } from '../closed-output.ts';
import {
  switchFlag,
  textFlag,
  type CommandContext,
  type CommandDefinition,
  type FlagValues,
} from '../command.ts';
import { keepListeners } from '../listeners.ts';

/** The command. */
export const runCommand: CommandDefinition = {
  path: ['run'],
  summary: 'Run control and engine in the foreground',
  help: 'Stops cleanly on SIGTERM and SIGINT. SIGUSR2 restarts control and engine, SIGUSR1 opens the access log anew. The first start makes a demo site on a demo origin.',
  flags: [
    {
      flags: '--proxy <host:port>',
      summary: 'where clients connect',
      default: '127.0.0.1:8080',
    },
    {
      flags: '--https <host:port>',
      summary: 'where clients connect with TLS; off for nowhere',
      default: '127.0.0.1:8443',
    },
    {
      flags: '--https-public-port <port>',
      summary: 'port in redirects to HTTPS, where clients reach --https by another',
    },
    ...proxyProtocolFlags('--proxy', '--https'),
    {
      flags: '--management <host:port>',
      summary: 'where the management API listens',
      default: '127.0.0.1:9080',
    },
    {
      flags: '--management-tls <how>',
      summary: 'own: certificate of the product or of --management-cert; off: plain HTTP',
      choices: ['own', 'off'],
      default: 'own',
    },
    {
      flags: '--management-cert <file>',
      summary: 'PEM file with its certificate and chain; read again when it changes',
    },
    { flags: '--management-key <file>', summary: 'PEM file with the key of --management-cert' },
    {
      flags: '--metrics-listen <host:port>',
      summary: 'serve metrics there, to anyone who can reach it; default nowhere',
    },
    { flags: '--no-demo', summary: 'no demo site and no demo origin' },
    { flags: '--workers <n>', summary: 'front threads; default is one per core' },
    inspectionFlag,
    listenerFlag,
    {
      flags: '--store <where>',
      summary: 'embedded, postgres://USER@HOST/DATABASE that controllers share, or a file with it',
    },
    ...accessLogFlags,
  ],
  run: async (context, _args, flags) => {
    const { options } = context;
    const proxy = readAddress(textFlag(flags, 'proxy') ?? '', '--proxy');
    const management = readAddress(textFlag(flags, 'management') ?? '', '--management');
    const engineArgs = (['inspection', 'listener'] as const).flatMap((name) => {
      const value = textFlag(flags, name);
      return value === undefined ? [] : [`--${name}`, value];
    });
    const publicPort = textFlag(flags, 'httpsPublicPort');
    if (publicPort !== undefined) engineArgs.push('--https-public-port', publicPort);
    engineArgs.push(...proxyProtocolArgs(flags));
    const tlsFlags = ['management-tls', 'management-cert', 'management-key'] as const;
    const controlArgs = tlsFlags.flatMap((name) => {
      const value = textFlag(flags, camelCase(name));
      if (value === undefined) return [];
      return [`--${name}`, name === 'management-tls' ? value : resolve(value)];
    });
    const metrics = textFlag(flags, 'metricsListen');
    if (metrics !== undefined) controlArgs.push('--metrics-listen', metrics);
    const store = textFlag(flags, 'store');
    if (store !== undefined) process.env[storeVariable] = storeAddressText(store);
    // Both programs and their threads write to the standard error of this one.
    process.env[logFormatVariable] = options.logFormat;
    const began = performance.now();
    const asked = stopSignals();
    ignoreClosedOutput();
    const product = await supervise({
      buildFolder: join(context.packageFolder, '.build'),
      data: options.data,
      adminSocket: options.adminSocket,
      proxy,
      secureProxy: readSecureProxy(flags),
      management,
      demo: switchFlag(flags, 'demo'),
      controlArgs,
      controlVariables: [storeVariable, storeKeyVariable],
      workers: readWorkers(textFlag(flags, 'workers')),
      holdsSockets: textFlag(flags, 'listener') !== 'uws',
      engineArgs: [...engineArgs, ...accessLogArgs(flags)],
      prepareData: settleRestore,
      logLevel: options.logLevel,
      logger: createLogger('supervisor', options.logLevel),
      progress: createProgressView({
        isTty: process.stderr.isTTY,
        columns: process.stderr.columns ?? 80,
        write: (text) => process.stderr.write(text),
      }),
      stopAsked: asked,
    }).catch((error: unknown) => {
      if (!asked.aborted) throw error;
      return null;
    });
    if (product === null) return 0;
    asked.addEventListener('abort', () => void product.stop(), { once: true });
    onRestartAsked(() => product.restart());
    process.on('SIGUSR1', () => product.reopenLogs());
    if (asked.aborted) await product.stop();
    keepListeners(product.adminSocket, product);
    const plain =
      textFlag(flags, 'managementTls') === 'off' && textFlag(flags, 'managementCert') === undefined;
    const urls = {
      proxy: `http://${formatAddress(product.proxy)}`,
      secure: product.secureProxy === null ? '' : `https://${formatAddress(product.secureProxy)}`,
      management: `${plain ? 'http' : 'https'}://${formatAddress(product.management)}`,
    };
    const demo = switchFlag(flags, 'demo');
    printWelcome(context, product, { ...urls, demo }, performance.now() - began);
    return product.ended;
  },
};

/** uWebSockets.js serves plain HTTP only. Errors: AppError bad_address. */
export function readSecureProxy(flags: FlagValues): Address | null {
  const text = textFlag(flags, 'https') ?? 'off';
  if (text === 'off' || textFlag(flags, 'listener') === 'uws') return null;
  return readAddress(text, '--https');
}

/** Aborted by the signals that ask for a clean stop: also when the terminal is closed. */
export function stopSignals(): AbortSignal {
  const asked = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => asked.abort());
  return asked.signal;
}

/** SIGUSR2, which an upgrade sends when the new files are in place; one restart at a time. */
export function onRestartAsked(restart: () => Promise<void>): void {
  let running: Promise<void> | null = null;
  process.on('SIGUSR2', () => {
    running ??= restart().finally(() => (running = null));
  });
}

/** Errors: AppError bad_option. */
export function readWorkers(text: string | undefined): number {
  if (text === undefined) return availableParallelism();
  const workers = Number(text);
  if (Number.isInteger(workers) && workers >= 1 && workers <= supervisorLimits.workersMax) {
    return workers;
  }
  const wanted = `--workers takes a whole number from 1 to ${supervisorLimits.workersMax}`;
  throw new AppError('bad_option', `${wanted}, not ${text}.`, { source: 'config' });
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** What a person needs next. */
function printWelcome(
  { output, options, packageFolder }: CommandContext,
  product: Supervised,
  urls: { proxy: string; secure: string; management: string; demo: boolean },
  tookMs: number,
): void {
  const near = (path: string): string => {
    const short = relative(process.cwd(), path);
    return short.startsWith('..') ? path : short;
  };
  // Without --data, commands look in the package's folder.
  const standard = isInstalled() || options.data === join(packageFolder, 'var');
  const elsewhere = standard ? '' : ` --data ${near(options.data)}`;
  // The file goes when that password changes.
  const { passwordFile } = product;
  const firstPassword = existsSync(passwordFile) ? `, first password in ${near(passwordFile)}` : '';
  output.line(`Ready in ${(tookMs / 1000).toFixed(1)} s.

  Console          ${urls.management}/
  Proxy            ${urls.proxy}${urls.secure === '' ? '' : `\n  Proxy with TLS   ${urls.secure}`}
  Management API   ${urls.management}
  Administrator    user admin${firstPassword}
  Local socket     ${near(product.adminSocket)}

${urls.demo ? demoSteps(urls.proxy, elsewhere) : siteSteps(elsewhere)}
`);
}

/** An installed program has a settings file, which its commands read too. */
function isInstalled(): boolean {
  return process.env['WAF_CONFIG'] !== undefined;
}

/** An installed program is found by its name; `npx` finds that of the folder it was built in. */
function commandName(): string {
  return isInstalled() ? 'waf' : 'npx waf';
}

function demoSteps(proxy: string, elsewhere: string): string {
  return `Try:
  curl -i '${proxy}/?q=hello'
      passes: 200
  curl -i '${proxy}/?id=1%27%20OR%20%271%27=%271'
      is blocked: 403; its X-Request-Id finds the event:
  ${commandName()} log security --request-id <X-Request-Id>${elsewhere}`;
}

/** Without the demo site a first request would get 404. */
function siteSteps(elsewhere: string): string {
  return `Create your first site:
  ${commandName()} site create --name NAME --host HOST --upstream http://ADDRESS:PORT${elsewhere}`;
}
