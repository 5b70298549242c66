/**
 * The origin of the demo site: a few pages and an echo, on loopback only. Never used once
 * an operator's own site is there, and left out by --no-demo.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { supervisorLimits } from '../limits/command-limits.ts';

/** A running demo origin. */
export interface DemoOrigin {
  readonly url: string;
  close(): Promise<void>;
}

const host = '127.0.0.1';

/**
 * Starts the origin on the port kept in `portFile`, so that the demo site stored on the first start
 * finds it again; on any free port when there is none or another program took it.
 */
export async function startDemoOrigin(portFile: string): Promise<DemoOrigin> {
  const kept = readPort(portFile);
  const server = createServer(answer);
  server.keepAliveTimeout = 65_000;
  const port = (kept !== 0 && (await tryListen(server, kept))) || (await tryListen(server, 0));
  if (port !== kept) writeFileSync(portFile, `${port}\n`, { mode: 0o600 });
  return {
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function readPort(file: string): number {
  try {
    const port = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0;
  } catch {
    return 0;
  }
}

/** Resolves to the port, or 0 when it could not be had. */
function tryListen(server: Server, port: number): Promise<number> {
  return new Promise((resolve) => {
    const fail = (): void => resolve(0);
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === 'POST' || request.method === 'PUT') {
    echo(request, response);
    return;
  }
  request.resume();
  const body = page;
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Answers with the size of what came, never with its content: an echo would be an XSS demo. */
function echo(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > supervisorLimits.demoBodyBytesMax) request.destroy();
  });
  request.on('end', () => {
    const body = JSON.stringify({ received: bytes });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
}

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Demo origin</title>
<h1>It works</h1>
<p>This page comes from the demo origin, through the proxy and its firewall.</p>
<form method="get"><input name="q" placeholder="try something"><button>Send</button></form>
</html>
`;
