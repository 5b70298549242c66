/** Where messages of alerts arrive in tests: an HTTP server and a mail server on loopback. */

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** One request that arrived. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What the server answers; 200 with `{"code":0,"errcode":0}` unless stated. */
export interface ReceiverAnswer {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An HTTP server that keeps what it gets. */
export interface Receiver {
  readonly url: string;
  /** All requests to a path, oldest first. */
  of(path: string): readonly Received[];
  /** Answers the next requests to a path, one after the other; the last one stays. */
  answer(path: string, ...answers: readonly ReceiverAnswer[]): void;
  close(): Promise<void>;
}

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers = new Map<string, ReceiverAnswer[]>();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const path = request.url ?? '';
      received.push({ path, headers: request.headers, body });
      const waiting = answers.get(path) ?? [];
      const answer = (waiting.length > 1 ? waiting.shift() : waiting[0]) ?? {};
      response.writeHead(answer.status ?? 200, answer.headers ?? {});
      response.end(answer.body ?? '{"code":0,"errcode":0}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    of: (path) => received.filter((one) => one.path === path),
    answer: (path, ...list) => answers.set(path, [...list]),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A mail server that keeps what it gets. */
export interface Mailbox {
  readonly port: number;
  /** Mails with their envelopes, oldest first. */
  readonly mails: readonly {
    readonly from: string;
    readonly to: readonly string[];
    readonly text: string;
  }[];
  close(): Promise<void>;
}

/** Starts a mailbox without TLS; with `user`, only who knows its password may send. */
export async function startMailbox(): Promise<Mailbox> {
  const mails: { from: string; to: string[]; text: string }[] = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, session, done) => {
      let text = '';
      stream.on('data', (piece: Buffer) => (text += piece.toString()));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        mails.push({ from, to: rcptTo.map(({ address }) => address), text });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  const { port } = server.server.address() as AddressInfo;
  return { port, mails, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
