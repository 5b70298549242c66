/**
 * Any DNS server that takes signed updates (RFC 2136, RFC 8945), over TCP. Settings: server
 * (host:port), keyName, algorithm (hmac-sha256). Credentials: secret, base64.
 */

import { createHmac, randomInt } from 'node:crypto';
import { connect, type TcpNetConnectOpts } from 'node:net';
import { acmeLimits } from '../../limits/acme-limits.ts';
import { checkedLookup } from '../../access/outgoing.ts';
import { dnsError, namedZone, required, type DnsAccount, type MakeDriver } from './driver.ts';

const algorithms: Readonly<Record<string, string>> = {
  'hmac-sha256': 'sha256',
  'hmac-sha384': 'sha384',
  'hmac-sha512': 'sha512',
};
const TYPE = { soa: 6, txt: 16, tsig: 250 } as const;
const CLASS = { in: 1, none: 254, any: 255 } as const;
const opcodeUpdate = 0x2800;
const fudgeSeconds = 300;
const ttlSeconds = 60;

/** The driver. */
export const rfc2136: MakeDriver = (account) => ({
  add: async (name, value) => {
    const zone = namedZone(account, name);
    if (zone === null) {
      throw dnsError(`the account names no zone for ${name}: waf cert dns-update --zone sets it`);
    }
    const change = (adds: boolean): Promise<void> =>
      update(account, updateMessage(account, { zone, name, value, adds }));
    await change(true);
    return () => change(false);
  },
});

/** One TXT record that is added or removed. */
interface RecordChange {
  readonly zone: string;
  readonly name: string;
  readonly value: string;
  readonly adds: boolean;
}

function updateMessage(account: DnsAccount, { zone, name, value, adds }: RecordChange): Buffer {
  const id = randomInt(65_536);
  const text = Buffer.from(value, 'latin1');
  const data = Buffer.concat([Buffer.from([text.length]), text]);
  const record = Buffer.concat([
    encodeName(name),
    u16(TYPE.txt),
    u16(adds ? CLASS.in : CLASS.none),
    u32(adds ? ttlSeconds : 0),
    u16(data.length),
    data,
  ]);
  const body = Buffer.concat([encodeName(zone), u16(TYPE.soa), u16(CLASS.in), record]);
  const unsigned = Buffer.concat([header(id, 0), body]);
  return Buffer.concat([header(id, 1), body, signature(account, unsigned, id)]);
}

/** RFC 8945 section 4.2. */
function signature(account: DnsAccount, message: Buffer, id: number): Buffer {
  const keyName = encodeName(required(account.settings, ['keyName', 'key_name']));
  const secret = Buffer.from(required(account.credentials, ['secret', 'tsigSecret']), 'base64');
  const algorithm = account.settings['algorithm'] ?? 'hmac-sha256';
  const digest = algorithms[algorithm];
  if (digest === undefined) {
    throw dnsError(`algorithm is one of ${Object.keys(algorithms).join(', ')}`);
  }
  const algorithmName = encodeName(algorithm);
  const time = Buffer.alloc(6);
  time.writeUIntBE(Math.floor(account.nowMs() / 1000), 0, 6);
  const noError = u16(0);
  const noOther = u16(0);
  const dated = [algorithmName, time, u16(fudgeSeconds)];
  const mac = createHmac(digest, secret)
    .update(message)
    .update(Buffer.concat([keyName, u16(CLASS.any), u32(0), ...dated, noError, noOther]))
    .digest();
  const data = Buffer.concat([...dated, u16(mac.length), mac, u16(id), noError, noOther]);
  return Buffer.concat([keyName, u16(TYPE.tsig), u16(CLASS.any), u32(0), u16(data.length), data]);
}

/** One zone, no prerequisites, one update. */
function header(id: number, additional: number): Buffer {
  return Buffer.concat([u16(id), u16(opcodeUpdate), u16(1), u16(0), u16(1), u16(additional)]);
}

function encodeName(name: string): Buffer {
  const parts = name.replace(/\.$/, '').toLowerCase().split('.');
  const labels = parts.map((label) => {
    const bytes = Buffer.from(label, 'latin1');
    if (bytes.length === 0 || bytes.length > 63) throw dnsError(`${name} is no name of DNS`);
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  });
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** RFC 2136 section 2.2, RFC 8945 section 5.2. */
const results: Readonly<Record<number, string>> = {
  1: 'it does not understand the update',
  2: 'it failed',
  4: 'it takes no updates',
  5: 'it refuses the update',
  9: 'it is not responsible for the zone, or does not know the key',
  10: 'the name is not in the zone',
};

/** Sends an update; the server's answer decides. Errors: AppError dns_provider. */
async function update(account: DnsAccount, message: Buffer): Promise<void> {
  const server = required(account.settings, ['server']);
  const found = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(server);
  if (found === null) throw dnsError('server is HOST or HOST:PORT');
  const host = found[1] ?? found[2] ?? '';
  const lookup = await checkedLookup(host, account.call.allowedNetworks);
  const answer = await exchange({ host, port: Number(found[3] ?? 53), lookup }, message);
  if (answer.length < 12 || !answer.subarray(0, 2).equals(message.subarray(0, 2))) {
    throw dnsError(`the server ${server} answered something else`);
  }
  const code = answer[3]! & 15;
  if (code !== 0) throw dnsError(`the server ${server}: ${results[code] ?? `code ${code}`}`);
}

/** One message there and one back, each after its length (RFC 7766 section 8). */
function exchange(where: TcpNetConnectOpts, message: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(where);
    let received = Buffer.alloc(0);
    const fail = (why: string): void => {
      socket.destroy();
      reject(dnsError(`the DNS server could not be asked: ${why}`));
    };
    socket.setTimeout(acmeLimits.dnsTimeoutMs, () => fail('it took too long'));
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? 'it failed'));
    socket.on('close', () => fail('it closed the connection'));
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      resolve(received.subarray(2, 2 + received.readUInt16BE(0)));
      socket.destroy();
    });
    socket.write(Buffer.concat([u16(message.length), message]));
  });
}
