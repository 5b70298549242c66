/** Mail servers that never come to an end, or offer no encryption where it is asked for. */

import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { sendEmail } from './email.ts';
import type { OutgoingMessage } from './message.ts';

const text = { title: 'title', message: 'message', markdown: '' };
const facts = { id: 'a', ruleId: '', siteId: '', agentId: '', kind: '', severity: 'info' };
const message: OutgoingMessage = {
  ...{ id: 'delivery-1', event: 'test', text, nowMs: 0 },
  alert: { ...facts, status: '', title: '', message: '', openedAt: '', resolvedAt: '' },
};

test('an attempt ends in time, though the server continues to send', async () => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).write('220 mail.test\r\n');
    // One answer that has no end.
    const drip = setInterval(() => socket.write('2'), 10);
    socket.on('close', () => clearInterval(drip));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const config = { host: '127.0.0.1', port, tls: 'none', from: 'a@b.test', to: ['c@d.test'] };
  const { signal } = new AbortController();
  const bounds = { allowedNetworks: ['127.0.0.0/8'], timeoutMs: 500, signal };
  const sent = sendEmail(message, { config, bounds, pagerDutyUrl: '' });
  await expect(sent).rejects.toThrow('it took too long');
  for (const socket of open) socket.destroy();
  server.close();
});

test('where STARTTLS is asked for, a server without it gets no mail', async () => {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined).write('220 mail.test\r\n');
    socket.on('data', (line) => {
      const [command = ''] = line.toString().split(/[ \r]/);
      asked.push(command);
      socket.write(command === 'EHLO' ? '250 mail.test\r\n' : '502 not here\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const config = { host: '127.0.0.1', port, tls: 'starttls', from: 'a@b.test', to: ['c@d.test'] };
  const { signal } = new AbortController();
  const bounds = { allowedNetworks: ['127.0.0.0/8'], timeoutMs: 30_000, signal };
  await expect(sendEmail(message, { config, bounds, pagerDutyUrl: '' })).rejects.toThrow();
  expect(asked).toContain('STARTTLS');
  expect(asked).not.toContain('MAIL');
  server.close();
});
