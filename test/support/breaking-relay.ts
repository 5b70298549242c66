/** A relay to a Unix socket that counts what clients send and breaks connections on order. */

import { mkdtempSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A relay in front of one socket. */
export interface BreakingRelay {
  readonly path: string;
  /** Bytes that clients sent, on all connections. */
  sent(): number;
  /** Connections so far. */
  connections(): number;
  close(): void;
}

/** Each connection in turn breaks after the next number of `breaks`; later ones never. */
export async function startBreakingRelay(
  to: string,
  breaks: readonly number[],
): Promise<BreakingRelay> {
  const path = join(mkdtempSync(join(tmpdir(), 'waf-relay-')), 'relay.sock');
  let sent = 0;
  let connections = 0;
  const server = createServer((client) => {
    let left = breaks[connections++] ?? Number.POSITIVE_INFINITY;
    const target = connect(to);
    const end = (): void => {
      client.destroy();
      target.destroy();
    };
    for (const socket of [client, target]) socket.on('error', end).on('close', end);
    target.pipe(client);
    client.on('data', (data: Buffer) => {
      sent += data.length;
      left -= data.length;
      if (left <= 0) end();
      else if (!target.write(data)) client.pause();
    });
    target.on('drain', () => client.resume());
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const close = (): void => void server.close();
  return { path, sent: () => sent, connections: () => connections, close };
}
