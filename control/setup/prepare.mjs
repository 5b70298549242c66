/** The order of set-up: system packages, npm packages; then native parts beside TypeScript. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareNode } from './node-version.mjs';
import { ensureBundles } from './bundle.mjs';
import { ensureCompiled } from './compile.mjs';
import { ensureConsole } from './console.mjs';
import { ensureNativeAddon } from './native-addon.mjs';
import { buildNpmPackages, ensureNpmPackages } from './npm-packages.mjs';
import { cacheFolder } from './paths.mjs';
import { say, SetupError } from './process.mjs';
import { ensureSystemPackages } from './system-packages.mjs';

/**
 * Brings everything up to date; does nothing, in milliseconds, when it is. `tests` installs the
 * packages of tests, too; `build` false stops after the npm packages, which is all that the static
 * gates need. Errors: SetupError.
 */
export async function prepare({ build = true, tests = false } = {}) {
  compareNode();
  const release = await takeLock();
  try {
    if (build) await ensureSystemPackages();
    await ensureNpmPackages({ tests });
    // Compilers of C++ use every core, that of TypeScript one: each has gaps that the other fills.
    await Promise.all([buildNative({ build }), build ? buildProgram() : null]);
  } finally {
    release();
  }
}

async function buildNative({ build }) {
  await buildNpmPackages();
  if (build) await ensureNativeAddon();
}

async function buildProgram() {
  await ensureCompiled();
  await ensureBundles();
  await ensureConsole();
}

/** Compiles TypeScript and the addon, where that is all a caller needs. Errors: SetupError. */
export async function compileProduct() {
  const release = await takeLock();
  try {
    await ensureCompiled();
    await ensureBundles();
    await ensureNativeAddon();
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
