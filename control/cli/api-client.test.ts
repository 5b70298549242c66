/** The connections of the command line to the API. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiClient } from './api-client.ts';
import type { GlobalOptions } from './global-options.ts';

let connections = 0;
const server = createServer((_request, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end('{}');
});
server.on('connection', () => connections++);

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

test('each call has a connection of its own, which the server cannot close between calls', async () => {
  const { port } = server.address() as AddressInfo;
  const options: GlobalOptions = {
    api: `http://127.0.0.1:${port}`,
    token: 'x',
    caFile: undefined,
    insecure: false,
    data: tmpdir(),
    adminSocket: '',
    logLevel: 'info',
    logFormat: 'text',
    output: 'table',
    credentials: '',
  };
  const api = createApiClient(options);
  await api.sites.listSites({});
  await api.sites.listSites({});
  expect(connections).toBe(2);
});
