/** Tests the reflecting origin over raw sockets. */

import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readStatus } from './exchange.ts';
import { startOrigin, type ReflectingOrigin } from './origin.ts';

let origin: ReflectingOrigin;
beforeAll(async () => {
  origin = await startOrigin();
});
afterAll(() => origin.close());

function ask(wire: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(origin.port, '127.0.0.1', () => socket.write(wire, 'latin1'));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (readStatus(text).complete) socket.destroy();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

test('any request gets 200 without a body', async () => {
  const answer = await ask('TEST /x JUNK/9\r\nA: b\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(answer).toMatch(/\r\n\r\n$/);
});

test('reflect answers what its body describes, chunked or not', async () => {
  const wish = JSON.stringify({ status: 503, headers: { 'X-A': 'b' }, body: 'héllo' });
  const bytes = Buffer.from(wish).toString('latin1');
  const plain = `POST /reflect HTTP/1.1\r\nContent-Length: ${bytes.length}\r\n\r\n${bytes}`;
  const size = bytes.length.toString(16);
  const chunked =
    'POST /reflect HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n' +
    `${size}\r\n${bytes}\r\n0\r\n\r\n`;
  for (const wire of [plain, chunked]) {
    const answer = Buffer.from(await ask(wire), 'latin1').toString('utf8');
    expect(answer).toMatch(/^HTTP\/1.1 503 /);
    expect(answer).toContain('X-A: b\r\n');
    expect(answer).toContain('Content-Type: text/plain');
    expect(answer).toMatch(/\r\n\r\nhéllo$/);
  }
});

test('encoded bodies are bytes', async () => {
  const wish = JSON.stringify({ encodedBody: Buffer.from([0, 255, 10]).toString('base64') });
  const answer = await ask(
    `POST /reflect HTTP/1.1\r\nContent-Length: ${wish.length}\r\n\r\n${wish}`,
  );
  expect(answer.slice(-3)).toBe('\u0000\u00ff\n');
});
