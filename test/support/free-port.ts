/**
 * Ports for processes that have to be told one. They lie below the range that the system hands to
 * sockets which ask for any, and each is given away once in a run: nobody takes it meanwhile.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

const count = 12_000;
const triesMax = 200;

/** A port of loopback that is this caller's for the whole run. Errors: none is left. */
export async function freePort(): Promise<number> {
  const first = anyPortFrom() - count;
  for (let tries = 0; tries < triesMax; tries++) {
    const port = first + Math.floor(Math.random() * count);
    if (reserve(port) && (await isFree(port))) return port;
  }
  throw new Error(`no port of ${first} to ${first + count} is free`);
}

/** The first port that the system hands out by itself. */
function anyPortFrom(): number {
  const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  return Number(range.split(/\s+/)[0]);
}

/** Whether no other test file of this run has the port. */
function reserve(port: number): boolean {
  try {
    // The run's own folder, which all test files share.
    writeFileSync(path.join(tmpdir(), `port-${port}`), '', { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
