/**
 * The listening sockets of the proxy and of the management API. The supervisor binds them and keeps
 * them open while engine and control come and go, so that clients wait in the kernel's queue
 * instead of being refused. It never accepts.
 */

import { closeSync } from 'node:fs';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { bindReusePort } from '../../native-bindings/listen/listen.ts';
import { portError, type Address } from './address.ts';

/** Sockets bound to one port, one for each thread that serves it. */
export interface HeldSockets {
  /** Where they are bound, with the port that port 0 became. */
  readonly address: Address;
  readonly fds: readonly number[];
  /** Lets go; when the child has let go, too, clients are refused. Twice is as good as once. */
  close(): void;
}

/**
 * Binds `count` sockets. They refuse clients until a child listens on them for the first time.
 * Errors: AppError port_busy, port_forbidden or bad_address, each naming the address and `flag`.
 */
export async function holdSockets(
  address: Address,
  count: number,
  flag: string,
): Promise<HeldSockets> {
  const fds: number[] = [];
  const close = (): void => {
    for (const fd of fds.splice(0)) closeSync(fd);
  };
  let { port } = address;
  try {
    const { host } = address;
    const numeric = isIP(host) === 0 ? (await lookup(host)).address : host;
    for (let made = 0; made < count; made++) {
      const bound = bindReusePort(numeric, port);
      fds.push(bound.fd);
      ({ port } = bound);
    }
  } catch (error) {
    close();
    throw portError(address, flag, error);
  }
  return { address: { host: address.host, port }, fds: [...fds], close };
}
