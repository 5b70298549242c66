/**
 * `npm run package:compare`: builds the Debian package and the OCI image of the last commit twice
 * and compares all bytes. The builds differ in folder, time, umask, home, time zone and locale.
 * Takes some minutes; `-- --link` links the npm packages of this checkout and installs none.
 */

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { inRoot, root } from './paths.mjs';
import { main, run, say, SetupError, tail } from './process.mjs';

const surroundings = [
  { folder: 'a', umask: '022', env: { TZ: 'UTC', LC_ALL: 'C' } },
  {
    folder: join('another', 'folder'),
    umask: '077',
    env: { TZ: 'Asia/Kathmandu', LC_ALL: 'C.UTF-8' },
  },
];
/** The package, the image, its bill of materials and its provenance. */
const filesOfBuild = 4;

await main(async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'waf-packages-'));
  try {
    const outputs = [];
    for (const one of surroundings) outputs.push(await buildIn(scratch, one));
    const names = readdirSync(outputs[0]);
    if (names.length !== filesOfBuild) throw new SetupError(`unexpected: ${names.join(', ')}`);
    const different = await differences(outputs);
    if (different.length === 0) return;
    for (const output of outputs) await unpack(output);
    const parts = (await differences(outputs)).filter((name) => name.includes('/'));
    throw new SetupError(['These files differ:', ...different, ...parts].join('\n'));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

/** Builds the commit in a fresh clone below `scratch`; resolves to the folder of what was built. */
async function buildIn(scratch, { folder, umask, env }) {
  const clone = join(scratch, folder);
  const home = join(clone, '.cache', 'home');
  const out = join(scratch, `${folder.replaceAll('/', '-')}-built`);
  say(`building in ${clone}`);
  await step('git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
  mkdirSync(home, { recursive: true });
  if (process.argv.includes('--link')) {
    await step('cp', ['-al', inRoot('node_modules'), join(clone, 'node_modules')]);
  }
  for (const kind of [[], ['--image']]) {
    const command = ['npm', 'run', '--silent', 'package', '--', ...kind, '--out', out].join(' ');
    await step('sh', ['-c', `umask ${umask} && ${command}`], {
      cwd: clone,
      env: { ...env, HOME: home },
      task: command,
    });
  }
  return out;
}

async function step(command, args, how = {}) {
  const { code, output } = await run(command, args, how);
  if (code !== 0) throw new SetupError(`${command} failed:\n${tail(output)}`);
}

/** Names of files that only one folder has, or that have other contents in the other. */
async function differences(folders) {
  const [left, right] = folders.map(sumsBelow);
  const names = [...new Set([...left.keys(), ...right.keys()])];
  return names.filter((name) => left.get(name) !== right.get(name));
}

function sumsBelow(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  const sums = files.map((one) => {
    const path = join(one.parentPath, one.name);
    const sum = createHash('sha256').update(readFileSync(path)).digest('hex');
    return [relative(folder, path), sum];
  });
  return new Map(sums);
}

/** Puts the contents of package and image beside them, to say which of their files differ. */
async function unpack(folder) {
  for (const name of readdirSync(folder)) {
    const [path, target] = [join(folder, name), join(folder, `${name}.d`)];
    if (name.endsWith('.deb')) await step('dpkg-deb', ['--raw-extract', path, target]);
    if (!name.endsWith('.tar')) continue;
    mkdirSync(target);
    await step('tar', ['-xf', path, '-C', target]);
  }
}
