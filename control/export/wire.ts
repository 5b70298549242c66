/**
 * The way to one target: a datagram socket, or a connection with or without TLS. Goes to addresses
 * that were checked only. Never queues: what a send does not take has failed.
 */

import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AppError } from '../../base/errors.ts';
import { checkedLookup, FetchError } from '../access/outgoing.ts';
import type { SiemTarget } from '../domain/settings/siem-settings.ts';
import { siemLimits } from '../limits/siem-limits.ts';

/** An open way to a target. */
export interface Wire {
  /** True when nothing can be sent any more. */
  readonly ended: boolean;
  /** Resolves when the system took all of it. Rejects where some of it may be lost. */
  send(messages: readonly Buffer[]): Promise<void>;
  close(): void;
}

/** Opens the way. Errors: AppError siem_unreachable, whose message is ours. */
export async function openWire(
  target: SiemTarget,
  allowedNetworks: readonly string[],
  signal: AbortSignal,
): Promise<Wire> {
  const lookup = await guardedLookup(target.host, allowedNetworks);
  if (target.transport === 'udp') return openDatagrams(target, lookup);
  return openStream(await connected(target, lookup, signal));
}

async function guardedLookup(
  host: string,
  allowedNetworks: readonly string[],
): Promise<LookupFunction> {
  try {
    return await checkedLookup(host, allowedNetworks);
  } catch (error) {
    const blocked = error instanceof FetchError && error.resultCode === 'blocked_address';
    const special =
      `${host} is a loopback, link-local, private or reserved address: ` +
      'add its network to outgoing.allowed_networks';
    throw unreachable(blocked ? special : `the name ${host} cannot be resolved`);
  }
}

function unreachable(message: string, cause?: unknown): AppError {
  return new AppError('siem_unreachable', message, { source: 'upstream', retryable: true, cause });
}

/** The code of an error, never its text: that may hold what the other side sent. */
function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : 'it failed';
}

async function openDatagrams({ host, port }: SiemTarget, lookup: LookupFunction): Promise<Wire> {
  const { address, family } = await new Promise<{ address: string; family: number }>(
    (resolve, reject) => {
      lookup(host, { all: false }, (error, found, kind = 4) => {
        if (error !== null) reject(unreachable(`the name ${host} cannot be resolved`, error));
        else resolve({ address: found as string, family: kind });
      });
    },
  );
  const socket: DatagramSocket = createSocket(family === 6 ? 'udp6' : 'udp4');
  let ended = false;
  // What ICMP reports comes late: it says of an earlier datagram that nobody listens.
  socket.on('error', () => (ended = true));
  socket.unref();
  await new Promise<void>((resolve, reject) => {
    socket.once('error', (error) => reject(unreachable(`no way there: ${codeOf(error)}`, error)));
    socket.connect(port, address, resolve);
  });
  return {
    get ended() {
      return ended;
    },
    send: async (messages) => {
      for (const message of messages) await sendDatagram(socket, message);
    },
    close: () => {
      ended = true;
      socket.close();
    },
  };
}

function sendDatagram(socket: DatagramSocket, message: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    if (message.length > siemLimits.datagramBytesMax) {
      const most = siemLimits.datagramBytesMax;
      const large = `an event of ${message.length} bytes is larger than a datagram (${most})`;
      return reject(unreachable(`${large}: use the transport tcp or tls`));
    }
    return socket.send(message, (error) => {
      if (error === null) resolve();
      else reject(unreachable(`a datagram was not sent: ${codeOf(error)}`, error));
    });
  });
}

function openStream(socket: Socket): Wire {
  let ended = false;
  const fail = new Set<(error: unknown) => void>();
  const end = (error: unknown): void => {
    ended = true;
    for (const one of fail) one(error);
    fail.clear();
  };
  socket.on('error', end);
  socket.on('close', () => end(null));
  // A target has nothing to say; one that stops reading ends with its half of the connection.
  socket.on('end', () => socket.destroy());
  socket.resume();
  socket.unref();
  return {
    get ended() {
      return ended;
    },
    send: (messages) => {
      return new Promise((resolve, reject) => {
        if (ended) return reject(unreachable('the connection ended'));
        const failed = (why: string, cause: unknown): void => {
          clearTimeout(timer);
          fail.delete(lost);
          socket.destroy();
          reject(unreachable(why, cause));
        };
        const lost = (error: unknown): void =>
          failed(
            `the connection was lost: ${error === null ? 'it was closed' : codeOf(error)}`,
            error,
          );
        const timer = setTimeout(
          () => failed(`it took nothing for ${siemLimits.writeTimeoutMs / 1000} s`, null),
          siemLimits.writeTimeoutMs,
        ).unref();
        fail.add(lost);
        return socket.write(Buffer.concat(messages), (error) => {
          if (error !== null && error !== undefined) return lost(error);
          clearTimeout(timer);
          fail.delete(lost);
          return resolve();
        });
      });
    },
    close: () => {
      ended = true;
      // What is stuck would keep the connection for ever.
      if (fail.size > 0) socket.destroy();
      else socket.destroySoon();
    },
  };
}

function connected(
  target: SiemTarget,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<Socket> {
  const { host, port, transport } = target;
  return new Promise((resolve, reject) => {
    const secure = transport === 'tls';
    const where = { host, port, lookup };
    const socket = secure ? connectTls({ ...where, ...tlsOptions(target) }) : connectTcp(where);
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stopped);
    };
    const failed = (why: string, cause: unknown): void => {
      settle();
      socket.destroy();
      reject(unreachable(why, cause));
    };
    const stopped = (): void => failed('it is not wanted any more', null);
    signal.addEventListener('abort', stopped);
    const refused = (error: Error): void => failed(`could not connect: ${codeOf(error)}`, error);
    const timer = setTimeout(
      () => failed(`no connection within ${siemLimits.connectTimeoutMs / 1000} s`, null),
      siemLimits.connectTimeoutMs,
    );
    socket.once('error', refused);
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      settle();
      socket.off('error', refused);
      socket.setKeepAlive(true, siemLimits.writeTimeoutMs);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

function tlsOptions(target: SiemTarget) {
  const { host, caPem, serverName, clientCertPem, clientKeyPem } = target;
  const name = serverName || (isIP(host) === 0 ? host : '');
  return {
    minVersion: 'TLSv1.2',
    ...(name === '' ? {} : { servername: name }),
    ...(caPem === '' ? {} : { ca: caPem }),
    ...(clientCertPem === '' ? {} : { cert: clientCertPem, key: clientKeyPem }),
  } as const;
}
