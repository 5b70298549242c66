/** A real rsyslog on loopback for one test: UDP, TCP and TLS, a file of what came by each. */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { makeTestCertificate } from '../support/test-certificates.ts';

const program = '/usr/sbin/rsyslogd';

/** Whether the server is installed, with its driver for TLS. */
export const hasRsyslog =
  existsSync(program) && existsSync('/usr/lib/x86_64-linux-gnu/rsyslog/lmnsd_ossl.so');

/** Ways in. */
export const ways = ['udp', 'tcp', 'tls'] as const;
/** One of them. */
export type Way = (typeof ways)[number];

/** One message as the server read it. */
export interface Received {
  readonly facility: number;
  readonly severity: number;
  readonly hostname: string;
  readonly appName: string;
  readonly msgId: string;
  readonly content: Record<string, unknown>;
}

/** A server while a test uses it. */
export interface Rsyslog {
  readonly ports: Readonly<Record<Way, number>>;
  /** The authority of its certificate, for `localhost`. */
  readonly caPem: string;
  /** What came so far. */
  received(way: Way): Received[];
  stop(): Promise<void>;
}

/** Starts the server; resolves when it accepts connections. */
export async function startRsyslog(): Promise<Rsyslog> {
  const folder = mkdtempSync(join(tmpdir(), 'waf-rsyslog-'));
  mkdirSync(join(folder, 'work'));
  const ports = { udp: await freePort(), tcp: await freePort(), tls: await freePort() };
  const authority = await makeTestCertificate({ subject: 'CN=authority', authority: true });
  const leaf = await makeTestCertificate({ names: ['localhost'], issuer: authority });
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write('ca.pem', authority.cert);
  write('cert.pem', leaf.cert);
  write('key.pem', leaf.key);
  write('rsyslog.conf', configuration(folder, ports));
  const files = ['-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')];
  const child = spawn(program, ['-n', ...files], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  for (const port of [ports.tcp, ports.tls]) {
    await eventually(() => {
      if (child.exitCode !== null) throw new Error(`rsyslogd ended: ${said}`);
      return answers(port);
    });
  }
  return {
    ports,
    caPem: authority.cert,
    received: (way) => {
      const path = join(folder, way);
      const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
      return text.split('\n').slice(0, -1).map(readLine);
    },
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null) child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const done = (found: boolean): void => {
      socket.destroy();
      resolve(found);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}

function configuration(folder: string, ports: Readonly<Record<Way, number>>): string {
  const line =
    '%syslogfacility% %syslogseverity% %hostname% %app-name% %msgid% %msg:::drop-last-lf%\\n';
  const into = (way: Way): string =>
    `ruleset(name="${way}") { action(type="omfile" file="${folder}/${way}" template="line") }`;
  return `
global(workDirectory="${folder}/work" maxMessageSize="1m"
  defaultNetstreamDriverCAFile="${folder}/ca.pem"
  defaultNetstreamDriverCertFile="${folder}/cert.pem"
  defaultNetstreamDriverKeyFile="${folder}/key.pem")
module(load="imudp")
module(load="imtcp")
template(name="line" type="string" string="${line}")
${ways.map(into).join('\n')}
input(type="imudp" address="127.0.0.1" port="${ports.udp}" ruleset="udp")
input(type="imtcp" address="127.0.0.1" port="${ports.tcp}" ruleset="tcp")
input(type="imtcp" address="127.0.0.1" port="${ports.tls}" ruleset="tls"
  streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="anon")
`;
}

function readLine(line: string): Received {
  const [facility, severity, hostname = '', appName = '', msgId = ''] = line.split(' ', 5);
  const content = JSON.parse(line.slice(line.indexOf('{'))) as Record<string, unknown>;
  return {
    facility: Number(facility),
    severity: Number(severity),
    hostname,
    appName,
    msgId,
    content,
  };
}
