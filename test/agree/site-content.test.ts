/**
 * Contents of a site through the product: a profile lets an editor's work pass live and in
 * TestPolicy, attacks beside it stay refused; weak signs of live traffic reach control.
 */

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applicationRows, type ApplicationRow } from './application-rows.ts';
import { describeCase, type DescribedCase } from './described-case.ts';
import { differences, startLiveWaf, type LiveWaf } from './live-waf.ts';

let waf: LiveWaf;
let siteId = '';
let policyId = '';

beforeAll(async () => {
  waf = await startLiveWaf();
  await waf.serve(async () => {
    const policy = { name: 'scored', crsCore: { decision: 'DECISION_SCORE' } };
    const made = await waf.ask('PolicyService/CreatePolicy', { policy });
    policyId = (made['policy'] as { id: string }).id;
    const upstreams = [{ inline: { url: waf.originUrl } }];
    const site = { name: 'a', primaryHost: 'a.test', upstreams, waf: { enabled: true, policyId } };
    const { site: kept } = await waf.ask('SiteService/CreateSite', { site });
    siteId = (kept as { id: string }).id;
  });
}, 600_000);
afterAll(() => waf.close());

const [wordpress] = applicationRows;
const post = wordpress!.work.find(({ title }) => title === 'save in the classic editor')!;
const attack = wordpress!.attacks.find(({ title }) => title === 'SQL in the number of a post')!;

function caseOf({ title, request }: ApplicationRow): DescribedCase {
  const { method = 'GET', url, headers = {}, body = '' } = request;
  const lines = [`${method} ${url} HTTP/1.1`, 'Host: a.test', 'Connection: close'];
  lines.push('User-Agent: Mozilla/5.0', 'Accept: */*');
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body.length > 0) lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  const wire = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${String(body)}`).toString('base64');
  const made = describeCase({ title, wire_b64: wire });
  if (typeof made === 'string') throw new Error(made);
  return made;
}

/** Live and by TestPolicy, which agree. */
async function blocked(row: ApplicationRow): Promise<boolean> {
  const one = caseOf(row);
  const live = await waf.send(one);
  expect(differences(live, await waf.test(one, policyId, siteId))).toEqual([]);
  return live.blocked;
}

test('a profile lets the work of an editor pass, and nothing beside it', async () => {
  expect([await blocked(post), await blocked(attack)]).toEqual([true, true]);
  const values = { 'detection.applications': { [siteId]: 'wordpress' } };
  await waf.serve(() => waf.ask('SystemService/UpdateSystemSettings', { values }));
  expect([await blocked(post), await blocked(attack)]).toEqual([false, true]);
  const unknown = { 'detection.applications': { [siteId]: 'wordpres' } };
  const answer = await waf.control.call('SystemService/UpdateSystemSettings', { values: unknown });
  expect(answer.text).toContain('must name applications, such as wordpress@/blog: wordpress,');
});

test('where asked for, the first page of the origin says which application a new site serves', async () => {
  const asked: string[] = [];
  const origin = http.createServer(({ url, headers }, response) => {
    asked.push(`${headers.host} ${url}`);
    response.end('<link href="/wp-includes/css/dashicons.css">');
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  const make = (host: string, to: string, recognizeApplication: boolean) => {
    const site = { name: host, primaryHost: host, upstreams: [{ inline: { url: to } }] };
    const guarded = { ...site, waf: { enabled: true, policyId } };
    return waf.ask('SiteService/CreateSite', { site: guarded, recognizeApplication });
  };
  try {
    expect((await make('plain.test', url, false))['warnings'] ?? []).toEqual([]);
    expect(asked).toEqual([]);
    const blog = await make('*.blog.test', url, true);
    const { id } = blog['site'] as { id: string };
    const command = `waf site applications ${id} --names wordpress`;
    expect(blog['warnings']).toEqual([expect.stringContaining(command)]);
    const named = { name: 'WordPress', profile: 'wordpress' };
    expect(blog['recognizedApplication']).toMatchObject(named);
    expect(asked).toEqual(['www.blog.test /']);
    expect((await make('gone.test', 'http://127.0.0.1:1', true))['warnings'] ?? []).toEqual([]);
  } finally {
    origin.close();
  }
});

/** A note whose text is a form field; `../` twice and a name of a file are weak signs. */
function note(text: string): ApplicationRow {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const body = `note=${encodeURIComponent(text)}`;
  return { title: text, request: { method: 'POST', url: '/notes/42', headers, body } };
}

const learning = (method: string): string => `waf.learning.v1.LearningService/${method}`;

type Field = 'id' | 'method' | 'path' | 'name' | 'family';

interface Exported {
  readonly values: readonly Readonly<Record<Field, string>>[];
}

async function exported(): Promise<Exported['values']> {
  const { learningJson } = await waf.ask(learning('ExportLearning'), { siteId });
  const text = Buffer.from(learningJson as string, 'base64').toString();
  return (JSON.parse(text) as Exported).values;
}

test('weak signs are counted; accepted ones pass, what proves an attack does not', async () => {
  const weak = note('see ../../.htaccess for it');
  const proved = note('../../../.htaccess');
  expect([await blocked(weak), await blocked(proved)]).toEqual([true, true]);
  // A thread that ends reports what it counted.
  await waf.restart();
  await expect.poll(exported).toHaveLength(1);
  const [{ id, ...value }] = (await exported()) as [Exported['values'][number]];
  expect(value).toMatchObject({ method: 'POST', path: '/notes/{value}', name: 'ARGS:note' });
  expect(value.family).toBe('path');
  await waf.serve(() => waf.ask(learning('AcceptProposal'), { siteId, id }));
  expect([await blocked(weak), await blocked(proved)]).toEqual([false, true]);
  await waf.serve(() => waf.ask(learning('DismissProposal'), { siteId, id }));
  expect(await blocked(weak)).toBe(true);
});
