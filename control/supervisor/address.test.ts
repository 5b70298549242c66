/** Tests addresses and the message for a port that is taken. */

import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { freePort } from '../../test/support/free-port.ts';
import { formatAddress, readAddress, requireFreePort } from './address.ts';

test.each([
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
  [':80', { host: '127.0.0.1', port: 80 }],
  ['[::1]:8443', { host: '::1', port: 8443 }],
  ['0.0.0.0:0', { host: '0.0.0.0', port: 0 }],
])('reads %s', (text, address) => {
  expect(readAddress(text, '--proxy')).toEqual(address);
});

test.each(['', '8080', 'host', '127.0.0.1:', '127.0.0.1:70000', '::1:80', 'a b:x'])(
  'refuses %j and names the flag',
  (text) => {
    expect(() => readAddress(text, '--proxy')).toThrow('--proxy');
  },
);

test('a host that needs brackets gets them', () => {
  expect(formatAddress({ host: '::1', port: 1 })).toBe('[::1]:1');
  expect(formatAddress({ host: 'a', port: 1 })).toBe('a:1');
});

test('a busy port is named with the flag that changes it', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const check = requireFreePort({ host: '127.0.0.1', port }, '--proxy');
  await expect(check).rejects.toMatchObject({
    code: 'port_busy',
    message: expect.stringMatching(new RegExp(`127.0.0.1:${port} is in use.*--proxy`)) as string,
  });
  await new Promise((resolve) => server.close(resolve));
  const free = { host: '127.0.0.1', port: await freePort() };
  await expect(requireFreePort(free, '--proxy')).resolves.toBeUndefined();
});
