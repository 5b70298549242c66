/**
 * Apache httpd with ModSecurity 2 as this benchmark uses it. Writes its own configuration; never
 * touches the system's.
 */

import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startServer, type Started } from './child-process.ts';
import { policyText, type Ruleset } from './ruleset.ts';
import type { Surroundings } from './target.ts';

const modules = '/usr/lib/apache2/modules';
const user = 'www-data';

/** True when Apache and its ModSecurity 2 are there. */
export function hasModsecurity2(): boolean {
  return existsSync('/usr/sbin/apache2') && existsSync(join(modules, 'mod_security2.so'));
}

/** A proxy to the origin with ModSecurity 2 and a rule set; event MPM, one process per worker. */
export function startModsecurity2(place: Surroundings, ruleset: Ruleset): Promise<Started> {
  const { folder } = place;
  const data = join(folder, 'data');
  mkdirSync(data);
  if (process.getuid?.() === 0) {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number(execFileSync('id', [flag, user], { encoding: 'utf8' })),
    );
    chownSync(data, uid!, gid!);
  }
  writeFileSync(join(folder, 'policy.conf'), policyText(ruleset, data));
  const file = join(folder, 'apache.conf');
  writeFileSync(file, configuration(place));
  return startServer({
    command: [...place.prefix, '/usr/sbin/apache2', '-D', 'FOREGROUND', '-f', file],
    cwd: folder,
    logFile: join(folder, 'output.log'),
    port: place.port,
    readyTimeoutMs: 60_000,
  });
}

function configuration({ folder, port, originPort, workers, connections }: Surroundings): string {
  const load = (name: string, file = name): string =>
    `LoadModule ${name}_module ${join(modules, `mod_${file}.so`)}`;
  const threads = Math.max(32, Math.ceil((2 * connections) / workers));
  return `ServerRoot ${folder}
ServerName localhost
PidFile ${folder}/apache.pid
DefaultRuntimeDir ${folder}
Listen 127.0.0.1:${port}
${load('mpm_event')}
${load('authz_core')}
${load('unique_id')}
${load('proxy')}
${load('proxy_http')}
${load('security2')}
User ${user}
Group ${user}
ServerLimit ${workers}
StartServers ${workers}
ThreadLimit ${threads}
ThreadsPerChild ${threads}
MaxRequestWorkers ${workers * threads}
MinSpareThreads 1
MaxSpareThreads ${workers * threads}
MaxConnectionsPerChild 0
KeepAlive On
KeepAliveTimeout 3600
MaxKeepAliveRequests 0
Timeout 120
LogLevel warn
ErrorLog ${folder}/error.log
Include ${folder}/policy.conf
ProxyPreserveHost On
ProxyPass / http://127.0.0.1:${originPort}/ keepalive=On max=${threads} ttl=3600
`;
}
