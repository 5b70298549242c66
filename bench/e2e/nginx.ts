/**
 * nginx as this benchmark uses it: the origin, the plain proxy and nginx with ModSecurity 3. Writes
 * its own configuration; never touches the system's.
 */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer, type Started } from './child-process.ts';
import { policyText, type Ruleset } from './ruleset.ts';
import type { Surroundings } from './target.ts';

const moduleFile = '/usr/lib/nginx/modules/ngx_http_modsecurity_module.so';

/** True when nginx has the ModSecurity connector. */
export function hasModsecurity3(): boolean {
  return existsSync(moduleFile);
}

/** The origin: a fixed answer of 100 bytes for everything. */
export function startOrigin(place: Surroundings): Promise<Started> {
  const body = JSON.stringify({ ok: true, text: 'x'.repeat(76) });
  return start(place, '', `location / { default_type application/json; return 200 '${body}'; }`);
}

/** A proxy to the origin without inspection. */
export function startPlainProxy(place: Surroundings): Promise<Started> {
  return start(place, '', proxyLocation);
}

/** A proxy to the origin over TLS, HTTP/2 offered; files of a certificate and its key, PEM. */
export function startSecureProxy(
  place: Surroundings,
  certificate: { readonly certificateFile: string; readonly keyFile: string },
): Promise<Started> {
  const server = `ssl_certificate ${certificate.certificateFile};
    ssl_certificate_key ${certificate.keyFile};
    ssl_protocols TLSv1.2 TLSv1.3;
    ${proxyLocation}`;
  return start(place, '', server, 'ssl http2');
}

/** A proxy to the origin with ModSecurity 3 and a rule set. */
export function startModsecurity3(place: Surroundings, ruleset: Ruleset): Promise<Started> {
  const rules = join(place.folder, 'policy.conf');
  writeFileSync(rules, policyText(ruleset, place.folder));
  const location = `modsecurity on; modsecurity_rules_file ${rules};\n    ${proxyLocation}`;
  return start(place, `load_module ${moduleFile};`, location);
}

const proxyLocation = 'location / { proxy_pass http://origin; }';

async function start(
  place: Surroundings,
  preamble: string,
  server: string,
  listen = '',
): Promise<Started> {
  const file = join(place.folder, 'nginx.conf');
  writeFileSync(file, configuration(place, preamble, server, listen));
  return startServer({
    command: [...place.prefix, 'nginx', '-p', place.folder, '-c', file, '-e', 'error.log'],
    cwd: place.folder,
    logFile: join(place.folder, 'output.log'),
    port: place.port,
    readyTimeoutMs: 60_000,
  });
}

/** Bodies stay in memory, connections stay open on both sides, nothing is logged but errors. */
function configuration(
  place: Surroundings,
  preamble: string,
  server: string,
  listen: string,
): string {
  return `${preamble}
daemon off;
worker_processes ${place.workers};
error_log error.log warn;
pid nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  client_body_buffer_size 1m;
  client_max_body_size 16m;
  keepalive_requests 1000000000;
  keepalive_timeout 3600s;
  tcp_nodelay on;
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  proxy_set_header Host $host;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_read_timeout 120s;
  upstream origin {
    server 127.0.0.1:${place.originPort};
    keepalive ${Math.max(64, place.connections)};
    keepalive_requests 1000000000;
    keepalive_timeout 3600s;
  }
  server {
    listen 127.0.0.1:${place.port} ${listen} backlog=1024;
    server_name _;
    ${server}
  }
}
`;
}
