/** Owns .build: compiles TypeScript and copies assets when a source changed. */

import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
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

const folders = ['engine', 'control', 'native-bindings', 'proto', 'bench'];
const assetFolders = ['control', 'engine'];
const isSource = (name) => name.endsWith('.ts') && !name.endsWith('.test.ts');
const isAsset = (name) => /\.(html|css|svg|png|woff2|mmdb|conf|data)$/.test(name);

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
  if (previous[0] === stamp && existsSync(inRoot('.build'))) return;

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
  writeStamp('compile', `${stamp}\n${names}`);
}

/** Changes when a file comes, goes or is renamed. */
function hashNames(files) {
  const names = files.map((file) => relative(root, file)).join('\n');
  return createHash('sha256').update(names).digest('hex');
}
