/**
 * The question whether a port is free. Threads share their port by SO_REUSEPORT, which would let a
 * second engine join in silently; so the port is bound alone once, before any thread starts.
 */

import { createServer, type AddressInfo } from 'node:net';
import { AppError } from '../../../base/errors.ts';
import type { ListenAddress } from '../listener.ts';

/** Binds and lets go; resolves with the port, for 0 a free one. Errors: `listen_failed`. */
export function probePort({ host, port }: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (cause) => reject(listenError(host, port, cause)));
    server.listen({ host, port, exclusive: true }, () => {
      const bound = (server.address() as AddressInfo).port;
      server.close(() => resolve(bound));
    });
  });
}

/** Why an address cannot be listened on, in words. */
export function listenError(host: string, port: number, cause: Error): AppError {
  const { code } = cause as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: ': the port is in use',
    EACCES: ': ports below 1024 need a privilege',
    EADDRNOTAVAIL: ': this machine has no such address',
  };
  const text = `cannot listen on ${host}:${port}${reasons[code ?? ''] ?? ''}`;
  return new AppError('listen_failed', text, { source: 'config', retryable: true, cause });
}
