/** Owns .build: compiles TypeScript and copies assets when a source changed. */

import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import {
  cacheFolder,
  hashStats,
  inRoot,
  listFiles,
  readStamp,
  root,
  writeStamp,
} from './paths.mjs';
import { run, say, SetupError, tail } from './process.mjs';

const folders = ['base', 'engine', 'control', 'native-bindings', 'proto', 'bench'];
const assetFolders = ['control', 'engine'];
const isSource = (name) => name.endsWith('.ts') && !name.endsWith('.test.ts');
const isAsset = (name) => /\.(html|css|svg|png|woff2|mmdb|conf|data|weights\.json)$/.test(name);

/** Brings .build up to date. Errors: SetupError with the compiler's messages. */
export async function ensureCompiled() {
  const sources = folders.flatMap((folder) => listFiles(inRoot(folder), isSource));
  const assets = assetFolders.flatMap((folder) => listFiles(inRoot(folder), isAsset));
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].map((name) =>
    inRoot(name),
  );
  const names = hashNames(sources);
  const stamp = hashStats([...sources, ...assets, ...settings]);
  const previous = readStamp('compile').split('\n');
  if (previous[0] === stamp && existsSync(inRoot('.build', 'build.json'))) return;

  // A deleted source must not live on as its compiled copy.
  if (previous[1] !== names) {
    rmSync(inRoot('.build'), { recursive: true, force: true });
    rmSync(`${cacheFolder}/build.tsbuildinfo`, { force: true });
  }
  say(`TypeScript: compiling ${sources.length} files`);
  const tsc = inRoot('node_modules', 'typescript', 'bin', 'tsc');
  const { code, output } = await run(process.execPath, [tsc, '-p', 'tsconfig.build.json']);
  if (code !== 0) throw new SetupError(`TypeScript found errors:\n${tail(output)}`);
  for (const asset of assets) {
    const target = inRoot('.build', relative(root, asset));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(asset, target);
  }
  writeFileSync(inRoot('.build', 'build.json'), JSON.stringify(await buildFacts()));
  writeStamp('compile', `${stamp}\n${names}`);
}

/** What `waf version` says of the build; without git the commit stays unknown. */
async function buildFacts() {
  const git = async (...args) => {
    try {
      const { code, output } = await run('git', args);
      return code === 0 ? output.trim() : '';
    } catch {
      return '';
    }
  };
  const commit = await git('rev-parse', 'HEAD');
  const changed = (await git('status', '--porcelain', '--untracked-files=no')) !== '';
  const known = /^[0-9a-f]{40,64}$/.test(commit);
  return {
    commit: known ? commit + (changed ? '+' : '') : '',
    builtAt: new Date().toISOString(),
  };
}

/** Changes when a file comes, goes or is renamed. */
function hashNames(files) {
  const names = files.map((file) => relative(root, file)).join('\n');
  return createHash('sha256').update(names).digest('hex');
}
