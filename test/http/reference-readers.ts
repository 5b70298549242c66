/**
 * The other parsers that our front is compared with: Node's llhttp, strict, and the nginx that is
 * installed, each before an origin that writes down what it was asked.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { listen, type Closing } from '../../engine/front/fixtures/fixture.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

/** One request as an origin read it; byte strings. */
export interface ReadRequest {
  readonly method: string;
  /** In origin form. */
  readonly target: string;
  readonly host: string;
  readonly body: string;
}

/** An origin on llhttp. */
export interface Recorder {
  readonly port: number;
  readonly requests: ReadRequest[];
  /** What was no HTTP to it, by llhttp's code. */
  readonly errors: string[];
}

/** Strict, and quick to give up what never ends. */
const readerOptions = {
  insecureHTTPParser: false,
  headersTimeout: 300,
  requestTimeout: 300,
  connectionsCheckingInterval: 50,
};

/** An origin that answers 200 and writes down every request that it read to its end. */
export async function startRecorder(closing: Closing): Promise<Recorder> {
  const requests: ReadRequest[] = [];
  const errors: string[] = [];
  const server = http.createServer(readerOptions, (request, response) => {
    const { method = '', url = '', headers } = request;
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString('latin1');
      const target = url.replace(/^https?:\/\/[^/?#]*(?=(.?))/i, (_, next) =>
        next === '/' ? '' : '/',
      );
      requests.push({ method, target, host: headers.host ?? '', body });
      response.end();
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code !== 'ECONNRESET') errors.push(error.code ?? '');
    socket.destroy();
  });
  closing.add(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: await listen(server), requests, errors };
}

const nginx = ['/usr/sbin/nginx', '/usr/local/sbin/nginx'].find((file) => existsSync(file));

/** Starts nginx before an origin; null where it is not installed. Says its port. */
export async function startNginx(closing: Closing, originPort: number): Promise<number | null> {
  if (nginx === undefined) return null;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'waf-nginx-'));
  const port = await freePort();
  writeFileSync(path.join(folder, 'nginx.conf'), nginxConfig(folder, port, originPort));
  const child = spawn(nginx, ['-p', folder, '-c', path.join(folder, 'nginx.conf')], {
    stdio: 'ignore',
  });
  closing.add(async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  });
  await eventually(() => connects(port));
  return port;
}

function nginxConfig(folder: string, port: number, originPort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n');
  return `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 512; }
http { access_log off; ${temporary}
  keepalive_requests 1000000;
  server { listen 127.0.0.1:${port}; server_name _;
    location / { proxy_pass http://127.0.0.1:${originPort}; proxy_http_version 1.1;
      proxy_set_header Host $http_host; proxy_set_header Connection ""; } } }
`;
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
