/** The Model Context Protocol server: its tools read, answer in text, and change nothing. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { createApiClient } from '../api-client.ts';
import type { GlobalOptions } from '../global-options.ts';
import { openMcpServer } from './mcp.ts';

let waf: TestControl;
let client: Client;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const options: GlobalOptions = {
    ...{ api: undefined, token: undefined, caFile: undefined, insecure: false },
    ...{ data: waf.folder, adminSocket: waf.socket, logLevel: 'error', logFormat: 'text' },
    ...{ output: 'json', credentials: '' },
  };
  const server = await openMcpServer(createApiClient(options));
  const [here, there] = InMemoryTransport.createLinkedPair();
  client = new Client({ name: 'test', version: '1' });
  await Promise.all([server.connect(there), client.connect(here)]);
});
afterAll(async () => {
  await client.close();
  await waf.control.close();
});

async function call(name: string, given: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: given });
  const [first] = content as { text: string }[];
  return { text: first?.text ?? '', isError: isError === true };
}

test('every tool is marked as reading only, and none has the name of a change', async () => {
  const { tools } = await client.listTools();
  expect(tools.length).toBe(6);
  for (const { name, annotations } of tools) {
    expect(annotations?.readOnlyHint).toBe(true);
    expect(name).toMatch(/^(?:list|get|explain|test|replay)_/);
  }
});

test('answers are those of the API, also its refusals', async () => {
  const listed = await call('list_policies');
  const { items } = JSON.parse(listed.text) as { items: { id: string }[] };
  expect(items.length).toBeGreaterThan(0);
  const one = await call('get_policy', { id: items[0]!.id });
  expect(JSON.parse(one.text)).toMatchObject({ policy: { id: items[0]!.id } });
  expect((await call('list_security_events')).isError).toBe(false);
  expect(await call('explain_security_event', { id: 'none' })).toMatchObject({ isError: true });
  expect(await call('test_policy', { policyId: 'none', url: '/' })).toMatchObject({
    isError: true,
  });
});

test('unknown tools and arguments are refused in words', async () => {
  expect((await call('delete_policy', { id: 'x' })).text).toContain('no tool');
  expect((await call('get_policy', {})).text).toContain('needs id');
  expect((await call('get_policy', { id: 1 })).text).toContain('takes texts');
  expect((await call('list_policies', { force: 'yes' })).isError).toBe(true);
});
