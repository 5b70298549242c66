/**
 * Asks RADIUS servers whether a password or code is right: PAP, one socket an exchange,
 * retransmission, the next server when one is silent. Never decides who may sign in.
 */

import { randomBytes, randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { lookup } from 'node:dns/promises';
import type { RadiusConfig } from '../domain/settings/identity-settings.ts';
import {
  encodeRequest,
  hidePassword,
  radiusCodes,
  radiusTypes,
  readReply,
  type RadiusAttribute,
  type RadiusPacket,
} from './radius-packet.ts';

/** What is asked. */
export interface RadiusQuestion {
  readonly username: string;
  /** Password, or the answer to a challenge. */
  readonly password: string;
  /** State of the challenge that this answers; absent at first. */
  readonly state?: Buffer;
  /** Address of the client; '' when unknown. */
  readonly address: string;
}

/** What the server said. `silent`: no server gave a genuine answer in time. */
export type RadiusAnswer =
  | { readonly kind: 'accept'; readonly groups: readonly string[] }
  | { readonly kind: 'reject' }
  | { readonly kind: 'challenge'; readonly state: Buffer; readonly prompt: string }
  | { readonly kind: 'silent' };

const promptCharactersMax = 200;
const virtualPort = Buffer.from([0, 0, 0, 5]);

/** Asks the servers in order. Resolves always; takes at most servers x attempts x timeout. */
export async function askRadius(
  config: RadiusConfig,
  question: RadiusQuestion,
): Promise<RadiusAnswer> {
  const request = makeRequest(config, question);
  if (request === null) return { kind: 'reject' };
  for (const server of config.servers) {
    const reply = await exchange(config, server, request);
    if (reply !== null) return toAnswer(reply);
  }
  return { kind: 'silent' };
}

interface Request {
  readonly id: number;
  readonly authenticator: Buffer;
  readonly bytes: Buffer;
}

/** Null when a value does not fit the protocol: no server could accept it. */
function makeRequest(config: RadiusConfig, question: RadiusQuestion): Request | null {
  const { username, password, state, address } = question;
  const id = randomInt(256);
  const authenticator = randomBytes(16);
  const name = Buffer.from(username, 'utf8');
  const hidden = hidePassword(password, authenticator, config.secret);
  if (hidden === null || name.length === 0 || name.length > 253) return null;
  const attributes: RadiusAttribute[] = [
    { type: radiusTypes.userName, value: name },
    { type: radiusTypes.userPassword, value: hidden },
    { type: radiusTypes.nasIdentifier, value: Buffer.from(config.nasIdentifier) },
    { type: radiusTypes.nasPortType, value: virtualPort },
  ];
  if (address !== '') {
    attributes.push({ type: radiusTypes.callingStationId, value: Buffer.from(address) });
  }
  if (state !== undefined) attributes.push({ type: radiusTypes.state, value: state });
  const bytes = encodeRequest(id, authenticator, attributes, config.secret);
  return { id, authenticator, bytes };
}

/** One server; null when no genuine reply came. Other datagrams are ignored, RFC 2865 section 3. */
async function exchange(
  config: RadiusConfig,
  { host, port }: RadiusConfig['servers'][number],
  request: Request,
): Promise<RadiusPacket | null> {
  const address = await lookup(host).catch(() => null);
  if (address === null) return null;
  const socket = createSocket(isIPv6(address.address) ? 'udp6' : 'udp4');
  try {
    return await new Promise((resolve) => {
      socket.on('error', () => resolve(null));
      socket.on('message', (datagram) => {
        const reply = readReply(datagram, request, config.secret);
        if (reply !== null) resolve(reply);
      });
      // A connected socket hears only this server.
      socket.connect(port, address.address, () =>
        sendRepeatedly(socket, request.bytes, config, () => resolve(null)),
      );
    });
  } finally {
    socket.close();
  }
}

function sendRepeatedly(
  socket: Socket,
  bytes: Buffer,
  { attempts, timeoutMs }: RadiusConfig,
  giveUp: () => void,
): void {
  let sent = 0;
  const send = (): void => {
    if (sent++ >= attempts) {
      giveUp();
      return;
    }
    socket.send(bytes);
    const timer = setTimeout(send, timeoutMs);
    socket.once('close', () => clearTimeout(timer));
  };
  send();
}

function toAnswer(reply: RadiusPacket): RadiusAnswer {
  if (reply.code === radiusCodes.accept) return { kind: 'accept', groups: groupsOf(reply) };
  const state = reply.attributes.find((one) => one.type === radiusTypes.state)?.value;
  if (reply.code !== radiusCodes.challenge || state === undefined) return { kind: 'reject' };
  return { kind: 'challenge', state: Buffer.from(state), prompt: promptOf(reply) };
}

/** Names of groups: servers give them as Filter-Id. */
function groupsOf(reply: RadiusPacket): string[] {
  return reply.attributes
    .filter((one) => one.type === radiusTypes.filterId)
    .map((one) => Buffer.from(one.value).toString('utf8'));
}

/** The server's words for the person: one line, bounded. */
function promptOf(reply: RadiusPacket): string {
  return reply.attributes
    .filter((one) => one.type === radiusTypes.replyMessage)
    .map((one) => Buffer.from(one.value).toString('utf8'))
    .join(' ')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, promptCharactersMax);
}
