/**
 * Proof that the bot gate and challenges of rate limits that operators set are enforced by the
 * running product: control, a node, real connections.
 */

import http from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPageText, solve } from '../support/challenge-solver.ts';
import { describeCase, type DescribedCase } from './described-case.ts';
import { startLiveWaf, type LiveWaf } from './live-waf.ts';

let waf: LiveWaf;
let siteId = '';
const html = 'Accept: text/html';

beforeAll(async () => {
  waf = await startLiveWaf();
  await waf.serve(async () => {
    const upstreams = [{ inline: { url: waf.originUrl } }];
    const botProtection = {
      mode: 'BOT_PROTECTION_MODE_BROWSER_CHECK',
      proofDifficulty: 12,
      exemptPaths: ['/health'],
      exemptMethods: ['OPTIONS'],
    };
    const named = { name: 'a', primaryHost: 'a.test', upstreams, waf: { enabled: false } };
    const made = await waf.ask('SiteService/CreateSite', { site: { ...named, botProtection } });
    siteId = (made['site'] as { id: string }).id;
  });
});
afterAll(() => waf.close());

function request(path: string, fields: readonly string[] = [], method = 'GET'): DescribedCase {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: a.test', 'Connection: close', ...fields];
  const wire = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  const made = describeCase({ title: path, wire_b64: wire.toString('base64') });
  if (typeof made === 'string') throw new Error(made);
  return made;
}

async function statusOf(...asked: Parameters<typeof request>): Promise<number> {
  return (await waf.send(request(...asked))).status;
}

test('programs are refused, exempt paths and methods pass', async () => {
  expect(await statusOf('/')).toBe(403);
  expect(await statusOf('/', [html], 'POST')).toBe(403);
  expect(await statusOf('/health/live')).toBe(0);
  expect(await statusOf('/health/../x')).toBe(403);
  expect(await statusOf('/', [], 'OPTIONS')).toBe(0);
});

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly cookie: string;
  readonly location: string;
}

/** A navigation of a browser. */
function browse(path: string, cookie = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'a.test', accept: 'text/html', ...(cookie === '' ? {} : { cookie }) };
    const options = { host: '127.0.0.1', port: waf.port, path, headers, agent: false };
    const sent = http.get(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => {
        const { location = '', 'set-cookie': set = [] } = response.headers;
        const [given = ''] = (set[0] ?? '').split(';', 1);
        resolve({ status: response.statusCode ?? 0, text, cookie: given, location });
      });
    });
    sent.on('error', reject);
  });
}

/** Solves the challenge of a page; the path that hands it in. */
function solutionOf({ text }: Answer): string {
  const page = readPageText(text);
  return `/.waf-check/pass?token=${page.token}&nonce=${solve(page)}`;
}

test('a clearance and what was used up survive a restart of the engine', async () => {
  const path = solutionOf(await browse('/shop'));
  const solved = await browse(path);
  expect(solved.status).toBe(303);
  const done = await browse(solved.location, solved.cookie);
  expect([done.status, done.location]).toEqual([303, '/shop']);
  expect((await browse('/shop', solved.cookie)).status).toBe(200);
  await waf.restart();
  expect((await browse('/shop', solved.cookie)).status).toBe(200);
  expect((await browse('/shop')).status).toBe(403);
  const replay = await browse(path);
  expect([replay.status, replay.location]).toEqual([403, '']);
});

test('a rate limit challenges browsers past it, and who solves it may ask more', async () => {
  await waf.serve(async () => {
    const { site } = (await waf.ask('SiteService/GetSite', { id: siteId })) as {
      site: { revision: string };
    };
    await waf.ask('SiteService/UpdateSite', {
      site: { id: siteId, botProtection: { mode: 'BOT_PROTECTION_MODE_OFF' } },
      revision: site.revision,
      updateMask: 'botProtection.mode',
    });
    const profile = { challengeProfile: 'custom', proofDifficulty: 12, verifiedRequestCount: 3 };
    const limit = { pathPattern: '/limited', requestCount: 2, windowSeconds: 600, ...profile };
    await waf.ask('RateLimitService/UpsertRateLimitEndpoint', {
      endpoint: { siteId, action: 'challenge', ...limit },
    });
  });
  const statuses = [await browse('/limited'), await browse('/limited')].map((one) => one.status);
  expect(statuses).toEqual([200, 200]);
  const page = await browse('/limited');
  expect(page.status).toBe(403);
  expect((await browse('/open')).status).toBe(200);
  const solved = await browse(solutionOf(page));
  expect(solved.cookie).toMatch(/^waf_clearance_[0-9a-f]{12}=/);
  const met: number[] = [];
  for (let turn = 0; turn < 4; turn++) met.push((await browse('/limited', solved.cookie)).status);
  expect(met).toEqual([200, 200, 200, 429]);
  expect(await statusOf('/limited')).toBe(429);
});
