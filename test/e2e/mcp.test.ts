/**
 * `waf mcp` as the process that an assistant starts: its standard output is the protocol and
 * nothing else, and it ends when its input does.
 */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { missingBuild, root } from '../support/product.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';

const commandLine = join(root, '.build', 'control', 'cli', 'main.js');
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());

const line = (): string[] => [commandLine, 'mcp', '--admin-socket', waf.socket];

test.skipIf(missingBuild !== null)(
  'an assistant lists and calls tools of the process',
  async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: line(),
      cwd: root,
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('list_policies');
    const { content, isError } = await client.callTool({ name: 'list_policies', arguments: {} });
    expect(isError ?? false).toBe(false);
    const [first] = content as { text: string }[];
    const { items } = JSON.parse(first?.text ?? '{}') as { items: { id: string }[] };
    expect(items.length).toBeGreaterThan(0);
    await client.close();
  },
);

test.skipIf(missingBuild !== null)(
  'its output is the protocol only; it ends with its input',
  async () => {
    const child = spawn(process.execPath, line(), { cwd: root });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    const closed = new Promise<number>((resolve) =>
      child.on('close', (code) => resolve(code ?? 1)),
    );
    const hello = {
      protocolVersion: '2025-03-26',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    const asked = { jsonrpc: '2.0', id: 1, method: 'initialize', params: hello };
    child.stdin.write(`${JSON.stringify(asked)}\nthis is no message\n`);
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    child.stdin.end();
    expect(await closed).toBe(0);
    const lines = output.split('\n').filter(Boolean);
    const answers = lines.map((one) => JSON.parse(one) as { id: number; result?: object });
    expect(answers).toHaveLength(1);
    expect(answers[0]).toMatchObject({ id: 1, result: { serverInfo: { name: 'waf' } } });
  },
);
