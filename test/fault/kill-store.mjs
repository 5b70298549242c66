/**
 * Kills a process that writes, again and again, and looks for every write that was acknowledged:
 *
 *     node test/fault/kill-store.mjs [--kills 200] [--what store|control]
 *
 * `store` kills a loop over the store itself, `control` the control process under API calls. Works
 * on the compiled product. Prints one JSON line; the exit code is 1 when something was lost.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    what: { type: 'string', default: 'store' },
    build: { type: 'string', default: '../../.build' },
  },
});
const build = new URL(`${values.build}/`, import.meta.url).href;
const load = (path) => import(new URL(path, build).href);
const { systemClock } = await load('base/clock.js');
const { collections } = await load('control/store/collection-list.js');
const { publications, upstreams } = await load('control/store/collections.js');
const { openLmdbKv } = await load('control/store/lmdb-kv.js');
const { openStore } = await load('control/store/store.js');
const { verifyStore } = await load('control/store/verify.js');

const folder = mkdtempSync(join(tmpdir(), 'waf-kill-'));
const acknowledged = new Set();
const lost = new Set();
const problems = [];
let kills = 0;
while (kills < Number(values.kills)) {
  const after = 1 + (kills % 40);
  if (values.what === 'control') await killControl(after);
  else await killWriter(after);
  kills++;
  await look();
}
rmSync(folder, { recursive: true });
const report = { what: values.what, kills, acknowledged: acknowledged.size, lost: lost.size };
process.stdout.write(`${JSON.stringify({ ...report, problems })}\n`);
process.exit(lost.size === 0 && problems.length === 0 ? 0 : 1);

/** Opens the store as the next start would, and checks all of it. */
async function look() {
  const kv = openLmdbKv({ folder: join(folder, 'control'), durable: true });
  const store = await openStore(kv, systemClock);
  const collection = values.what === 'control' ? upstreams : publications;
  for (const id of acknowledged) if (store.get(collection, id) === undefined) lost.add(id);
  const found = verifyStore(kv, collections);
  for (const one of found.problems) problems.push({ kill: kills, ...one });
  if (values.what === 'store' && found.auditRows !== store.count(publications)) {
    problems.push({ kill: kills, kind: 'audit', what: 'a write without its audit row' });
  }
  await store.close();
}

/** A loop over the store; killed in the middle of whatever it does then. */
async function killWriter(after) {
  const script = fileURLToPath(new URL('store-writer.mjs', import.meta.url));
  const line = [script, join(folder, 'control'), build];
  const child = spawn(process.execPath, line, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
    // Not right after a response: the kills are spread over everything that it does.
    if (text.split('\n').length > after) setTimeout(() => child.kill('SIGKILL'), kills % 5);
  });
  await once(child, 'close');
  for (const number of text.split('\n').slice(0, -1)) acknowledged.add(number);
}

/** The control process, with several calls on their way when it dies. */
async function killControl(after) {
  const socketPath = join(folder, 'admin.sock');
  const script = fileURLToPath(new URL('control/main.js', build));
  const where = ['--data', folder, '--management', '127.0.0.1:0', '--admin-socket', socketPath];
  const line = [script, ...where, '--no-demo', '--log-level', 'error'];
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'];
  const child = spawn(process.execPath, line, { stdio });
  const closed = once(child, 'close');
  await once(child, 'message');
  let answers = 0;
  const keepWriting = async () => {
    while (child.exitCode === null && child.signalCode === null) {
      const id = await createUpstream(socketPath).catch(() => null);
      if (id === null) return;
      acknowledged.add(id);
      if (++answers === after) setTimeout(() => child.kill('SIGKILL'), kills % 5);
    }
  };
  await Promise.all([keepWriting(), keepWriting(), keepWriting()]);
  child.kill('SIGKILL');
  await closed;
}

function createUpstream(socketPath) {
  const name = `u-${process.hrtime.bigint()}`;
  const upstream = { name, endpoints: [{ url: 'http://127.0.0.1:1' }] };
  return new Promise((resolve, reject) => {
    const path = '/waf.v1.UpstreamService/CreateUpstream';
    const headers = { 'content-type': 'application/json' };
    const call = request({ socketPath, method: 'POST', path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text).upstream.id);
        else {
          problems.push({ kind: 'call', what: `${response.statusCode} ${text}` });
          resolve(null);
        }
      });
    });
    call.on('error', reject);
    call.end(JSON.stringify({ upstream }));
  });
}
