/** Runs the product: a SIEM target gets every request, whatever the log policy keeps of it. */

import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';

let product: Product;
let target: Server;
let received = '';
let other: Server;
let receivedByOther = '';

if (missingBuild !== null) console.log(missingBuild);

beforeAll(async () => {
  if (missingBuild !== null) return;
  target = await startTarget((text) => (received += text));
  other = await startTarget((text) => (receivedByOther += text));
  product = await borrowProduct();
}, 600_000);
afterAll(async () => {
  await product?.stop();
  target?.close();
  other?.close();
});

async function startTarget(take: (text: string) => void): Promise<Server> {
  const server = createServer((socket) => void socket.setEncoding('utf8').on('data', take));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function ask(path: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${product.proxyPort}${path}`);
  await answer.arrayBuffer();
  return answer.headers.get('x-request-id') ?? '';
}

/** The last line may still be on its way. */
const wholeLines = (text: string): string[] => text.split('\n').slice(0, -1);

/** Paths of the access events that a target received. */
function pathsSeen(text: string): string[] {
  return wholeLines(text)
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
      return pathsSeen(received).length > 0;
    });
    // More requests of one kind than a reservoir keeps.
    for (let at = 0; at < 40; at++) await ask('/same');
    await eventually(() => pathsSeen(received).filter((path) => path === '/same').length === 40);
    const blocked = await ask('/?id=1%27%20OR%20%271%27=%271');
    const lineOf = (text: string, id: string): string | null =>
      wholeLines(text).find((line) => line.includes(`"unique_id":"${id}"`)) ?? null;
    const told = await eventually(() => lineOf(received, blocked));
    expect(told).toContain('detected SQLi using libinjection');
    const moved = { ...where, id: 'moved', port: (other.address() as AddressInfo).port };
    set('siem.targets', [
      { ...moved, format: 'access' },
      { ...moved, id: 'moved-audit', format: 'audit' },
    ]);
    await eventually(async () => {
      await ask('/moving');
      return pathsSeen(receivedByOther).length > 0;
    });
    await ask('/gone');
    const later = await ask('/?id=1%27%20OR%20%271%27=%271');
    await eventually(() => pathsSeen(receivedByOther).includes('/gone'));
    await eventually(() => lineOf(receivedByOther, later));
    expect(pathsSeen(received)).not.toContain('/gone');
    expect(received).not.toContain(later);
    set('siem.targets', []);
    expect(product.waf('doctor').stdout).not.toContain('siem');
  },
);
