/**
 * Carries accepted connections to the server that speaks what they begin with, and keeps the table
 * of connections told of what happens on them. Never answers a request itself.
 */

import { createHash } from 'node:crypto';
import { createServer as createHttp1, STATUS_CODES } from 'node:http';
import {
  createServer as createHttp2,
  Http2ServerRequest,
  type ServerHttp2Session,
} from 'node:http2';
import type { Socket } from 'node:net';
import {
  createServer as createTls,
  type SecureContext,
  type SecureContextOptions,
  type TLSSocket,
} from 'node:tls';
import { controllerServerName } from '../../../base/node-identity.ts';
import { callLimits } from '../../limits/call-limits.ts';
import type { Connection, ConnectionTable, Exchange, NodeCertificate } from './connection-table.ts';
import type { NodeAuthority } from '../nodes/node-authority.ts';
import { HandshakePace } from './handshake-pace.ts';
import type { NamedContext } from './console-name.ts';
import type { TlsIdentity } from './management-tls.ts';
import { nodeOfCertificate } from './own-certificate.ts';
import type { NodeRequest, NodeResponse } from './node-http.ts';

const preface = 'PRI * HTTP/2.0';
const tlsHandshakeByte = 0x16;

const connectionKey = Symbol('connection');

/** What carries a connection's entry of the table: a socket, or its stand-in in HTTP/2. */
interface Carrier {
  [connectionKey]?: Connection;
}

/** Answers a request, whichever version of HTTP it came in. */
export type Handler = (request: NodeRequest, response: NodeResponse) => void;

/** What a request may say of the connection that it came over. */
export interface RequestPeer {
  /** Somebody signed in has called. */
  readonly prove: () => void;
  /** The body may come for as long as the call lasts. */
  readonly endless: () => void;
  /** The node whose certificate the connection proved; null for none. */
  readonly node: NodeCertificate | null;
}

/** Enters a request into the table until it ends; null when its connection is gone. */
export function trackRequest(
  table: ConnectionTable,
  request: NodeRequest,
  response: NodeResponse,
): RequestPeer | null {
  const connection = (request.socket as Carrier | null)?.[connectionKey];
  if (connection === undefined) return null;
  const { end, endless } = table.begin(connection, exchangeOf(connection, request, response));
  response.once('close', end);
  const prove = (): void => void (connection.proven = true);
  return { prove, endless, node: connection.certificate };
}

function exchangeOf(
  connection: Connection,
  request: NodeRequest,
  response: NodeResponse,
): Exchange {
  if (request instanceof Http2ServerRequest) {
    const { stream } = request;
    return {
      // What the client has ended may still wait to be read.
      bodyIsComplete: () => stream.destroyed || stream.state.remoteClose === 1,
      waitingBytes: () => stream.writableLength,
      destroy: () => void stream.destroy(),
    };
  }
  return {
    bodyIsComplete: () => request.complete,
    waitingBytes: () => response.writableLength,
    destroy: connection.peer.destroy,
  };
}

/**
 * Hands a connection with its first bytes to the server that speaks what it begins with; with `tls`
 * nothing else is spoken. With `nodes` clients may prove themselves with a certificate of a node;
 * `named` has certificates for names of their own.
 */
