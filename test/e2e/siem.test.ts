/** Runs the product: a SIEM target gets every request, whatever the log policy keeps of it. */

import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';

let product: Product;
let target: Server;
let received = '';

if (missingBuild !== null) console.log(missingBuild);

beforeAll(async () => {
  if (missingBuild !== null) return;
  target = createServer((socket) => {
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  product = await borrowProduct();
}, 600_000);
afterAll(async () => {
  await product?.stop();
  target?.close();
});

async function ask(path: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${product.proxyPort}${path}`);
  await answer.arrayBuffer();
  return answer.headers.get('x-request-id') ?? '';
}

/** Paths of the access events that came. */
function pathsSeen(): string[] {
  return received
    .split('\n')
    .filter((line) => line.includes(' waf - access - '))
    .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as { target: string })
    .map((event) => event.target);
}

test.skipIf(missingBuild !== null)(
  'every request goes to the target from when it is set, and none after it is taken away',
  async () => {
    const { port } = target.address() as AddressInfo;
    const where = { transport: 'tcp', host: '127.0.0.1', port, framing: 'newline' };
    const targets = [
      { id: 'access', format: 'access', ...where },
      { id: 'audit', format: 'audit', ...where },
    ];
    const set = (key: string, value: unknown): void => {
      const words = ['system', 'settings-set', '--set', `${key}=${JSON.stringify(value)}`];
      const { code, stderr } = product.waf(...words);
      expect(code, stderr).toBe(0);
    };
    set('outgoing.allowed_networks', ['127.0.0.0/8']);
    set('siem.targets', targets);
    await eventually(async () => {
      await ask('/first');
      return pathsSeen().length > 0;
    });
    // More requests of one kind than a reservoir keeps.
    for (let at = 0; at < 40; at++) await ask('/same');
    await eventually(() => pathsSeen().filter((path) => path === '/same').length === 40);
    const blocked = await ask('/?id=1%27%20OR%20%271%27=%271');
    await eventually(() => received.includes(`"unique_id":"${blocked}"`));
    expect(received).toContain('detected SQLi using libinjection');
    set('siem.targets', []);
    await eventually(async () => {
      const before = received.length;
      await ask('/gone');
      await ask('/?id=1%27%20OR%20%271%27=%271');
      await new Promise((resolve) => setTimeout(resolve, 500));
      return received.length === before;
    });
    expect(product.waf('doctor').stdout).not.toContain('siem');
  },
  120_000,
);
