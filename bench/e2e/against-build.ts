/**
 * Builds of other commits: unpacks one into a folder of its own, runs that commit's own set-up
 * there and loads what starts its engine. Never touches the checkout's files.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Started } from './child-process.ts';
import type { ProductOptions } from './product.ts';
import type { Surroundings } from './target.ts';

/** A build that can be started: this tree's or another commit's. */
export interface Build {
  /** Short hash of the commit, or what else names the tree. */
  readonly name: string;
  /** Compiled engine/main.js. */
  readonly engineFile: string;
  start(place: Surroundings, options: ProductOptions): Promise<Started>;
  /** Ends what `start` began. */
  stopAll(): Promise<void>;
}

/** Compiled modules of a commit's benchmark. An older `startProduct` ignores newer options. */
interface BuiltModules {
  readonly startProduct: Build['start'];
  readonly stopAll: Build['stopAll'];
}

const archiveBytesMax = 512 * 1024 * 1024;

/**
 * Builds a commit below `folder`, or takes the build that lies there from an earlier run. The
 * commit starts its own engine, since how an engine is started belongs to its version. Errors:
 * throws where the commit is unknown or its set-up fails, with the end of its output. Cost: some
 * minutes the first time, most of them for npm packages.
 */
export async function buildCommit(root: string, commit: string, folder: string): Promise<Build> {
  const hash = resolveCommit(root, commit);
  const place = join(folder, hash.slice(0, 12));
  const done = join(place, '.built');
  if (!existsSync(done)) {
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    unpack(root, hash, place);
    setUp(place);
    writeFileSync(done, `${hash}\n`);
  }
  return loadBuild(place, hash.slice(0, 8));
}

/** The build that lies in a folder's `.build`. Errors: throws where there is none. */
export async function loadBuild(place: string, name: string): Promise<Build> {
  const load = async (file: string): Promise<unknown> =>
    import(pathToFileURL(join(place, '.build', 'bench', 'e2e', file)).href);
  const { startProduct } = (await load('product.js')) as BuiltModules;
  const { stopAll } = (await load('child-process.js')) as BuiltModules;
  const engineFile = join(place, '.build', 'engine', 'main.js');
  return { name, engineFile, start: startProduct, stopAll };
}

function resolveCommit(root: string, commit: string): string {
  const words = ['-C', root, 'rev-parse', '--verify', '--quiet', `${commit}^{commit}`];
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`--against ${commit}: no such commit in this checkout`);
  return stdout.trim();
}

function unpack(root: string, hash: string, place: string): void {
  const archive = execFileSync('git', ['-C', root, 'archive', '--format=tar', hash], {
    maxBuffer: archiveBytesMax,
  });
  execFileSync('tar', ['-x', '-C', place], { input: archive });
}

function setUp(place: string): void {
  const program = `import { main } from './control/setup/process.mjs';
import { prepare } from './control/setup/prepare.mjs';
await main(async () => { await prepare({ tests: true }); return 0; });`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { cwd: place, encoding: 'utf8', maxBuffer: archiveBytesMax },
  );
  if (status === 0) return;
  throw new Error(`the set-up in ${place} failed:\n${`${stdout}${stderr}`.slice(-3000)}`);
}
