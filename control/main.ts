/** The control process: flags in, signals, the channel to the supervisor. */

import { isAbsolute, join } from 'node:path';
import { parseArgs } from 'node:util';
import { toAppError } from '../base/errors.ts';
import { createLogger, type LogLevel } from '../base/log.ts';
import { onStopAsked, surviveClosedOutput, notifySupervisor } from '../base/supervisor-channel.ts';
import type { ManagementTls } from './api/listener/management-tls.ts';
import { readOtlpSettings } from './export/otlp/otlp-settings.ts';
import {
  clickhouseVariable,
  readClickhouseOption,
} from './observe/clickhouse/clickhouse-option.ts';
import { evidenceKeysVariable, readEvidenceKeys } from './observe/evidence/evidence-keyring.ts';
import { storeKeyVariable } from './store/shared/store-key.ts';
import { readStoreAddress, storeVariable } from './store/shared/store-option.ts';
import { startControl, type Control } from './start.ts';

const usage =
  'control --data DIR --management HOST:PORT --admin-socket PATH [--engine-socket PATH] ' +
  '[--management-fd DESCRIPTOR] ' +
  '[--management-tls own|off] [--management-cert FILE --management-key FILE] ' +
  '[--metrics-listen HOST:PORT] [--no-demo] [--demo-origin URL] [--log-level LEVEL]';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string', default: 'var' },
      management: { type: 'string', default: '127.0.0.1:9080' },
      'management-fd': { type: 'string' },
      'management-tls': { type: 'string', default: 'own' },
      'management-cert': { type: 'string' },
      'management-key': { type: 'string' },
      'admin-socket': { type: 'string' },
      'engine-socket': { type: 'string' },
      'metrics-listen': { type: 'string' },
      'no-demo': { type: 'boolean', default: false },
      'demo-origin': { type: 'string' },
      'log-level': { type: 'string', default: 'info' },
    },
  });
  const logger = createLogger('control', values['log-level'] as LogLevel);
  let control: Control | null = null;
  onStopAsked(() => {
    // What is stored is whole at any moment: a start that is not wanted any more just ends.
    if (control === null) return process.exit(0);
    control.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
  const demoOrigin = values['no-demo'] ? null : (values['demo-origin'] ?? null);
  const scrapers = values['metrics-listen'];
  control = await startControl({
    dataFolder: values.data,
    store: readStoreAddress(process.env[storeVariable] ?? '', storeVariable),
    ...readStoreKeyFile(process.env[storeKeyVariable]),
    management: {
      ...readAddress(values.management),
      fd: readDescriptor(values['management-fd']),
    },
    managementTls: readTls(
      values['management-tls'],
      values['management-cert'],
      values['management-key'],
    ),
    adminSocket: values['admin-socket'] ?? join(values.data, 'admin.sock'),
    engineSocket: values['engine-socket'] ?? join(values.data, 'engine.sock'),
    demoOrigin,
    startsNode: process.send !== undefined,
    ...(scrapers === undefined ? {} : { metrics: readAddress(scrapers, '--metrics-listen') }),
    otlp: readOtlpSettings(process.env),
    clickhouse: readClickhouseOption(process.env[clickhouseVariable] ?? ''),
    ...readEvidenceKeys(process.env[evidenceKeysVariable]),
    logger,
  });
  const { passwordFile, firstStart } = control;
  notifySupervisor(firstStart ? { type: 'ready', passwordFile } : { type: 'ready' });
}

function readAddress(text: string, flag = '--management'): { host: string; port: number } {
  const found = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(found?.[3]);
  if (found === null || port > 65_535) throw new Error(`${flag} wants HOST:PORT\n${usage}`);
  return { host: found[1] ?? found[2] ?? '', port };
}

/** A socket that the supervisor bound and keeps while this process is replaced. */
function readDescriptor(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,6}$/.test(text) && Number(text) > 2) return Number(text);
  throw new Error(`--management-fd wants the number of an inherited socket\n${usage}`);
}

function readStoreKeyFile(path = ''): { storeKeyFile?: string } {
  if (path === '') return {};
  if (isAbsolute(path)) return { storeKeyFile: path };
  throw new Error(`${storeKeyVariable} takes an absolute path, as /etc/waf/store-key`);
}

/** Files win; one without the other is a mistake. */
function readTls(
  mode: string,
  certificateFile: string | undefined,
  keyFile: string | undefined,
): ManagementTls {
  if (certificateFile !== undefined && keyFile !== undefined) return { certificateFile, keyFile };
  if (certificateFile !== undefined || keyFile !== undefined) {
    throw new Error('--management-cert and --management-key go together: give both');
  }
  if (mode === 'own' || mode === 'off') return mode;
  throw new Error(`--management-tls wants own or off\n${usage}`);
}

surviveClosedOutput();
main().catch((error: unknown) => {
  const { message } = toAppError(error);
  notifySupervisor({ type: 'fatal', message });
  // A supervisor says it.
  if (process.send === undefined) process.stderr.write(`control: ${message}\n`);
  process.exitCode = 1;
  setTimeout(() => process.exit(1), 50);
});
