/** Open streams end when the session that opened them ends, whichever way it does. */

import { rmSync } from 'node:fs';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AgentService } from '../../proto/gen/waf/v1/agent_pb.ts';
import { LogService } from '../../proto/gen/waf/v1/log_pb.ts';
import { connectTakingLink } from '../../test/support/test-link.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';

const password = 'a long enough password';
let waf: TestControl;
let count = 0;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(async () => {
  await waf.control.close();
  rmSync(waf.folder, { recursive: true, force: true });
});

async function signedIn(): Promise<{ id: string; token: string; cookie: string }> {
  const username = `reader${count++}`;
  const made = await waf.call('UserService/CreateUser', {
    user: { username, roles: [{ id: 'role-auditor' }] },
    password,
  });
  const { id } = made.body['user'] as { id: string };
  const { body, cookie } = await waf.call('AuthService/Login', { username, password });
  return { id, token: String(body['accessToken']), cookie: cookie.split(';', 1)[0] ?? '' };
}

/** Opens both streams; resolves, once both run, to how they end. */
async function open(token: string): Promise<{ ends: Promise<unknown>[] }> {
  const baseUrl = `http://127.0.0.1:${waf.control.managementPort}`;
  const transport = createConnectTransport({ baseUrl, httpVersion: '2' });
  const headers = { authorization: `Bearer ${token}` };
  const running = new Set<unknown>();
  const read = async (stream: AsyncIterable<unknown>): Promise<unknown> => {
    try {
      for await (const _one of stream) running.add(stream);
      return 'ended without a reason';
    } catch (error) {
      return error instanceof ConnectError ? error.code : error;
    }
  };
  const ends = [
    read(createClient(LogService, transport).tailSecurityEvents({}, { headers })),
    read(createClient(AgentService, transport).streamAgentEvents({}, { headers })),
  ];
  // One of them says nothing before something happens to a node.
  while (running.size < ends.length) await (await connectTakingLink(waf.socket)).close();
  return { ends };
}

type User = Awaited<ReturnType<typeof signedIn>>;
const ends: readonly (readonly [string, (user: User) => Promise<unknown>])[] = [
  ['signs out', ({ cookie }) => waf.call('AuthService/Logout', {}, { cookie })],
  ['is locked', ({ id }) => waf.call('UserService/LockUser', { userId: id })],
  ['gets a password', ({ id }) => waf.call('UserService/ResetPassword', { userId: id, password })],
  ['loses the role', ({ id }) => waf.call('UserService/AssignRoles', { userId: id, roleIds: [] })],
  ['is removed', ({ id }) => waf.call('UserService/DeleteUser', { id })],
];

test.each(ends)('a user who %s', async (_name, end) => {
  const user = await signedIn();
  const streams = await open(user.token);
  await end(user);
  expect(await Promise.all(streams.ends)).toEqual([Code.Unauthenticated, Code.Unauthenticated]);
});
