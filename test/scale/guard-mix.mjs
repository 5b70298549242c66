/**
 * Requests that guards answer: one site with a rule of each guard, and the requests that meet it.
 * What a guard counts is compared with how often its requests were answered as it answers.
 */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel, Worker } from 'node:worker_threads';

const host = 'guards.test';
const from = (address) => ({ 'x-forwarded-for': address });
const denied = '203.0.113.7';
const other = '198.51.100.7';
/** Of a network that the country data has in the United States. */
const abroad = '8.8.8.8';
const requestsPerWindow = 5;

/** Name of the guard and its verdict, the request, and the status of its answer. */
const rows = [
  { counted: 'ip:deny', path: '/', headers: from(denied), status: 403 },
  { counted: 'country:deny', path: '/', headers: from(abroad), status: 403 },
  { counted: 'rate_limit:deny', path: '/limited', headers: from(other), status: 429 },
  { counted: 'bot:deny', path: '/', headers: from(other), status: 403, site: 'bots.test' },
  {
    counted: 'bot:challenge',
    path: '/',
    headers: { ...from(other), accept: 'text/html' },
    status: 403,
    site: 'bots.test',
  },
  // Sites have the policy Light unless told otherwise.
  { counted: 'virtual_patch:deny', path: '/?fault=fixed', headers: from(other), status: 403 },
];

const patch = `id: CVE-2000-1
title: a fault that is fixed here
severity: critical
action: block
conditions:
  - in: [arguments]
    name: fault
    is: fixed
requests:
  - { url: '/?fault=fixed', expect: match }
  - { url: '/?fault=none', expect: pass }
`;

/** The sites, and what was answered. */
export class GuardMix {
  constructor(product) {
    this.product = product;
    /** How often each verdict was met. */
    this.met = Object.fromEntries(rows.map(({ counted }) => [counted, 0]));
    /** The first answer that no guard explains. */
    this.wrong = null;
    this.origin = createServer((_, response) => response.end('ok'));
    const folder = pathToFileURL(join(product.build, 'control', 'cli', sep)).href;
    // A process for each command line would cost a second of CPU.
    this.commands = new Worker(new URL('../support/command-thread.mjs', import.meta.url), {
      workerData: { folder },
    });
  }

  /** Creates the sites and their rules; resolves when they serve. */
  async start() {
    await new Promise((resolve) => this.origin.listen(0, '127.0.0.1', resolve));
    const upstream = `http://127.0.0.1:${this.origin.address().port}`;
    const { data } = this.product;
    for (const [name, site] of [
      ['guards', host],
      ['bots', 'bots.test'],
    ]) {
      await this.waf('site', 'create', '--name', name, '--host', site, '--upstream', upstream);
    }
    const proxies = await this.waf('ip-list', 'create', '--name', 'here', '--entry', '127.0.0.0/8');
    await this.waf('trust', 'set', '--proxy', `Test=${proxies.id}`);
    await this.waf('ip-list', 'create', '--name', 'bad', '--entry', `${denied}/32`);
    await this.waf('ip-list', 'bind', 'bad', '--kind', 'deny', '--site', 'guards');
    const country = ['--kind', 'deny', '--country', 'US', '--site', 'guards'];
    await this.waf('country', 'set', '--name', 'abroad', ...country);
    const rate = ['--requests', String(requestsPerWindow), '--window', '86400'];
    await this.waf('rate-limit', 'set', '--site', 'guards', '--path', '/limited', ...rate);
    await this.waf('bot', 'set', 'bots', '--mode', 'browser');
    const file = join(data, 'patch.yaml');
    writeFileSync(file, patch);
    await this.waf('patch', 'apply', 'light', file);
    await this.product.caughtUp();
  }

  /** One of the requests; notes the verdict that was met, and returns the status of the answer. */
  async sendOne(at) {
    const row = rows[at % rows.length];
    const { path, headers, site = host, counted, status: wanted } = row;
    const { status } = await this.product.through(site, path, { headers });
    if (status === wanted) this.met[counted]++;
    else if (counted !== 'rate_limit:deny' || status !== 200) {
      this.wrong ??= `${counted}: an answer has status ${status}, not ${wanted}`;
    }
    return status;
  }

  /** Verdicts that were met, and those of them that count as blocked. */
  totals() {
    const all = Object.values(this.met).reduce((sum, count) => sum + count, 0);
    return { all, blocked: all - this.met['bot:challenge'] };
  }

  close() {
    this.origin.close();
    this.origin.closeAllConnections();
    void this.commands.terminate();
  }

  /** Runs a `waf` command line; resolves with the JSON that it prints. */
  async waf(...words) {
    const argv = [...words, '--admin-socket', this.product.socketPath, '--output', 'json'];
    const { port1, port2 } = new MessageChannel();
    const bell = new Int32Array(new SharedArrayBuffer(4));
    this.commands.postMessage({ argv, env: { ...process.env }, port: port2, bell }, [port2]);
    const [{ code, stdout, stderr }] = await once(port1, 'message');
    port1.close();
    if (code !== 0) throw new Error(`waf ${words.join(' ')}: ${stderr}`);
    return stdout === '' ? {} : JSON.parse(stdout);
  }
}