export function acceptor(
  table: ConnectionTable,
  handler: Handler,
  tls: TlsIdentity | null,
  nodes: NodeAuthority | null = null,
  named: NamedContext = () => null,
): (socket: Socket, connection: Connection, start: Buffer) => void {
  const http1 = createHttp1({}, handler);
  http1.on('checkContinue', handler);
  const settings = { maxConcurrentStreams: callLimits.streamsPerConnectionMax };
  const http2 = createHttp2({ settings, maxSessionMemory: callLimits.sessionMemoryMbMax }, handler);
  http2.on('checkContinue', handler);
  http2.on('session', (session) => watchSession(table, session));
  const serve = (socket: Socket, connection: Connection, speaksHttp2: boolean): void => {
    (socket as Carrier)[connectionKey] = connection;
    table.opened(connection);
    (speaksHttp2 ? http2 : http1).emit('connection', socket);
  };
  if (tls === null) return (socket, connection, start) => serve(socket, connection, isHttp2(start));
  const present = (): SecureContextOptions => secureOptions(tls, nodes);
  const secured = createTls({
    ...present(),
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: callLimits.handshakeTimeoutMs,
    requestCert: nodes !== null,
    // Who shows none is a person or a program; what nodes alone may do looks at the certificate.
    rejectUnauthorized: false,
    SNICallback: contextFor(nodes, named),
  });
  tls.onReplaced(() => secured.setSecureContext(present()));
  nodes?.onReplaced(() => secured.setSecureContext(present()));
  const pace = new HandshakePace();
  // The server hands back another object for the same connection.
  const opening = new Map<string, Connection>();
  secured.on('secureConnection', (socket) => {
    socket.on('error', () => socket.destroy());
    const connection = opening.get(endOf(socket));
    if (connection === undefined) {
      socket.destroy();
      return;
    }
    connection.certificate = certificateOf(socket);
    serve(socket, connection, socket.alpnProtocol === 'h2');
  });
  return (socket, connection, start) => {
    if (start[0] !== tlsHandshakeByte) return refusePlain(socket);
    const end = endOf(socket);
    opening.set(end, connection);
    socket.on('close', () => opening.delete(end));
    // Whoever pretends to be a node only waits longer.
    const isNode = start.includes(controllerServerName);
    pace.add(() => {
      if (socket.destroyed) return;
      table.begun(connection);
      secured.emit('connection', socket);
    }, isNode);
  };
}

/** Without authorities to name, browsers would ask people for any certificate that they have. */
function secureOptions(tls: TlsIdentity, nodes: NodeAuthority | null): SecureContextOptions {
  return nodes === null ? tls.options() : { ...tls.options(), ca: nodes.trustedPem() };
}

/** Nodes know the controller by the authority of nodes, whatever people are shown. */
function contextFor(nodes: NodeAuthority | null, named: NamedContext) {
  return (name: string, done: (error: null, context?: SecureContext) => void): void => {
    const found =
      nodes !== null && name === controllerServerName ? nodes.serverContext() : named(name);
    if (found === null) done(null);
    else done(null, found);
  };
}

/** The node that a handshake proved; null where the certificate is none of ours, or absent. */
function certificateOf(socket: TLSSocket): NodeCertificate | null {
  if (!socket.authorized) return null;
  const certificate = socket.getPeerX509Certificate();
  const nodeId = certificate === undefined ? '' : nodeOfCertificate(certificate);
  if (certificate === undefined || nodeId === '') return null;
  const sha256 = createHash('sha256').update(certificate.raw).digest('hex');
  return { nodeId, sha256, endMs: Date.parse(certificate.validTo) };
}

/** Names the other end of a connection; no two open ones have the same. */
function endOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Frames that are no requests cost as well; a silent session is asked to go before it is ended. */
function watchSession(table: ConnectionTable, session: ServerHttp2Session): void {
  const connection = (session.socket as Carrier)[connectionKey];
  if (connection === undefined) return session.destroy();
  connection.closeKindly = () => session.close();
  session.on('ping', () => table.noteControlFrame(connection));
  session.on('remoteSettings', () => table.noteControlFrame(connection));
}

function isHttp2(start: Buffer): boolean {
  const text = start.toString('latin1', 0, preface.length);
  return preface.startsWith(text) && text.length > 3;
}

/** Says that the address speaks HTTPS; nothing sent in the clear is read further. */
function refusePlain(socket: Socket): void {
  const message = 'this address speaks HTTPS: use a https:// URL';
  const body = JSON.stringify({ code: 'failed_precondition', message });
  socket.end(
    `HTTP/1.1 400 ${STATUS_CODES[400]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Waits for the first bytes and puts them back. */
export function peek(socket: Socket, then: (start: Buffer) => void): void {
  socket.once('readable', () => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) {
      socket.destroy();
      return;
    }
    socket.unshift(chunk);
    then(chunk);
  });
}
