/** The engine's command line: flags, defaults, and errors that name the flag. */

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { AppError } from '../../base/errors.ts';
import { proxyHeaderLimits } from '../../base/delivery-limits.ts';
import { parseNetwork } from '../../base/ip-address.ts';
import { accessLogLimits } from '../base/observation-limits.ts';
import { blockListLimits } from '../../base/rule-limits.ts';
import type { LogLevel } from '../../base/log.ts';
import type { InspectionPlace } from '../contract/inspection.ts';
import { readOwnFormat } from './access-format.ts';
import { accessLogFormats, type AccessLogFormat } from './access-line.ts';
import type { AccessLogOptions } from './access-log.ts';
import type { RedisAddress } from '../contract/rate-limit.ts';
import { readRedisOption, redisVariable } from './redis-option.ts';
import { listenerKinds, type ListenerKind } from '../../base/listener.ts';

/** The command line of the engine process. */
export interface EngineOptions {
  readonly data: string;
  readonly host: string;
  readonly port: number;
  /** Networks, as keys, whose clients begin with a PROXY header. */
  readonly proxyHeaderFrom: readonly string[];
  /** Sockets bound to it that were inherited, one a front thread; none: it binds its own. */
  readonly listenFds: readonly number[];
  /** Where clients speak TLS; null for nowhere. */
  readonly secure: SecureOptions | null;
  /** Path of the controller's socket, null when the engine runs alone. */
  readonly controller: string | null;
  /** Identity file of an enrolled node, null for any other engine. */
  readonly identity: string | null;
  readonly workers: number;
  readonly poolThreads: number;
  readonly inspection: InspectionPlace;
  readonly listener: ListenerKind;
  /** Bundle file to serve, null for what control publishes or the last good one. */
  readonly bundle: string | null;
  /** File that gets one JSON line per finished request, null for none. */
  readonly events: string | null;
  /** Access log for people and shippers, null for none. */
  readonly accessLog: AccessLogOptions | null;
  /** DNS block lists that rules may ask (`@rbl`); none unless named. */
  readonly rblZones: readonly string[];
  /** Through what nodes share rate limits; null where each counts for itself. */
  readonly rateLimitRedis: RedisAddress | null;
  readonly logLevel: LogLevel;
}

/** Where clients speak TLS. */
export interface SecureOptions {
  readonly host: string;
  readonly port: number;
  /** The port in redirects to TLS, where clients reach it by another than `port`. */
  readonly publicPort?: number;
  /** As `EngineOptions.proxyHeaderFrom`. */
  readonly proxyHeaderFrom: readonly string[];
  /** As `EngineOptions.listenFds`. */
  readonly fds: readonly number[];
}

/** Reads the arguments after the script's name. Errors: `bad_option`. */
export function readOptions(args: readonly string[]): EngineOptions {
  const { values } = parse(args);
  const { host, port } = address('--listen', values.listen);
  const workers = count('--workers', values.workers, availableParallelism(), 1);
  return {
    data: values.data,
    host,
    port,
    proxyHeaderFrom: networks('--proxy-protocol', values['proxy-protocol'], values.listener),
    listenFds: descriptors('--listen-fds', values['listen-fds'], workers),
    secure: secureOptions(values, workers),
    controller: values.controller === undefined ? null : socketPath(values.controller),
    identity: identityOption(values),
    workers,
    poolThreads: count('--pool-threads', values['pool-threads'], 1, 1),
    inspection: oneOf('--inspection', values.inspection, ['auto', 'pool', 'inline'] as const),
    listener: oneOf('--listener', values.listener, listenerKinds),
    bundle: values.bundle ?? null,
    events: values.events ?? null,
    accessLog: accessLog(values),
    rblZones: zones(values['rbl-zones'] ?? process.env['WAF_RBL_ZONES'] ?? ''),
    rateLimitRedis: readRedisOption(process.env[redisVariable] ?? ''),
    logLevel: oneOf('--log-level', values['log-level'], [
      'debug',
      'info',
      'warn',
      'error',
    ] as const),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        data: { type: 'string', default: 'var' },
        listen: { type: 'string', default: '127.0.0.1:8080' },
        'listen-fds': { type: 'string' },
        'https-listen': { type: 'string' },
        'https-listen-fds': { type: 'string' },
        'https-public-port': { type: 'string' },
        'proxy-protocol': { type: 'string' },
        'https-proxy-protocol': { type: 'string' },
        controller: { type: 'string' },
        identity: { type: 'string' },
        workers: { type: 'string' },
        'pool-threads': { type: 'string' },
        inspection: { type: 'string', default: 'auto' },
        listener: { type: 'string', default: 'strict' },
        bundle: { type: 'string' },
        events: { type: 'string' },
        'access-log': { type: 'string' },
        'access-log-format': { type: 'string', default: 'combined' },
        'access-log-rotate-mb': { type: 'string' },
        'access-log-keep': { type: 'string' },
        'rbl-zones': { type: 'string' },
        'log-level': { type: 'string', default: 'info' },
      },
    });
  } catch (thrown) {
    throw bad(thrown instanceof Error ? thrown.message : 'the arguments cannot be read');
  }
}

