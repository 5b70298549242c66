/**
 * The proof that a machine with neither Node nor npm nor a compiler becomes a node: a minimal
 * Debian 12 root, made by debootstrap, runs the printed script in a chroot, so the artifact comes
 * from the running controller; no /proc is mounted: a node serves without the kernel's figures;
 * then the node must pass one request and block one. Needs root, debootstrap and a Debian mirror,
 * and some minutes; no part of `npm test`. Prints figures; exits with 1 when something did not
 * hold.
 *
 *   node test/scale/bare-debian.mjs [--base FOLDER]     FOLDER: a root that is made or used again
 */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ask, freePort, print, Product, until } from './product.mjs';

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
  },
});
const { build } = values;
const scratch = mkdtempSync(join(tmpdir(), 'waf-bare-'));
const base = values.base ?? join(scratch, 'base');
const root = join(scratch, 'root');
const data = join(scratch, 'control');
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const bare = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
};

/** One command; what it prints goes nowhere, its failure is thrown with it. */
const run = (command, ...words) =>
  execFileSync(command, words, { encoding: 'utf8', stdio: 'pipe' });
/** One command inside the bare root, with nothing of our environment. */
const inside = (...words) =>
  execFileSync('chroot', [root, ...words], { encoding: 'utf8', env: bare, stdio: 'pipe' });

function makeBase() {
  const variant = ['--variant=minbase', '--include=curl'];
  run('debootstrap', ...variant, 'bookworm', base);
}

/** Fails unless the root is what it claims to be. */
function requireBare() {
  for (const name of ['node', 'npm', 'cc', 'g++', 'python3']) {
    const found = inside('sh', '-c', `command -v ${name} || true`).trim();
    if (found !== '') throw new Error(`the root is not bare: it has ${found}`);
  }
}

const management = await freePort();
const flags = ['--no-demo', '--management', `127.0.0.1:${management}`];
const product = new Product({ build, data, workers: '1', quiet: true, flags });
const origin = createServer((_request, response) => response.end('from the origin'));
const proxy = await freePort();
const through = async (path) =>
  (await ask({ host: '127.0.0.1', port: proxy, path, headers: { host: 'shop.test' } })).status;
let node = null;
let said = '';
try {
  let started = performance.now();
  if (!existsSync(join(base, 'usr', 'bin', 'curl'))) makeBase();
  print('bare root', seconds(performance.now() - started));
  run('cp', '-a', base, root);
  requireBare();
  const { PRETTY_NAME } = Object.fromEntries(
    inside('cat', '/etc/os-release')
      .split('\n')
      .map((line) => line.split('=', 2)),
  );
  print('its system', `${PRETTY_NAME ?? 'unknown'}`);

  await product.start();
  await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const site = {
    name: 'shop',
    hosts: ['shop.test'],
    upstream: { url: `http://127.0.0.1:${origin.address().port}` },
  };
  const cli = [join(build, 'control', 'cli', 'main.js')];
  const socket = ['--admin-socket', join(data, 'admin.sock')];
  const made = ['site', 'create', '--name', site.name, '--host', site.hosts[0]];
  run(process.execPath, ...cli, ...made, '--upstream', site.upstream.url, ...socket);
  const controller = `https://127.0.0.1:${management}`;
  const install = ['agent', 'install', '--controller', controller, '--nodes', '1'];
  const asked = [...install, '--print', 'foreground-script', ...socket];
  const script = run(process.execPath, ...cli, ...asked);

  // All of the printed script; its last line serves on ports of this run.
  const ports = ` --https off --workers 1 --proxy 127.0.0.1:${proxy}`;
  const placed = script.replace(/^(exec .* agent run .*)$/m, `$1${ports}`);
  if (placed === script) throw new Error('the printed script does not end as expected');
  writeFileSync(join(root, 'root', 'install.sh'), placed, { mode: 0o700 });
  started = performance.now();
  node = spawn('chroot', [root, 'sh', '-c', 'cd /root && exec sh ./install.sh'], { env: bare });
  for (const stream of [node.stdout, node.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  }
  let ended = false;
  node.once('exit', () => (ended = true));
  const orEnded = (check) => async () => ended || (await check());
  await until(
    orEnded(() => Promise.resolve(said.includes('Enrolled as'))),
    50,
  );
  print('downloaded, unpacked, enrolled', seconds(performance.now() - started));
  await until(
    orEnded(async () => (await through('/')) === 200),
    100,
  );
  if (ended) throw new Error('the node ended');
  print('serves: a request passes', `200 after ${seconds(performance.now() - started)}`);
  const blocked = await through("/?id=1%27%20OR%20%271%27='1");
  print('serves: an attack is blocked', String(blocked));
  if (blocked !== 403) throw new Error('the attack was not blocked');

  // The same package as a service's files, in a folder that stands for the machine.
  const [work] = inside('sh', '-c', 'ls -d /tmp/tmp.*').trim().split('\n');
  inside(`${work}/waf/waf`, 'install', '--node', '--root', '/image');
  const version = inside('/image/opt/waf/current/waf', 'version', '--output', 'json');
  print('installed as a service', JSON.parse(version).version);
  if (!statSync(join(root, 'image/etc/systemd/system/waf-node.service')).isFile()) {
    throw new Error('no unit was placed');
  }
  inside(`${work}/waf/waf`, 'release', 'pack', '/root/packed.tar.gz');
  const [here, served] = ['/root/packed.tar.gz', `${work}/waf.tar.gz`].map(
    (path) => inside('sha256sum', path).split(' ', 1)[0],
  );
  print('waf release pack', here === served ? 'the same bytes' : 'other bytes than the download');
  if (here !== served) process.exitCode = 1;
} catch (error) {
  print('failed', `${error.message}\n${error.stderr ?? ''}\n${said}`);
  process.exitCode = 1;
} finally {
  if (node !== null && node.exitCode === null) {
    const gone = new Promise((resolve) => node.once('exit', resolve));
    node.kill('SIGTERM');
    await gone;
  }
  if (product.child !== null) await product.stop();
  product.close();
  origin.close();
  rmSync(scratch, { recursive: true, force: true });
}
process.exit();
