/**
 * Remote nodes end to end: the printed command's enrollment, serving, a controller that goes away
 * and comes back, revocation. Each node has a data folder and ports of its own.
 */

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { missingBuild, startProduct, type Product } from '../support/product.ts';
import {
  endNode,
  enroll,
  makeEnrollment,
  startNode,
  type TestNode,
} from '../support/remote-node.ts';

let waf: Product;
let origin: Server;
const nodes: TestNode[] = [];

beforeAll(async () => {
  if (missingBuild !== null) return;
  waf = await startProduct('--no-demo');
  origin = createServer((_request, response) => response.end('from the origin'));
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as AddressInfo;
  const upstream = ['--upstream', `http://127.0.0.1:${port}`];
  const made = waf.waf('site', 'create', '--name', 'shop', '--host', 'shop.test', ...upstream);
  if (made.code !== 0) throw new Error(made.stderr);
});

afterAll(async () => {
  for (const node of nodes) await endNode(node);
  await waf?.stop();
  origin?.close();
});

test.skipIf(missingBuild !== null)(
  'three nodes enroll by the printed token, serve, lose the controller, and end when deleted',
  async () => {
    const enrollment = makeEnrollment(waf, 3);

    // A wrong pin sends nothing: the token is not used.
    const wrong = mkdtempSync(join(tmpdir(), 'waf-node-'));
    const refused = enroll(wrong, { ...enrollment, pin: 'f'.repeat(64) });
    expect(refused.stderr).toContain('shows another authority');
    rmSync(wrong, { recursive: true });

    // The printed script, but for its last line, which would serve on the standard ports.
    const first = await enrollByScript(enrollment.printed);
    nodes.push(await startNode(first));
    for (let count = 1; count < 3; count++) {
      const data = mkdtempSync(join(tmpdir(), 'waf-node-'));
      const { stderr } = enroll(data, enrollment);
      expect(stderr).toBe('');
      nodes.push(await startNode(data));
    }
    for (const node of nodes) {
      await holds(async () => expect(await fetchShop(node.port, '/')).toBe(200));
      expect(await fetchShop(node.port, "/?id=1%27%20OR%20%271%27='1")).toBe(403);
    }
    await holds(() => {
      const list = JSON.parse(waf.waf('agent', 'list', '--output', 'json').stdout) as {
        items: { id: string; connectionStatus: string; applyResult?: string }[];
      };
      const remote = list.items.filter(({ id }) => id !== 'local');
      expect(remote.map(({ connectionStatus }) => connectionStatus)).toEqual(
        Array.from({ length: 3 }, () => 'CONNECTED'),
      );
      expect(remote.every(({ applyResult }) => applyResult === 'success')).toBe(true);
    });
    const state = waf.waf('agent', 'state', nodes[0]!.id, '--output', 'json');
    expect(JSON.parse(state.stdout)).toMatchObject({ remote: true, assigned: true });
    expect(JSON.parse(state.stdout)).toMatchObject({ acknowledged: true });

    // A fourth machine is one too many.
    const fourth = mkdtempSync(join(tmpdir(), 'waf-node-'));
    expect(enroll(fourth, enrollment).stderr).toContain('resource_exhausted');
    rmSync(fourth, { recursive: true });

    // The controller is replaced; nodes serve on, and what they saw meanwhile arrives.
    const control = waf.childPid('control/main.js');
    expect(control).toBeGreaterThan(0);
    process.kill(control, 'SIGSTOP');
    const blocked = await askShop(nodes[1]!.port, '/?x=<script>alert(1)</script>');
    process.kill(control, 'SIGKILL');
    expect(blocked.status).toBe(403);
    await holds(() => {
      const words = ['log', 'security', '--request-id', blocked.requestId, '--output', 'json'];
      expect(waf.waf(...words).stdout).toContain(nodes[1]!.id);
    });

    // A deleted node is gone at once and does not come back.
    const [gone, ...left] = nodes as [TestNode, ...TestNode[]];
    expect(waf.waf('agent', 'delete', gone.id).code).toBe(0);
    const again = enroll(gone.data, enrollment, '--again');
    expect(again.stderr).toContain('permission_denied');
    await holds(() => {
      const text = waf.waf('agent', 'list', '--output', 'json').stdout;
      const list = JSON.parse(text) as { items: { id: string; connectionStatus: string }[] };
      expect(list.items.map(({ id }) => id).sort()).toEqual(
        ['local', ...left.map(({ id }) => id)].sort(),
      );
    });
    await holds(() => expect(gone.output()).toContain('is not enrolled'));
    // It has no new configuration, but does not stop serving its clients.
    expect(await fetchShop(gone.port, '/')).toBe(200);
  },
  900_000,
);

function holds(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 120_000, interval: 200 });
}

/** Downloads the package from the controller, unpacks it and enrolls with it. */
async function enrollByScript(printed: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'waf-node-'));
  const script = printed.replace(/^exec .*$/m, '"$work/waf/waf" version; rm -rf "$work"');
  const options = { cwd: folder, env: { PATH: '/usr/bin:/bin' } };
  const { stdout } = await promisify(execFile)('sh', ['-c', script], options);
  expect(stdout).toContain('Enrolled as');
  return join(folder, 'waf-node');
}

async function fetchShop(port: number, path: string): Promise<number> {
  return (await askShop(port, path)).status;
}

function askShop(port: number, path: string): Promise<{ status: number; requestId: string }> {
  return new Promise((resolve) => {
    const asked = { host: '127.0.0.1', port, path, headers: { host: 'shop.test' }, agent: false };
    get(asked, (response) => {
      response.resume();
      const requestId = String(response.headers['x-request-id'] ?? '');
      resolve({ status: response.statusCode ?? 0, requestId });
    }).on('error', () => resolve({ status: 0, requestId: '' }));
  });
}
