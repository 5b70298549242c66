/** Tasks on who may enter a site: a service that is asked by path, certificates of clients. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'node:https';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { makeTestCertificate, type TestCertificate } from '../../support/test-certificates.ts';
import { sendRaw } from '../console-driver.ts';
import { inChinese } from './chinese-tasks.ts';
import type { Desk } from './desk.ts';
import type { Task, World } from './task.ts';

/** What the pages say. */
interface Words {
  readonly host: string;
  readonly ask: string;
  readonly prefix: string;
  readonly url: string;
  readonly networks: string;
  readonly add: string;
  readonly remove: string;
  readonly certificates: string;
  readonly authorities: string;
  readonly save: string;
  readonly saved: string;
}

const english: Words = {
  host: 'asked',
  ask: 'Ask a service',
  prefix: 'Path prefix',
  url: 'Address that is asked',
  networks: 'Private networks that it may be in',
  add: 'Add',
  remove: 'Delete',
  certificates: 'Certificates of clients',
  authorities: 'Authorities of clients, PEM; empty asks for none',
  save: 'Save',
  saved: 'Saved. The proxy takes it over now.',
};

const chinese: Words = {
  host: 'asked-zh',
  ask: '添加认证服务',
  prefix: '路径前缀',
  url: '服务地址',
  networks: '允许的私有网段',
  add: '添加',
  remove: '删除',
  certificates: '客户端证书',
  authorities: '客户端证书的签发机构（PEM），留空不要求',
  save: '保存',
  saved: '已保存，代理正在应用。',
};

/** A site that serves TLS with a certificate of its own; its id. */
async function secureSite(world: World, name: string): Promise<string> {
  const id = await world.site(name);
  const { cert, key } = await makeTestCertificate({ names: [`${name}.example`] });
  const [certPem, keyPem] = [cert, key].map((pem) => Buffer.from(pem).toString('base64'));
  const made = await world.call('CertService/UploadCert', { name, certPem, keyPem });
  const { id: certId } = made['cert'] as { id: string };
  const { revision } = await world.siteAt(id);
  const site = { id, tls: { mode: 'TLS_MODE_UPLOADED', certId } };
  const request = { site, revision, updateMask: 'tls.mode,tls.certId' };
  await world.call('SiteService/UpdateSite', request);
  return id;
}

/** The status that a client gets over TLS; 0 where the handshake ends without an answer. */
function enter(world: World, servername: string, client?: TestCertificate): Promise<number> {
  const shown = client === undefined ? {} : { cert: client.cert, key: client.key };
  const options = { host: '127.0.0.1', port: world.securePort, servername, agent: false };
  return new Promise((resolve) => {
    request(
      { ...options, ...shown, rejectUnauthorized: false, headers: { host: servername } },
      (answer) => answer.resume().on('end', () => resolve(answer.statusCode ?? 0)),
    )
      .on('error', () => resolve(0))
      .end();
  });
}

async function askService(desk: Desk, world: World, words: Words): Promise<void> {
  const service = createServer(({ headers }, response) => {
    response.writeHead(headers.cookie === 'who=ann' ? 204 : 403).end();
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as AddressInfo;
  try {
    await desk.go(`/sites/${await world.site(words.host)}?tab=delivery`);
    await desk.press(words.ask);
    await desk.fill(words.prefix, '/staff', words.ask);
    await desk.fill(words.url, `http://127.0.0.1:${port}/check`, words.ask);
    await desk.fill(words.networks, '127.0.0.0/8', words.ask);
    await desk.press(words.add, words.ask);
    await desk.shows(`http://127.0.0.1:${port}/check`);
    const get = (path: string, more: Record<string, string> = {}): Promise<number> =>
      sendRaw(world.product, path, { host: `${words.host}.example`, ...more });
    await eventually(async () => (await get('/staff')) === 403);
    expect(await get('/staff/desk', { cookie: 'who=ann' })).toBe(200);
    expect(await get('/')).toBe(200);
    await desk.press(words.remove, '/staff');
    await desk.press(words.remove, '/staff');
    await eventually(async () => (await get('/staff')) === 200);
  } finally {
    service.closeAllConnections();
    service.close();
  }
}

async function askCertificates(desk: Desk, world: World, words: Words): Promise<void> {
  const name = `${words.host}-shown`;
  const host = `${name}.example`;
  const authority = await makeTestCertificate({ subject: 'CN=Staff', authority: true });
  const client = await makeTestCertificate({ subject: 'CN=ann', issuer: authority });
  const stranger = await makeTestCertificate({ subject: 'CN=ann' });
  await desk.go(`/sites/${await secureSite(world, name)}?tab=delivery`);
  await eventually(async () => (await enter(world, host)) === 200);
  await desk.fill(words.authorities, authority.cert, words.certificates);
  await desk.press(words.save, words.certificates);
  await desk.shows(words.saved);
  await eventually(async () => (await enter(world, host)) !== 200);
  expect(await enter(world, host, client)).toBe(200);
  expect(await enter(world, host, stranger)).not.toBe(200);
  await desk.fill(words.authorities, '', words.certificates);
  await desk.press(words.save, words.certificates);
  await eventually(async () => (await enter(world, host)) === 200);
}

const tasksIn = (words: Words): readonly Task[] => [
  {
    id: `entry-${words.host}`,
    page: 'Sites',
    does: 'has a service say who may enter a path, and asks it no more',
    expects: 'who it refuses gets 403 there and is served elsewhere',
    run: (desk, world) => askService(desk, world, words),
  },
  {
    id: `entry-${words.host}-certificates`,
    page: 'Sites',
    does: 'asks clients of a site for certificates of an authority, and asks for none again',
    expects: 'a client with one enters, one without or with that of a stranger does not',
    run: (desk, world) => askCertificates(desk, world, words),
  },
];

/** The table. */
export const entryTasks: readonly Task[] = [
  ...tasksIn(english),
  ...tasksIn(chinese).map(inChinese),
];
