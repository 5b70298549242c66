/** .build: compiles TypeScript and copies assets when a source changed. */

import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { entries } from './bundle.mjs';
import {
  hashContents,
  hashStats,
  inRoot,
  listFiles,
  readStamp,
  root,
  writeStamp,
} from './paths.mjs';
import { run, say, SetupError } from './process.mjs';

const folders = ['base', 'engine', 'control', 'native-bindings', 'proto', 'bench'];
const assetFolders = ['control', 'engine'];
/** They have ways of their own: esbuild, and none. */
const apart = ['control/console/', 'control/setup/'].map((name) => inRoot(name));
/** `ensureBundles` makes them. */
const bundled = new Set(entries.map((name) => inRoot(`${name}.ts`)));
const isSource = (name) => /(?<!\.d|\.test)\.ts$/.test(name);
const assets = /\.(html|css|svg|png|woff2|mmdb|conf|data|(?:weights|profiles)\.json)$/;
const isAsset = (name) => assets.test(name);

/** Inside .build: who removes the one removes the other. */
const compiledFile = inRoot('.build', 'compiled.json');

/**
 * Brings .build up to date, file by file: what has the content it was compiled from stays. Types
 * are the gates' business. Errors: SetupError with the place of what is no TypeScript. Cost: 10 ms
 * a changed file.
 */
export async function ensureCompiled() {
  const list = (names, accept) =>
    names
      .flatMap((folder) => listFiles(inRoot(folder), accept))
      .filter((file) => !apart.some((folder) => file.startsWith(folder)))
      .filter((file) => !bundled.has(file));
  const sources = list(folders, isSource);
  const assets = list(assetFolders, isAsset);
  const settings = ['tsconfig.json', 'package-lock.json'].map((name) => inRoot(name));
  const stamp = hashStats([...sources, ...assets, ...settings]);
  if (readStamp('compile') === stamp && existsSync(inRoot('.build', 'build.json'))) return;

  const salt = hashContents(settings);
  const before = readCompiled(salt);
  const files = {};
  const changed = [];
  for (const file of [...sources, ...assets]) {
    const name = relative(root, file);
    files[name] = hashContents([file]);
    if (files[name] !== before[name] || !existsSync(outputOf(name))) changed.push(name);
  }
  // A deleted source must not live on as its compiled copy.
  for (const name of Object.keys(before)) {
    if (files[name] === undefined) removeOutput(name);
  }
  await writeOutputs(changed);
  writeFileSync(compiledFile, JSON.stringify({ salt, files }));
  await writeBuildFacts();
  writeStamp('compile', stamp);
}

/** Contents that .build was made from: name to hash. Empties .build where nobody knows. */
function readCompiled(salt) {
  try {
    const kept = JSON.parse(readFileSync(compiledFile, 'utf8'));
    if (kept.salt === salt) return kept.files;
  } catch (error) {
    if (error.code !== 'ENOENT') say(`TypeScript: compiling all files again (${error.message})`);
  }
  for (const folder of folders) {
    rmSync(inRoot('.build', folder), { recursive: true, force: true });
  }
  return {};
}

/** Compiles sources and copies assets, by their names. */
async function writeOutputs(names) {
  const sources = names.filter((name) => name.endsWith('.ts'));
  if (sources.length > 0) say(`TypeScript: compiling ${sources.length} files`);
  const compile = sources.length > 0 ? await compiler() : null;
  const wrong = [];
  for (const name of names) {
    // Set-up reads the output of other compilers meanwhile.
    await setImmediate();
    const target = outputOf(name);
    mkdirSync(dirname(target), { recursive: true });
    if (!name.endsWith('.ts')) {
      copyFileSync(inRoot(name), target);
      continue;
    }
    const { code, map, errors } = compile(name);
    wrong.push(...errors);
    writeFileSync(target, code);
    writeFileSync(`${target}.map`, map);
  }
  if (wrong.length === 0) return;
  for (const name of sources) removeOutput(name);
  throw new SetupError(`TypeScript found errors:\n${wrong.slice(0, 20).join('\n')}`);
}

/** What compiles one source by its name, with the options of tsconfig.json. */
async function compiler() {
  const { default: ts } = await import('typescript');
  const { config } = ts.parseConfigFileTextToJson(
    'tsconfig.json',
    readFileSync(inRoot('tsconfig.json'), 'utf8'),
  );
  const given = { ...config.compilerOptions, module: 'ESNext', moduleResolution: 'Bundler' };
  // Each file by itself: what belongs to whole programs does not apply.
  for (const name of ['incremental', 'tsBuildInfoFile', 'outDir', 'rootDir']) delete given[name];
  const { options } = ts.convertCompilerOptionsFromJson(given, root);
  return (name) => {
    const fileName = inRoot(name);
    const made = ts.transpileModule(readFileSync(fileName, 'utf8'), {
      fileName,
      compilerOptions: options,
      reportDiagnostics: true,
    });
    const source = relative(dirname(outputOf(name)), fileName);
    const map = { ...JSON.parse(made.sourceMapText), sources: [source] };
    const errors = made.diagnostics.map((one) => {
      const { line, character } = one.file.getLineAndCharacterOfPosition(one.start);
      const text = ts.flattenDiagnosticMessageText(one.messageText, ' ');
      return `${name}:${line + 1}:${character + 1}: ${text}`;
    });
    return { code: made.outputText, map: JSON.stringify(map), errors };
  };
}

/** Where the compiled file or the copy of an asset lies. */
function outputOf(name) {
  return inRoot('.build', name.replace(/\.ts$/, '.js'));
}

function removeOutput(name) {
  rmSync(outputOf(name), { force: true });
  rmSync(`${outputOf(name)}.map`, { force: true });
}

/** Notes in .build what it was built from; a later commit may change nothing that is compiled. */
export async function writeBuildFacts() {
  writeFileSync(inRoot('.build', 'build.json'), JSON.stringify(await buildFacts()));
}

/**
 * What `waf version` says of the build; without git the commit stays unknown. Its time is that of
 * the commit: builds of one commit are the same. Source: reproducible-builds.org on
 * SOURCE_DATE_EPOCH.
 */
export async function buildFacts() {
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
  const seconds = process.env.SOURCE_DATE_EPOCH || (await git('log', '-1', '--format=%ct'));
  const ms = /^\d{1,12}$/.test(seconds) ? Number(seconds) * 1000 : Date.now();
  return {
    commit: known ? commit + (changed ? '+' : '') : '',
    builtAt: new Date(ms).toISOString(),
  };
}