function accessLog(values: ReturnType<typeof parse>['values']): AccessLogOptions | null {
  const { rotateMbMax, keepMax, keepDefault } = accessLogLimits;
  const [rotate, keep] = [values['access-log-rotate-mb'], values['access-log-keep']];
  const options = {
    format: accessLogFormat(values['access-log-format']),
    rotateBytes: count('--access-log-rotate-mb', rotate, 0, 1, rotateMbMax) * 1024 * 1024,
    keep: count('--access-log-keep', keep, keepDefault, 1, keepMax),
  };
  const path = values['access-log'];
  if (path === '') throw bad('--access-log takes a file, or - for standard output');
  return path === undefined ? null : { path, ...options };
}

/** A name, or a form with variables. Errors: `bad_option`. */
function accessLogFormat(text: string): AccessLogFormat {
  const flag = '--access-log-format';
  if (text.includes('$')) return readOwnFormat(flag, text);
  const named = accessLogFormats.find((one) => one === text);
  if (named !== undefined) return named;
  throw bad(`${flag} takes ${accessLogFormats.join(', ')}, or a form such as "$host $status"`);
}

/** Errors: `bad_option`. */
function secureOptions(
  values: Readonly<Record<string, string | undefined>>,
  workers: number,
): SecureOptions | null {
  const text = values['https-listen'];
  if (text === undefined) return null;
  if (values['listener'] === 'uws') {
    throw bad('--https-listen needs --listener strict: uWebSockets.js serves plain HTTP only');
  }
  const publicPort = Number(values['https-public-port'] ?? 0);
  if (!Number.isInteger(publicPort) || publicPort < 0 || publicPort > 65_535) {
    throw bad('--https-public-port takes a port from 1 to 65535');
  }
  return {
    ...address('--https-listen', text),
    ...(publicPort === 0 ? {} : { publicPort }),
    proxyHeaderFrom: networks(
      '--https-proxy-protocol',
      values['https-proxy-protocol'],
      values['listener'],
    ),
    fds: descriptors('--https-listen-fds', values['https-listen-fds'], workers),
  };
}

function address(flag: string, text: string): { host: string; port: number } {
  const found = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(found?.[3]);
  if (!found || port > 65_535) throw bad(`${flag} takes HOST:PORT, not ${text}`);
  return { host: found[1] ?? found[2]!, port };
}

/** Descriptors with commas between, as many as there are workers: each serves one socket. */
function descriptors(flag: string, text: string | undefined, workers: number): readonly number[] {
  if (text === undefined) return [];
  const fds = text.split(',').map(Number);
  // 0 to 2 are the standard streams.
  if (fds.some((fd) => !Number.isInteger(fd) || fd < 3) || new Set(fds).size !== fds.length) {
    throw bad(`${flag} takes different descriptors from 3 on, not ${text}`);
  }
  if (fds.length !== workers) {
    throw bad(`${flag} has ${fds.length} descriptors for ${workers} --workers`);
  }
  return fds;
}

/** Keys of networks with commas between. */
function networks(flag: string, text = '', listener = 'strict'): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  const given = parts.filter((part) => part !== '');
  if (given.length > 0 && listener === 'uws') {
    throw bad(`${flag} needs --listener strict: uWebSockets.js reads no PROXY headers`);
  }
  const { networksMax } = proxyHeaderLimits;
  if (given.length > networksMax) throw bad(`${flag} takes at most ${networksMax} networks`);
  return given.map((part) => {
    const key = parseNetwork(part);
    if (key === null) throw bad(`${flag} takes addresses or networks in CIDR form, not ${part}`);
    return key;
  });
}

/** Names of zones with commas between. */
function zones(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const given = names.filter((name) => name !== '');
  const label = /^(?=.{1,180}$)(?:[a-z0-9_](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9-]{1,63}$/i;
  const wrong = given.find((name) => !label.test(name));
  if (wrong !== undefined) {
    throw bad(`--rbl-zones (WAF_RBL_ZONES) takes names of DNS zones, not ${wrong}`);
  }
  const { zonesMax } = blockListLimits;
  if (given.length > zonesMax) throw bad(`--rbl-zones takes at most ${zonesMax} zones`);
  return given;
}

/** An enrolled node takes its configuration from its controller alone. Errors: `bad_option`. */
function identityOption(values: ReturnType<typeof parse>['values']): string | null {
  const { identity, controller, bundle } = values;
  if (identity === undefined) return null;
  if (controller !== undefined || bundle !== undefined) {
    throw bad('--identity excludes --controller and --bundle');
  }
  if (identity === '') throw bad('--identity takes the identity file of an enrolled node');
  return identity;
}

function socketPath(text: string): string {
  if (!text.startsWith('unix:') || text.length < 6) throw bad('--controller takes unix:PATH');
  return text.slice(5);
}

function count(
  flag: string,
  text: string | undefined,
  otherwise: number,
  least: number,
  most = 256,
): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most) {
    throw bad(`${flag} takes a whole number from ${least} to ${most}`);
  }
  return value;
}

function oneOf<T extends string>(flag: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw bad(`${flag} takes one of ${choices.join(', ')}`);
  return found;
}

function bad(message: string): AppError {
  return new AppError('bad_option', message, { source: 'config' });
}
