/** A real FreeRADIUS on loopback for one test: its own folder, port and process. */

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';

const program = '/usr/sbin/freeradius';

/** Whether the server is installed. */
export const hasFreeradius = existsSync(program);

/** A server while a test uses it. */
export interface Freeradius {
  readonly port: number;
  readonly secret: string;
  stop(): Promise<void>;
}

/**
 * Starts the server. Users: `alice` with `alice-password`, of the group `ops`; `carol`, who is
 * asked for the code `246810` after `carol-password`, and for `1357` after the code `again`.
 * `signed` says whether replies carry a Message-Authenticator.
 */
export async function startFreeradius(signed = true): Promise<Freeradius> {
  const folder = mkdtempSync(join(tmpdir(), 'waf-radius-'));
  const port = await freePort();
  const secret = 'a secret of the test';
  mkdirSync(join(folder, 'run'));
  writeFileSync(join(folder, 'radiusd.conf'), configuration(folder, port, secret, signed));
  writeFileSync(join(folder, 'dictionary'), '');
  const child = spawn(program, ['-f', '-l', 'stdout', '-d', folder, '-xx'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await ready(child);
  return {
    port,
    secret,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null) child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** Settings that point at the server. */
export function radiusSettings({ port, secret }: { port: number; secret: string }, more = {}) {
  const servers = [{ host: '127.0.0.1', port }];
  return { enabled: true, servers, secret, timeoutMs: 10_000, ...more };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      if (text.includes('Ready to process requests')) resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', () => reject(new Error(`freeradius ended:\n${text.slice(-2000)}`)));
  });
}

function configuration(folder: string, port: number, secret: string, signed: boolean): string {
  const sign = signed ? 'update reply {\n &Message-Authenticator := 0x00\n }' : '';
  const challenge = (state: string, text: string): string => `
      update reply {
        &State := ${state}
        &Reply-Message := "${text}"
      }
      update control {
        &Response-Packet-Type := Access-Challenge
      }
      ${sign}
      handled`;
  return `
prefix = /usr
localstatedir = ${folder}
sbindir = /usr/sbin
logdir = ${folder}
raddbdir = ${folder}
name = freeradius
confdir = ${folder}
modconfdir = ${folder}
certdir = ${folder}
run_dir = ${folder}/run
db_dir = ${folder}
libdir = /usr/lib/freeradius
pidfile = ${folder}/run/freeradius.pid
max_request_time = 10
hostname_lookups = no
log {
  destination = stdout
}
security {
  allow_core_dumps = no
  reject_delay = 0
  status_server = no
}
proxy_requests = no
client loopback {
  ipaddr = 127.0.0.1
  secret = "${secret}"
  require_message_authenticator = yes
}
modules {
  pap {
  }
  always handled {
    rcode = handled
  }
}
server default {
  listen {
    type = auth
    ipaddr = 127.0.0.1
    port = ${port}
  }
  authorize {
    if (&User-Name == "alice") {
      update control {
        &Cleartext-Password := "alice-password"
      }
      update reply {
        &Filter-Id := "ops"
      }
    }
    elsif (&User-Name == "carol" && !&State) {
      update control {
        &Cleartext-Password := "carol-password"
      }
    }
    elsif (&User-Name == "carol" && &State == 0x01) {
      if (&User-Password == "again") {
        ${challenge('0x02', 'Enter the second code')}
      }
      update control {
        &Cleartext-Password := "246810"
      }
    }
    elsif (&User-Name == "carol" && &State == 0x02) {
      update control {
        &Cleartext-Password := "1357"
      }
    }
    pap
  }
  authenticate {
    Auth-Type PAP {
      pap
      if (ok && &User-Name == "carol" && !&State) {
        ${challenge('0x01', 'Enter your code')}
      }
    }
  }
  post-auth {
    ${sign}
    Post-Auth-Type REJECT {
      ${sign}
    }
  }
}
`;
}
