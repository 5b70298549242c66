/** The order of set-up: system packages, npm packages, native addon, TypeScript. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareNode } from './node-version.mjs';
import { ensureBundles } from './bundle.mjs';
import { ensureCompiled } from './compile.mjs';
import { ensureConsole } from './console.mjs';
import { ensureNativeAddon } from './native-addon.mjs';
import { ensureNpmPackages } from './npm-packages.mjs';
import { cacheFolder } from './paths.mjs';
import { say, SetupError } from './process.mjs';
import { ensureSystemPackages } from './system-packages.mjs';

/**
 * Brings everything up to date; does nothing, in milliseconds, when it is. `build` false stops
 * after the npm packages, which is all that the static gates need. Errors: SetupError.
 */
export async function prepare({ build = true } = {}) {
  compareNode();
  const release = await takeLock();
  try {
    if (build) await ensureSystemPackages();
    await ensureNpmPackages();
    if (build) await ensureNativeAddon();
    if (build) await ensureCompiled();
    if (build) await ensureBundles();
    if (build) await ensureConsole();
  } finally {
    release();
  }
}

/** Compiles TypeScript, where that is all a caller needs. Errors: SetupError. */
export async function compileProduct() {
  const release = await takeLock();
  try {
    await ensureCompiled();
    await ensureBundles();
  } finally {
    release();
  }
}

const lockWaitMs = 20 * 60_000;

/** One set-up at a time: `npm start` beside `npm test` must not install twice. */
async function takeLock() {
  mkdirSync(cacheFolder, { recursive: true });
  const path = join(cacheFolder, 'setup.lock');
  const deadline = Date.now() + lockWaitMs;
  for (let told = false; ;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!holderLives(path)) {
      rmSync(path, { force: true });
      continue;
    }
    if (Date.now() > deadline)
      throw new SetupError(`Another set-up holds ${path}; remove it if none runs.`);
    if (!told) say('waiting for another set-up to finish');
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

function holderLives(path) {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    if (!Number.isInteger(pid) || pid <= 0) return false;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
