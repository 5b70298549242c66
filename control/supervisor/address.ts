/** Reads HOST:PORT and finds out whether a port is free before a child needs it. */

import { createServer } from 'node:net';
import { AppError } from '../../base/errors.ts';
import { supervisorLimits } from '../limits/command-limits.ts';

/** A TCP address; IPv6 hosts are kept without brackets. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Reads `127.0.0.1:8080`, `[::1]:8080` or `:8080`. Errors: AppError bad_address names `flag`. */
export function readAddress(text: string, flag: string): Address {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new AppError('bad_address', `${flag} wants HOST:PORT, for example 127.0.0.1:8080`, {
      source: 'config',
    });
  }
  return { host: match[1] ?? (match[2] || '127.0.0.1'), port };
}

/** HOST:PORT with brackets where the host needs them. */
export function formatAddress({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Binds and lets go again; a busy port may become free within `patienceMs`. Errors: AppError
 * port_busy, port_forbidden or bad_address, each naming the address and the flag that changes it.
 */
export async function requireFreePort(
  address: Address,
  flag: string,
  patienceMs = 0,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await bindOnce(address, flag);
    } catch (error) {
      const busy = error instanceof AppError && error.code === 'port_busy';
      if (!busy || performance.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, supervisorLimits.readinessPollMs));
  }
}

async function bindOnce(address: Address, flag: string): Promise<void> {
  if (address.port === 0) return;
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: address.host, port: address.port, exclusive: true }, resolve);
    });
  } catch (error) {
    throw portError(address, flag, error);
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

/** Why an address cannot be listened on, and which flag chooses another. */
export function portError(address: Address, flag: string, cause: unknown): AppError {
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  const where = formatAddress(address);
  const options = { source: 'config', cause } as const;
  if (code === 'EADDRINUSE') {
    const next = formatAddress({ host: address.host, port: address.port + 1 });
    const hint = `another program listens there. Choose another with ${flag} ${next}`;
    return new AppError('port_busy', `${where} is in use: ${hint}`, options);
  }
  if (code === 'EACCES') {
    const hint = `ports below 1024 need more rights. Choose another with ${flag}`;
    return new AppError('port_forbidden', `${where} may not be used: ${hint}`, options);
  }
  return new AppError('bad_address', `cannot listen on ${where} (${code}); see ${flag}`, options);
}
