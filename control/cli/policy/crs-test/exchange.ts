/** One raw exchange with the proxy: bytes out, status line back. */

import { connect, type Socket } from 'node:net';
import { commandLineLimits } from '../../../limits/command-limits.ts';

/** What came back. */
export interface Exchange {
  /** Status of the last final answer; 0 when there was none. */
  readonly status: number;
  /** Our own port or address, by which the proxy's event is found. */
  readonly client: string;
}

/**
 * Sends `wire` as it is and waits until the proxy closed the connection, its answer is complete, or
 * `timeoutMs` passed. `from` is a loopback address that nobody else sends from; null leaves it to
 * the system, and the port names the client. `onConnect` hears the name before any byte is sent.
 */
export function exchange(
  port: number,
  wire: Buffer,
  timeoutMs: number,
  from: string | null,
  onConnect: (client: string) => void,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket: Socket = connect({
      port,
      host: '127.0.0.1',
      ...(from && { localAddress: from }),
    });
    let answer = '';
    let client = '';
    let done = false;
    const finish = (): void => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      socket.destroy();
      resolve({ status: readStatus(answer).status, client });
    };
    const timer = setTimeout(finish, timeoutMs);
    socket.setNoDelay(true);
    socket.on('connect', () => {
      client = from ?? String(socket.localPort ?? 0);
      onConnect(client);
      socket.write(wire);
    });
    socket.on('data', (chunk) => {
      if (answer.length < commandLineLimits.answerBytesMax) answer += chunk.toString('latin1');
      if (readStatus(answer).complete) finish();
    });
    socket.on('error', finish);
    socket.on('close', finish);
  });
}

/** Reads the first final response in `text`. Its declared length decides whether it is complete. */
export function readStatus(text: string): { status: number; complete: boolean } {
  for (let at = 0; ;) {
    const headEnd = text.indexOf('\r\n\r\n', at);
    const match = /^HTTP\/1\.[01] (\d{3})/.exec(text.slice(at, at + 12));
    if (match === null || headEnd < 0) return { status: Number(match?.[1] ?? 0), complete: false };
    const status = Number(match[1]);
    if (status >= 200) {
      return { status, complete: isComplete(text.slice(at, headEnd), text, headEnd + 4, status) };
    }
    at = headEnd + 4;
  }
}

/** With `Connection: close` the end of the connection is waited for: the event follows it. */
function isComplete(head: string, text: string, bodyStart: number, status: number): boolean {
  if (/\r\nconnection:[^\r\n]*close/i.test(head)) return false;
  if (status === 204 || status === 304) return true;
  const length = /\r\ncontent-length:\s*(\d+)/i.exec(head);
  if (length !== null) return text.length >= bodyStart + Number(length[1]);
  return /\r\ntransfer-encoding:[^\r\n]*chunked/i.test(head) && text.endsWith('0\r\n\r\n');
}
